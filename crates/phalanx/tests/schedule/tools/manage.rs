//! Systems of a schedule: listed, removed, run by another executor; conditions for each.

use super::*;
use phalanx::schedule::{
    MultiThreadedExecutor, ScheduleCleanupPolicy, ScheduleNotInitialized, SingleThreadedExecutor,
};

fn a(mut log: ResMut<Log>) {
    log.0.push("a");
}
fn b(mut log: ResMut<Log>) {
    log.0.push("b");
}

#[test]
fn systems_are_listed_in_order() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut schedule = Schedule::default();
    schedule.add_systems((b.after(a), a));
    assert!(schedule.is_changed());
    assert_eq!(schedule.systems_len(), 2);
    assert_eq!(schedule.systems().err(), Some(ScheduleNotInitialized));
    schedule.run(&mut world);
    assert!(!schedule.is_changed());
    let systems: Vec<_> = schedule.systems().expect("it ran").collect();
    let names: Vec<&str> = systems.iter().map(|(_, system)| system.name()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(systems.iter().all(|(_, system)| !system.is_exclusive() && !system.has_deferred()));
    assert_eq!(systems[0].1.access().uses().len(), 1);
}

#[test]
fn systems_of_a_set_are_removed_with_it_or_without() {
    let mut app = app();
    app.configure_sets(Update, (Sets::A.run_if(|| false), Sets::B.in_set(Sets::A)));
    app.add_systems(Update, (a.in_set(Sets::B), b, b));
    let policy = ScheduleCleanupPolicy::RemoveSystemsOnly;
    assert_eq!(app.remove_systems_in_set(Update, Sets::A, policy), Ok(1));
    app.add_systems(Update, a.in_set(Sets::A));
    app.step(0.0);
    assert_eq!(log(&mut app), ["b", "b"], "the set still has its condition");
    let policy = ScheduleCleanupPolicy::RemoveSetAndSystems;
    assert_eq!(app.remove_systems_in_set(Update, Sets::A, policy), Ok(1));
    app.add_systems(Update, a.in_set(Sets::A));
    assert_eq!(app.remove_systems_in_set(Update, b, policy), Ok(2));
    app.step(0.0);
    assert_eq!(log(&mut app), ["a"]);
}

#[test]
fn executors_can_be_set() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new()).add_systems((a, b));
    schedule.run(&mut world);
    schedule.set_executor(MultiThreadedExecutor::new());
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0, ["a", "b", "a", "b"]);
}

#[test]
fn a_distributed_condition_is_asked_by_each() {
    let mut app = app();
    fn toggles(mut last: Local<bool>) -> bool {
        *last = !*last;
        *last
    }
    app.add_systems(Update, (a, b).distributive_run_if(toggles));
    app.configure_sets(Update, (Sets::A, Sets::B).distributive_run_if(toggles));
    app.add_systems(Update, (a.in_set(Sets::A), b.in_set(Sets::B)));
    app.step(0.0);
    assert_eq!(log(&mut app), ["a", "b", "a", "b"], "each has a condition of its own");
    app.step(0.0);
    assert_eq!(log(&mut app), [""; 0]);
}

#[test]
fn an_app_passes_on_to_world_and_schedules() {
    let mut app = App::empty();
    let id = app.register_system(|In(number): In<u32>| number + 1);
    assert_eq!(app.world_mut().run_system_with(id, 4).expect("it is registered"), 5);
    app.insert_non_send(std::rc::Rc::new(5)).init_non_send::<std::cell::Cell<u32>>();
    assert!(app.world().contains_non_send::<std::rc::Rc<i32>>());
    assert!(app.world().contains_non_send::<std::cell::Cell<u32>>());
    #[derive(ScheduleLabel, Debug)]
    struct Turn;
    app.init_schedule(Turn).init_resource::<Log>();
    app.get_schedule_mut(Turn).expect("it was made").add_systems(a);
    app.get_schedule_mut(Update).expect("a phase").add_systems(b);
    app.world_mut().run_schedule(Turn);
    app.step(0.0);
    assert_eq!(log(&mut app), ["a", "b"]);
    assert!(app.get_schedule(Update).is_some());
}
