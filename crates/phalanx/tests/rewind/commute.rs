//! Ambiguities that matter: both orders of each pair are tried, from the same world.

use phalanx::prelude::*;
use phalanx::schedule::{CompareOrdersError, LogLevel, ScheduleBuildSettings};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(i32);

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Shield(i32);

#[derive(Resource, Clone, Debug, Default, PartialEq, Hash)]
struct Log(Vec<u32>);

#[derive(Message, Clone, Debug, PartialEq, Hash)]
struct Hit(i32);

fn heal(mut all: Query<&mut Health>) {
    all.iter_mut().for_each(|mut health| health.0 += 3);
}
fn hurt(mut all: Query<&mut Health>) {
    all.iter_mut().for_each(|mut health| health.0 -= 1);
}
fn halve(mut all: Query<&mut Health>) {
    all.iter_mut().for_each(|mut health| health.0 /= 2);
}
fn other(mut all: Query<&mut Shield>) {
    all.iter_mut().for_each(|mut shield| shield.0 *= 3);
}

fn world() -> World {
    let mut world = World::new();
    world.spawn_batch((0..5).map(|n| (Health(100 + n), Shield(1))));
    world.init_resource::<Log>();
    world
}

fn names(found: &[phalanx::schedule::OrderMatters]) -> Vec<(&str, &str)> {
    found.iter().map(|found| (&*found.pair.first, &*found.pair.second)).collect()
}

#[test]
fn only_pairs_that_do_not_commute_are_told_with_what_differs() {
    let mut world = world();
    let before = world.digest();
    let mut schedule = Schedule::default();
    schedule.add_systems((heal, hurt, halve, other));
    schedule.initialize(&mut world).expect("no cycle");
    assert_eq!(schedule.view(&world).ambiguities().expect("no cycle").len(), 3, "three share `Health`");
    let found = schedule.ambiguities_that_matter(&mut world).expect("all can be copied and hashed");
    assert_eq!(names(&found), [("heal", "halve"), ("hurt", "halve")]);
    let difference = found[0].difference.as_ref().expect("both runs are the same again");
    assert!(difference.part.contains("Health"), "{difference}");
    let told = found[0].to_string();
    assert!(told.contains("`heal` and `halve`") && told.contains("another world"), "{told}");
    // 103 / 2, and 100 / 2 + 3.
    assert!(told.contains("51") && told.contains("53"), "{told}");
    assert_eq!(world.digest(), before, "the world is as it was");
    world.check().expect("whole");
}

#[test]
fn declared_orders_and_excepted_pairs_are_not_tried() {
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.add_systems((heal, hurt.after(heal), halve.after(hurt)));
    assert!(schedule.ambiguities_that_matter(&mut world).expect("compared").is_empty());
    let mut schedule = Schedule::default();
    schedule.add_systems((heal, halve.ambiguous_with(heal)));
    assert!(schedule.ambiguities_that_matter(&mut world).expect("compared").is_empty());
}

// A system that must come before the second of a pair runs before both, and its commands are applied.
#[test]
fn both_orders_come_after_the_same_systems() {
    fn spawn(mut commands: Commands) {
        commands.spawn(Health(7));
    }
    fn count(all: Query<&Health>, mut log: ResMut<Log>) {
        let count = u32::try_from(all.count()).expect("few");
        log.0.push(count);
    }
    fn clear(mut log: ResMut<Log>) {
        log.0.clear();
    }
    fn touch(mut log: ResMut<Log>) {
        let len = log.0.len();
        log.0.truncate(len);
    }
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.add_systems((clear, touch, spawn, count.after(spawn)));
    let found = schedule.ambiguities_that_matter(&mut world).expect("compared");
    // `touch` changes nothing, whenever it runs.
    assert_eq!(names(&found), [("clear", "count")]);
    let told = found[0].to_string();
    assert!(told.contains('6'), "five and the one that was spawned: {told}");
    assert!(world.resource::<Log>().0.is_empty());
    assert_eq!(world.entities().len(), 5);
}

#[test]
fn systems_keep_what_they_kept_and_conditions_hold() {
    fn tell(mut counter: Local<i32>, mut hits: MessageWriter<Hit>) {
        *counter += 1;
        hits.write(Hit(*counter));
    }
    fn tell_more(mut hits: MessageWriter<Hit>) {
        hits.write(Hit(100));
    }
    fn never(mut log: ResMut<Log>) {
        log.0.push(1);
    }
    fn always(mut log: ResMut<Log>) {
        log.0.push(2);
    }
    let mut world = world();
    world.write_message(Hit(0));
    let mut schedule = Schedule::default();
    schedule.add_systems((tell, tell_more, never.run_if(|| false), always));
    let found = schedule.ambiguities_that_matter(&mut world).expect("compared");
    assert_eq!(names(&found), [("tell", "tell_more")]);
    schedule.run(&mut world);
    let hits: Vec<Hit> = world.messages::<Hit>().expect("it is there").iter().cloned().collect();
    assert_eq!(hits, [Hit(0), Hit(1), Hit(100)], "the counter of `tell` was put back");
    assert_eq!(world.resource::<Log>().0, [2]);
}

#[test]
fn what_cannot_be_copied_or_built_is_told() {
    #[derive(Resource)]
    struct Own(#[allow(dead_code)] std::sync::Mutex<u32>);
    fn keeps(mut own: Local<Option<Log>>, mut log: ResMut<Log>) {
        *own = Some(log.clone());
        log.0.push(1);
    }
    let mut world = world();
    let mut schedule = Schedule::default();
    schedule.add_systems(keeps);
    let error = schedule.ambiguities_that_matter(&mut world).expect_err("a `Local` of an unknown type");
    assert!(
        matches!(error, CompareOrdersError::NotCaptured(_)) && error.to_string().contains("Log"),
        "{error}"
    );
    let mut schedule = Schedule::default();
    schedule.add_systems((heal, halve));
    world.insert_resource(Own(std::sync::Mutex::new(1)));
    let error = schedule.ambiguities_that_matter(&mut world).expect_err("a lock");
    assert!(error.to_string().contains("Own"), "{error}");
    let mut world = self::world();
    let mut schedule = Schedule::default();
    schedule.add_systems((heal, halve));
    // Ambiguities that are errors are compared all the same, and are errors when the schedule runs.
    let settings = ScheduleBuildSettings { ambiguity_detection: LogLevel::Error, ..Default::default() };
    schedule.set_build_settings(settings);
    assert_eq!(schedule.ambiguities_that_matter(&mut world).expect("compared").len(), 1);
}

#[test]
fn a_panic_leaves_the_world_as_it_was() {
    fn breaks(mut all: Query<&mut Health>) {
        all.iter_mut().for_each(|mut health| health.0 = -1);
        panic!("told to");
    }
    let mut world = world();
    let before = world.digest();
    let mut schedule = Schedule::default();
    schedule.add_systems((heal, breaks));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        drop(schedule.ambiguities_that_matter(&mut world));
    }));
    assert!(outcome.is_err());
    assert_eq!(world.digest(), before);
    world.check().expect("whole");
}
