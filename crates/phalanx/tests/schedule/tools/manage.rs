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

#[test]
fn what_the_last_systems_queue_waits_where_a_run_does_not_apply_it() {
    #[derive(Component)]
    struct Made(u32);
    #[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
    struct Turn;
    let count = |world: &mut World| world.query::<&Made>().iter(world).map(|made| made.0).collect::<Vec<_>>();
    let make = |n: u32| move |mut commands: Commands| _ = commands.spawn(Made(n));
    let mut world = World::new();
    let mut schedule = Schedule::new(Turn);
    schedule.set_apply_final_deferred(false);
    schedule.add_systems((make(1), |_: &mut World| {}, make(2)).chain());
    schedule.set_threads(Threads::Serial);
    schedule.run(&mut world);
    assert_eq!(count(&mut world), [1], "a sync point inside of the run applies what came before it");
    let own = world.spawn(Made(9)).id();
    world.check().expect("ids that are reserved are no entities yet");
    schedule.run(&mut world);
    assert_eq!(count(&mut world), [1, 9, 1], "the sync point of the next run comes before the last system");
    schedule.apply_deferred(&mut world);
    assert_eq!(count(&mut world), [1, 9, 1, 2, 2]);
    assert!(world.contains(own));
    schedule.set_apply_final_deferred(true);
    schedule.run(&mut world);
    assert_eq!(count(&mut world).len(), 7);
    world.check().expect("the world is consistent");
}

#[test]
fn a_schedule_that_is_lent_is_told_apart_from_one_that_is_missing() {
    #[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
    struct Turn;
    #[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
    struct Level(u32);
    let labels = |world: &World| {
        let schedules = world.resource::<Schedules>();
        let names =
            |labels: &[phalanx::schedule::Label]| labels.iter().map(ToString::to_string).collect::<Vec<_>>();
        (names(schedules.get_temporarily_removed()), names(schedules.get_empty_labels()))
    };
    let mut world = World::new();
    world.add_schedule(Schedule::new(Turn));
    let inside = world.schedule_scope(Turn, |world, _| {
        assert!(world.try_run_schedule(Turn).is_err());
        labels(world)
    });
    assert_eq!(inside, (vec!["Turn".to_owned()], vec![]), "it runs, so it is not missing");
    assert_eq!(labels(&world), (vec![], vec![]));
    assert!(world.try_run_schedule(Level(1)).is_err() && world.try_run_schedule(Level(1)).is_err());
    assert_eq!(labels(&world).1.len(), 1);
    world.add_schedule(Schedule::new(Level(1)));
    assert_eq!(labels(&world).1.len(), 0, "it came");
    for level in 100..300 {
        assert!(world.try_run_schedule(Level(level)).is_err());
    }
    assert_eq!(labels(&world).1.len(), 64, "the list does not grow for ever");
}

#[test]
fn what_is_allowed_holds_for_schedules_that_come_later() {
    fn a(_: ResMut<Score>) {}
    fn b(_: ResMut<Score>) {}
    #[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
    struct Turn;
    let told = |world: &mut World| {
        world.run_schedule(Turn);
        world.schedule_scope(Turn, |world, schedule| {
            schedule.view(world).ambiguities().expect("no cycle").len()
        })
    };
    let add = |world: &mut World| {
        let mut schedule = Schedule::new(Turn);
        schedule.add_systems((a, b));
        world.add_schedule(schedule);
    };
    let mut world = World::new();
    world.init_resource::<Score>();
    add(&mut world);
    assert_eq!(told(&mut world), 1);
    let mut world = World::new();
    world.init_resource::<Score>();
    world.allow_ambiguous_resource::<Score>();
    add(&mut world);
    assert_eq!(told(&mut world), 0);
    assert!(
        !world.schedule_scope(Turn, |_, schedule| schedule.is_changed()),
        "it is not built anew for each run"
    );
    assert!(!world.schedule_scope(Turn, |_, schedule| schedule.is_changed()));
}
