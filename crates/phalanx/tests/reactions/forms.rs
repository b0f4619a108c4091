//! Forms in which observers can be written: functions with a condition, functions that take a `DeferredWorld`; and
//! batches with listeners.
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

#[derive(Component, Debug, PartialEq, Clone)]
struct A(u32);
#[derive(Component, Debug, PartialEq)]
struct B(u32);
#[derive(Resource, Default)]
struct Log(Vec<String>);
#[derive(Resource)]
struct Open(bool);

fn logging() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world.insert_resource(Open(false));
    world
}

fn taken(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.resource_mut::<Log>().0)
}

fn open(open: Res<Open>) -> bool {
    open.0
}

fn greet(on: On<Add<A>>, all: Query<&A>, mut log: ResMut<Log>) {
    log.0.push(format!("greet {}", all.get(on.entity).unwrap().0));
}

#[test]
fn a_condition_can_be_given_to_the_function_itself() {
    let mut world = logging();
    world.add_observer(greet.run_if(open));
    world.add_observer((|_: On<Remove<A>>, mut log: ResMut<Log>| log.0.push("gone".to_owned())).run_if(open));
    let e = world.spawn(A(1)).id();
    world.despawn(e);
    assert!(taken(&mut world).is_empty());
    world.resource_mut::<Open>().0 = true;
    let e = world.spawn(A(2)).id();
    world.despawn(e);
    assert_eq!(taken(&mut world), ["greet 2", "gone"]);
}

#[test]
fn conditions_of_a_function_are_all_asked_and_hold_for_one_entity_too() {
    let mut world = logging();
    let asked = |mut log: ResMut<Log>| {
        log.0.push("asked".to_owned());
        true
    };
    let farewell = |_: On<Remove<A>>, mut log: ResMut<Log>| log.0.push("gone".to_owned());
    let e = world.spawn(A(1)).observe(farewell.run_if(open).run_if(asked)).id();
    world.remove::<A>(e).unwrap();
    assert_eq!(taken(&mut world), ["asked"]);
    world.insert(e, A(1)).unwrap();
    world.resource_mut::<Open>().0 = true;
    world.despawn(e);
    assert_eq!(taken(&mut world), ["asked", "gone"]);
}

#[test]
fn systems_keep_their_conditions() {
    let mut app = App::new();
    app.insert_resource(Open(false)).init_resource::<Log>();
    let note = |mut log: ResMut<Log>| log.0.push("ran".to_owned());
    app.add_systems(Update, note.run_if(open));
    app.step(0.1);
    assert!(taken(app.world_mut()).is_empty());
    app.world_mut().resource_mut::<Open>().0 = true;
    app.step(0.1);
    assert_eq!(taken(app.world_mut()), ["ran"]);
}

#[test]
fn an_observer_takes_a_world_whose_structure_stands_still() {
    let mut world = logging();
    world.add_observer(|on: On<Add<A>>, mut world: DeferredWorld, mut calls: Local<u32>| {
        *calls += 1;
        let value = world.get::<A>(on.entity).unwrap().0;
        world.get_mut::<A>(on.entity).unwrap().0 += 10;
        world.commands().entity(on.entity).insert(B(value));
        assert!(world.get::<B>(on.entity).is_none(), "it waits for the end of the change");
        world.resource_mut::<Log>().0.push(format!("call {}", *calls));
    });
    // The next observer finds the value written, and nothing that the first one queued.
    world.add_observer(|on: On<Add<A>>, world: DeferredWorld| {
        assert!(world.get::<B>(on.entity).is_none() && world.get::<A>(on.entity).unwrap().0 >= 10);
    });
    let (one, two) = (world.spawn(A(1)).id(), world.spawn(A(2)).id());
    assert_eq!(taken(&mut world), ["call 1", "call 2"]);
    assert_eq!((world.get::<A>(one), world.get::<B>(one)), (Some(&A(11)), Some(&B(1))));
    assert_eq!((world.get::<A>(two), world.get::<B>(two)), (Some(&A(12)), Some(&B(2))));
    world.check().unwrap();
}

#[test]
fn an_observer_with_the_whole_world_is_refused_with_the_form_to_use() {
    let mut world = World::new();
    let refused = catch_unwind(AssertUnwindSafe(|| {
        world.add_observer(|_: On<Add<A>>, _: &mut World| {});
    }));
    let message = *refused.expect_err("it would change structure").downcast::<String>().unwrap();
    assert!(message.contains("`&mut World`") && message.contains("`DeferredWorld`"), "{message}");
    assert_eq!(world.observer_count(), 0);
}

#[test]
fn an_observer_of_one_entity_that_cannot_be_added_by_a_command_goes_to_the_error_handler() {
    let mut world = logging();
    world.set_error_handler(|world: &mut World, error: phalanx::world::SystemError| {
        world.resource_mut::<Log>().0.push(error.to_string());
    });
    let entity = world.spawn(A(1)).id();
    world.commands().entity(entity).observe(|_: On<Remove<A>>, _: Query<&mut B>, _: Query<&B>| {});
    world.commands().entity(entity).insert(B(2));
    world.flush();
    let log = taken(&mut world);
    assert!(log.len() == 1 && log[0].contains("`Query<&mut B>` and `Query<&B>`"), "{log:?}");
    assert_eq!((world.observer_count(), world.get::<B>(entity)), (0, Some(&B(2))));
}

#[test]
fn a_system_takes_a_world_whose_structure_stands_still() {
    fn grow(mut world: DeferredWorld, state: &mut QueryState<(Entity, &mut A)>, mut runs: Local<u32>) {
        *runs += 1;
        let mut found = Vec::new();
        for (entity, mut a) in &mut world.query(state) {
            a.0 += 1;
            found.push(entity);
        }
        for entity in found {
            world.commands().entity(entity).insert(B(*runs));
        }
    }
    let mut app = App::new();
    app.init_resource::<Log>();
    let seen = |all: Query<(&A, &B)>, mut log: ResMut<Log>| {
        log.0.extend(all.iter().map(|(a, b)| format!("{} {}", a.0, b.0)));
    };
    app.add_systems(Update, (grow, seen).chain());
    app.world_mut().spawn(A(0));
    app.step(0.1);
    app.step(0.1);
    assert_eq!(taken(app.world_mut()), ["1 1", "2 2"]);
    assert_eq!(app.world_mut().run_system_once(|world: DeferredWorld| world.entities().len()).unwrap(), 1);
}

#[derive(Component)]
struct Explosive(u32);
impl Drop for Explosive {
    fn drop(&mut self) {
        if self.0 == 2 && !std::thread::panicking() {
            panic!("boom");
        }
    }
}

#[test]
fn a_batch_is_despawned_whole_though_a_drop_panics_with_and_without_listeners() {
    for listened in [false, true] {
        let mut world = logging();
        if listened {
            world.add_observer(|on: On<Remove<Explosive>>, all: Query<&Explosive>, mut log: ResMut<Log>| {
                log.0.push(all.get(on.entity).unwrap().0.to_string());
            });
        }
        let all: Vec<Entity> = (0..5).map(|n| world.spawn(Explosive(n)).id()).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| world.despawn_batch(all.iter().copied())));
        assert!(outcome.is_err(), "the panic is passed on");
        assert!(world.entities().is_empty(), "all are gone; listened: {listened}");
        let told: &[&str] = if listened { &["0", "1", "2", "3", "4"] } else { &[] };
        assert_eq!(taken(&mut world), told);
        world.check().unwrap();
    }
}
