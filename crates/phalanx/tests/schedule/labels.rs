//! Schedules that are built without a world, and those that a world keeps by label.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::schedule::BuildError;

#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Turn;
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Other;
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Late;
#[derive(Resource, Default)]
struct Log(Vec<&'static str>);

fn a(mut log: ResMut<Log>) {
    log.0.push("a");
}
fn b(mut log: ResMut<Log>) {
    log.0.push("b");
}

fn world() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

#[test]
fn what_was_added_without_a_world_runs_in_the_order_it_was_added() {
    let mut world = world();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems(b.in_set(Late)).add_systems(a).configure_sets(Late.after(a));
    assert!(!schedule.is_empty());
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0, ["a", "b"]);
    assert_eq!((schedule.len(), schedule.label().to_string().as_str()), (2, "Turn"));
}

#[test]
fn conflicting_parameters_are_found_when_the_schedule_is_initialized() {
    fn twice(_: ResMut<Log>, _: Res<Log>) {}
    let mut schedule = Schedule::default();
    schedule.add_systems(twice);
    let error = schedule.initialize(&mut world()).expect_err("they conflict");
    assert!(matches!(error, BuildError::Params(_)));
    assert!(error.to_string().contains("twice"), "{error}");
}

#[test]
fn a_system_whose_parameters_conflict_takes_no_other_with_it() {
    fn twice(_: ResMut<Log>, _: Res<Log>) {}
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.add_systems(a).add_systems(twice).add_systems(b).configure_sets(Late.after(a));
    schedule.initialize(&mut world).expect_err("they conflict");
    assert_eq!(schedule.systems_len(), 2);
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0, ["a", "b"]);
}

#[test]
fn a_world_runs_schedules_by_label_and_inside_each_other() {
    let mut world = world();
    world.add_schedule(Schedule::new(Other));
    world.schedule_scope(Other, |_, schedule| {
        schedule.add_systems(b);
    });
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems((a, |world: &mut World| world.run_schedule(Other), a).chain());
    world.add_schedule(schedule);
    world.run_schedule(Turn);
    world.run_schedule(Turn);
    assert_eq!(world.resource::<Log>().0, ["a", "b", "a", "a", "b", "a"]);
}

#[test]
fn a_schedule_cannot_run_inside_itself_and_the_error_names_it() {
    let mut world = world();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems(|world: &mut World| {
        let error = world.try_run_schedule(Turn).expect_err("it runs");
        assert!(error.to_string().contains("there is no schedule `Turn`"), "{error}");
        world.resource_mut::<Log>().0.push("refused");
    });
    world.add_schedule(schedule);
    world.run_schedule(Turn);
    assert_eq!(world.resource::<Log>().0, ["refused"]);
}

#[test]
fn a_schedule_that_panics_is_still_there() {
    let mut world = world();
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems(|mut runs: Local<u32>| {
        *runs += 1;
        assert!(*runs > 1, "once");
    });
    world.add_schedule(schedule);
    assert!(catch_unwind(AssertUnwindSafe(|| world.run_schedule(Turn))).is_err());
    world.run_schedule(Turn);
}

#[test]
fn an_app_makes_schedules_for_labels_that_are_no_phases() {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.add_systems(Turn, a).configure_sets(Turn, Late.after(a)).add_systems(Turn, b.in_set(Late));
    let removed = app.add_system(Turn, b);
    app.remove_system(removed).expect("it is there");
    app.add_systems(Update, |world: &mut World| world.run_schedule(Turn));
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["a", "b"]);
    // From now on it is a phase.
    app.add_phase_after(Update, Turn);
    let phases: Vec<_> = app.phases().map(ToString::to_string).collect();
    assert_eq!(phases[phases.len() - 3..], ["Turn", "PostUpdate", "Last"]);
    assert_eq!(app.schedule(Turn).len(), 2);
}

#[test]
fn commands_run_schedules() {
    let mut world = world();
    world.add_schedule(Schedule::new(Turn));
    world.resource_mut::<Schedules>().add_systems(Turn, a);
    world.commands().run_schedule(Turn);
    world.flush();
    assert_eq!(world.resource::<Log>().0, ["a"]);
}
