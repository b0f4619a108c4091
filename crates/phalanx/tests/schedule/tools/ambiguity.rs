//! Which pairs are reported as ambiguous, and how they are excepted.

use super::*;
use phalanx::app::UpdateError;
use phalanx::schedule::{BuildError, LogLevel, ScheduleBuildSettings};

fn add(mut score: ResMut<Score>) {
    score.0 += 1;
}
fn double(mut score: ResMut<Score>) {
    score.0 *= 2;
}
fn show(_: Res<Score>) {}
fn left(mut positions: Query<&mut position::x>) {
    positions.iter_mut().for_each(|x| *x -= 1.0);
}
fn fall(mut positions: Query<&mut position::y>) {
    positions.iter_mut().for_each(|y| *y -= 1.0);
}
fn reset(mut positions: Query<&mut Position>) {
    positions.iter_mut().for_each(|position| *position.x = 0.0);
}
fn all(_: &mut World) {}
fn spawn(mut commands: Commands) {
    commands.spawn_empty();
}
fn spawn_too(mut commands: Commands) {
    commands.spawn_empty();
}

/// The pairs, and what both use.
fn pairs(app: &mut App) -> Vec<(String, String, String)> {
    app.step(0.0);
    let told = app.schedule(Update).ambiguities().expect("the order is clear");
    told.into_iter().map(|pair| (pair.first, pair.second, pair.parts.join(" "))).collect()
}

fn pair(first: &str, second: &str, parts: &str) -> (String, String, String) {
    (first.to_owned(), second.to_owned(), parts.to_owned())
}

#[test]
fn each_unordered_pair_is_named_with_its_columns() {
    let mut app = app();
    app.add_systems(Update, (left, fall, reset));
    assert_eq!(pairs(&mut app), [pair("left", "reset", "Position.x"), pair("fall", "reset", "Position.y")]);
}

#[test]
fn systems_that_only_read_or_only_spawn_are_not_ambiguous() {
    let mut app = app();
    app.add_systems(Update, (show, show, spawn, spawn_too));
    assert_eq!(pairs(&mut app), []);
}

#[test]
fn an_exclusive_system_is_ambiguous_with_everything() {
    let mut app = app();
    app.add_systems(Update, (show, all));
    assert_eq!(pairs(&mut app), [pair("show", "all", "everything")]);
}

#[test]
fn an_order_by_way_of_others_counts() {
    let mut app = app();
    app.add_systems(Update, (add, show.after(add), double.after(show)));
    assert_eq!(pairs(&mut app), []);
    let mut app = super::app();
    app.configure_sets(Update, (Sets::A, Sets::B).chain());
    app.add_systems(Update, (add.in_set(Sets::A), double.in_set(Sets::B), show.in_set(Sets::A)));
    assert_eq!(pairs(&mut app), [pair("add", "show", "Score")]);
}

#[test]
fn pairs_are_excepted_by_system_by_set_and_by_what_they_use() {
    let ambiguous = [pair("add", "double", "Score")];
    let mut app = app();
    app.add_systems(Update, (add, double));
    assert_eq!(pairs(&mut app), ambiguous);
    app.ignore_ambiguity(Update, add, double);
    assert_eq!(pairs(&mut app), []);
    for excepted in
        [(add, double.ambiguous_with(add)).into_configs(), (add.ambiguous_with_all(), double).into_configs()]
    {
        let mut app = super::app();
        app.add_systems(Update, excepted);
        assert_eq!(pairs(&mut app), []);
    }
    let mut app = super::app();
    app.add_systems(Update, (add.in_set(Sets::A), double.in_set(Sets::B)));
    app.configure_sets(Update, Sets::A.ambiguous_with(Sets::B));
    assert_eq!(pairs(&mut app), []);
    let mut app = super::app();
    app.add_systems(Update, (add.in_set(Sets::A), double));
    app.configure_sets(Update, Sets::A.ambiguous_with_all());
    assert_eq!(pairs(&mut app), []);
    let mut app = super::app();
    app.add_systems(Update, (add, double, left, reset));
    app.allow_ambiguous_resource::<Score>();
    assert_eq!(pairs(&mut app), [pair("left", "reset", "Position.x")]);
}

#[test]
fn the_report_can_be_an_error_that_names_all_pairs() {
    let mut app = app();
    app.add_systems(Update, (add, double, show));
    app.configure(AppConfig { ambiguities: LogLevel::Error, ..AppConfig::default() });
    let Err(UpdateError::Build { phase, error: BuildError::Ambiguous(pairs) }) = app.try_step(0.0) else {
        panic!("three pairs are ambiguous")
    };
    assert_eq!((phase.as_str(), pairs.len()), ("Update", 3));
    assert_eq!(
        pairs[0].to_string(),
        "`add` and `double` both use `Score` and are in no declared order: order them with `before`, `after` or \
         `chain`, or except them with `ambiguous_with`"
    );
    assert_eq!(app.world().resource::<Score>().0, 0, "nothing ran");
    app.configure_schedules(ScheduleBuildSettings::default());
    app.step(0.0);
    assert_eq!(app.world().resource::<Score>().0, 2, "in the order in which they were added");
}

#[test]
fn settings_are_those_that_were_set() {
    let mut schedule = Schedule::default();
    assert_eq!(schedule.get_build_settings(), ScheduleBuildSettings::default());
    let settings =
        ScheduleBuildSettings { ambiguity_detection: LogLevel::Warn, auto_insert_apply_deferred: false };
    schedule.set_build_settings(settings);
    assert_eq!(schedule.get_build_settings(), settings);
    // What is said of one phase stays when another one comes.
    #[derive(ScheduleLabel, Debug)]
    struct Render;
    let mut app = app();
    app.edit_schedule(Update, |schedule| _ = schedule.set_build_settings(settings));
    app.add_phase_after(Update, Render);
    assert_eq!(app.get_schedule(Update).map(Schedule::get_build_settings), Some(settings));
}
