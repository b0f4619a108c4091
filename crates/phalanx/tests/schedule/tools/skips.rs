//! Why a system did not run, how often, and why it waited.

use super::*;
use phalanx::schedule::SkipReason;

#[derive(Resource)]
struct Missing;

fn yes() -> bool {
    true
}
fn no() -> bool {
    false
}
fn odd(score: Res<Score>) -> bool {
    score.0 % 2 == 1
}
fn draw(mut log: ResMut<Log>) {
    log.0.push("draw");
}
fn needs(_: Res<Missing>) {}
fn needs_one(_: Single<&Position>) {}
fn alone(_: &mut World) {}

fn why<M>(app: &App, system: impl IntoSystemSet<M>) -> Vec<String> {
    app.schedule(Update).why_skipped(system).iter().map(ToString::to_string).collect()
}

#[test]
fn a_condition_is_named() {
    let mut app = app();
    app.add_systems(Update, draw.run_if(yes).run_if(no).run_if(odd));
    app.step(0.0);
    assert_eq!(why(&app, draw), ["`draw` did not run: its condition `no` did not hold"]);
}

#[test]
fn a_system_that_runs_again_has_no_reason() {
    let mut app = app();
    app.add_systems(Update, (draw.run_if(odd), alone.run_if(odd)));
    for frame in 0..4 {
        app.world_mut().resource_mut::<Score>().0 = frame;
        app.step(0.0);
        assert_eq!(why(&app, draw).is_empty(), frame % 2 == 1);
        assert_eq!(why(&app, alone).is_empty(), frame % 2 == 1);
    }
    let skips = app.timings().into_iter().find(|phase| phase.phase == "Update").expect("a phase").systems;
    assert_eq!(skips.iter().map(|system| system.skips.by_condition).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(skips[0].skips.total(), 2);
}

#[test]
fn a_condition_of_a_set_is_named_with_the_set() {
    let mut app = app();
    app.configure_sets(Update, Sets::A.in_set(Sets::B)).configure_sets(Update, Sets::B.run_if(no));
    app.add_systems(Update, draw.in_set(Sets::A));
    app.add_systems(Update, (needs, alone).run_if(odd));
    app.step(0.0);
    assert_eq!(why(&app, Sets::B), ["`draw` did not run: condition `no` of set `B` did not hold"]);
    assert_eq!(
        why(&app, needs),
        ["`needs` did not run: condition `odd`, which it shares with other systems, did not hold"]
    );
    assert_eq!(why(&app, alone).len(), 1);
    let timings = app.schedule(Update).timings();
    assert_eq!(timings.iter().map(|system| system.skips.by_set).collect::<Vec<_>>(), [1, 1, 1]);
    let reasons = timings.iter().map(|system| system.reason.as_ref().map(ToString::to_string));
    let shared = "condition `odd`, which it shares with other systems, did not hold";
    let expected = ["condition `no` of set `B` did not hold", shared, shared];
    assert_eq!(reasons.collect::<Vec<_>>(), expected.map(|reason| Some(reason.to_owned())));
}

#[test]
fn a_parameter_that_is_missing_is_named() {
    let mut app = app();
    app.set_error_handler(phalanx::error::ignore);
    app.add_systems(Update, (needs, needs_one));
    app.step(0.0);
    let reasons = app.schedule(Update).why_skipped(needs);
    assert!(matches!(&reasons[0].reason, SkipReason::Param { param, .. } if param.contains("Missing")));
    assert_eq!(why(&app, needs_one).len(), 1, "a parameter that skips quietly counts, too");
    app.insert_resource(Missing).world_mut().spawn(Position::default());
    app.step(0.0);
    app.step(0.0);
    assert_eq!((why(&app, needs), why(&app, needs_one)), (vec![], vec![]));
    let timings = app.schedule(Update).timings();
    assert_eq!(timings.iter().map(|system| system.skips.by_param).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_system_that_fails_did_run() {
    fn fails() -> Result<(), &'static str> {
        Err("told to fail")
    }
    let mut app = app();
    app.set_error_handler(phalanx::error::ignore);
    app.add_systems(Update, fails);
    app.step(0.0);
    assert_eq!(why(&app, fails), [""; 0]);
}

#[test]
fn threads_change_no_reason() {
    let mut app = app();
    let threads =
        AppConfig { threads: Threads::N(2), small_phase: std::time::Duration::ZERO, ..AppConfig::default() };
    app.configure(threads);
    app.add_systems(Update, (draw.run_if(odd), needs_one, || {}));
    (0..3).for_each(|_| app.step(0.0));
    assert_eq!(why(&app, draw).len(), 1);
    assert_eq!(app.schedule(Update).timings()[1].skips.by_param, 3);
}

#[test]
fn who_holds_what_a_system_waits_for() {
    fn reads(_: Query<&Position>) {}
    fn writes(mut positions: Query<&mut position::x>) {
        positions.iter_mut().for_each(|x| *x = 0.0);
    }
    fn apart(_: Res<Other>) {}
    let mut app = app();
    app.add_systems(Update, (writes, apart, reads, draw.after(apart)));
    app.step(0.0);
    let waits =
        |waited: Vec<phalanx::schedule::Waited>| waited.iter().map(ToString::to_string).collect::<Vec<_>>();
    let view = app.schedule(Update);
    assert_eq!(
        waits(view.why_waited(reads).expect("ordered")),
        ["`reads` waits for `writes`: both use `Position.x`, and it was added later"]
    );
    assert_eq!(
        waits(view.why_waited(draw).expect("ordered")),
        ["`draw` waits for `apart`: it was ordered after it"]
    );
    assert_eq!(waits(view.why_waited(apart).expect("ordered")), [""; 0]);
    assert_eq!(
        waits(view.waits().expect("ordered")),
        [
            "`reads` waits for `writes`: both use `Position.x`, and it was added later",
            "`draw` waits for `apart`: it was ordered after it"
        ]
    );
}

#[test]
fn a_condition_may_fail_and_counts_as_false() {
    #[derive(Resource, Default)]
    struct Heard(Vec<String>);
    fn asks(score: Res<Score>) -> Result<bool, &'static str> {
        if score.0 == 0 { Err("no score yet") } else { Ok(score.0 > 1) }
    }
    fn asks_alone(world: &mut World) -> Result<bool, &'static str> {
        Ok(world.resource::<Score>().0 > 1)
    }
    let mut app = app();
    app.init_resource::<Heard>();
    app.set_error_handler(|world: &mut World, error| world.resource_mut::<Heard>().0.push(error.to_string()));
    app.add_systems(Update, draw.run_if(asks).run_if(asks_alone));
    for score in 0..3 {
        app.world_mut().resource_mut::<Score>().0 = score;
        app.step(0.0);
        assert_eq!(log(&mut app).len(), usize::from(score == 2));
    }
    assert_eq!(app.world().resource::<Heard>().0, ["condition `asks` failed: no score yet"]);
}
