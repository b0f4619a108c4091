//! Commands: one move per entity, the dead are skipped, panics, payloads of every kind, ids from many threads.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct A(u32);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct B(u64);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct C(u8);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct D;

/// Counts how many are alive.
#[derive(Component, Clone)]
struct Counted(#[allow(dead_code, reason = "held to be counted")] Arc<()>);

fn moves(world: &World) -> u64 {
    world.stats().moves
}

// Ten inserts and removes on one entity in one phase cost one move.
#[test]
fn many_changes_of_one_entity_are_one_move() {
    let mut app = App::new();
    let e = app.world_mut().spawn(A(0)).id();
    let change = move |mut commands: Commands| {
        commands.entity(e).insert(B(1)).insert(C(1)).remove::<A>().insert(D).remove::<B>();
    };
    let change_more = move |mut commands: Commands| {
        commands.entity(e).insert((A(5), B(6))).remove::<C>().insert(C(7)).remove::<D>().insert((C(8), D));
    };
    app.add_systems(Update, (change, change_more));
    app.startup();
    let before = moves(app.world());
    app.step(0.1);
    assert_eq!(moves(app.world()) - before, 1);
    let world = app.world();
    assert_eq!(
        (world.get::<A>(e), world.get::<B>(e), world.get::<C>(e), world.get::<D>(e)),
        (Some(&A(5)), Some(&B(6)), Some(&C(8)), Some(&D))
    );
    // The second time nothing has to move.
    app.step(0.1);
    assert_eq!(moves(app.world()) - before, 1);
    assert_eq!(app.world().command_stats().applied, 20);
}

#[test]
fn a_spawned_entity_moves_once_however_it_is_dressed() {
    let mut world = World::new();
    let before = moves(&world);
    let e = world.commands().spawn(A(1)).insert(B(2)).insert((C(3), D)).remove::<A>().id();
    world.flush();
    assert_eq!(moves(&world) - before, 1);
    assert_eq!((world.get::<A>(e), world.get::<B>(e), world.get::<C>(e)), (None, Some(&B(2)), Some(&C(3))));
}

// Hazard 54, O-243.
#[test]
fn commands_on_the_dead_are_skipped_and_counted() {
    let mut world = World::new();
    let count = Arc::new(());
    let (dead, despawned) = (world.spawn(A(1)).id(), world.spawn(A(2)).id());
    world.despawn(dead);
    let mut commands = world.commands();
    commands.entity(dead).insert(Counted(Arc::clone(&count))).remove::<A>();
    commands.entity(dead).despawn();
    commands.entity(despawned).despawn();
    commands.entity(despawned).insert(Counted(Arc::clone(&count)));
    commands.entity(dead).queue(|_: EntityWorldMut| panic!("nobody is there"));
    world.flush();
    assert_eq!((world.command_stats().applied, world.command_stats().skipped), (2, 5));
    assert_eq!(Arc::strong_count(&count), 1);
    assert!(!world.contains(despawned));
}

// Hazard 54: the index lives again, the id does not.
#[test]
fn a_stale_id_whose_index_lives_again_changes_no_entity() {
    let mut world = World::new();
    let old = world.spawn(A(1)).id();
    world.despawn(old);
    let new = world.spawn(A(2)).id();
    assert_eq!(old.index(), new.index());
    world.commands().entity(old).insert(A(9)).insert(B(9));
    world.commands().entity(new).insert(C(3)).insert(D);
    world.flush();
    assert_eq!(
        (world.get::<A>(new), world.get::<B>(new), world.get::<C>(new)),
        (Some(&A(2)), None, Some(&C(3)))
    );
    assert_eq!(world.command_stats().skipped, 2);
}

// Hazard 55.
#[test]
fn pending_commands_are_dropped_once_with_their_world() {
    let count = Arc::new(());
    let mut world = World::new();
    let mut commands = world.commands();
    commands.spawn(Counted(Arc::clone(&count)));
    commands.spawn(A(1)).insert((B(1), Counted(Arc::clone(&count))));
    let held = Arc::clone(&count);
    commands.queue(move |_: &mut World| drop(held));
    assert_eq!(Arc::strong_count(&count), 4);
    drop(world);
    assert_eq!(Arc::strong_count(&count), 1);
    // The same with a system's own queue: its app is dropped before a flush can come.
    let given = Arc::clone(&count);
    let mut app = App::new();
    app.add_systems(Update, move |mut commands: Commands| {
        commands.spawn(Counted(Arc::clone(&given)));
        assert_eq!(Arc::strong_count(&given), 0, "before the flush");
    });
    assert!(catch_unwind(AssertUnwindSafe(|| app.step(0.1))).is_err());
    assert_eq!(Arc::strong_count(&count), 2);
    drop(app);
    assert_eq!(Arc::strong_count(&count), 1);
}

// Hazard 56, 16, 17.
#[test]
fn payloads_of_every_shape_arrive_aligned_and_whole() {
    #[derive(Component, Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Padded(u8, u64, u16);
    #[derive(Component, Clone, Copy, Debug, PartialEq)]
    #[repr(align(64))]
    struct Wide(u8);
    #[derive(Component, Clone, Copy, Debug, PartialEq)]
    #[repr(align(64))]
    struct WideNothing;
    let mut world = World::new();
    let mut ids = Vec::new();
    for n in 0..50u8 {
        let mut commands = world.commands();
        ids.push(
            commands
                .spawn((Padded(n, 2, 3), Wide(n)))
                .insert(WideNothing)
                .insert(String2(format!("{n}")))
                .id(),
        );
    }
    #[derive(Component, Clone, Debug, PartialEq)]
    struct String2(String);
    world.flush();
    for (n, &e) in (0..50u8).zip(&ids) {
        assert_eq!(world.get::<Padded>(e), Some(&Padded(n, 2, 3)));
        let wide = world.get::<Wide>(e).expect("inserted");
        assert_eq!((*wide, std::ptr::from_ref(wide).addr() % 64), (Wide(n), 0));
        let nothing = world.get::<WideNothing>(e).expect("inserted");
        assert_eq!(std::ptr::from_ref(nothing).addr() % 64, 0);
        assert_eq!(world.get::<String2>(e), Some(&String2(format!("{n}"))));
    }
}

// Hazard 57: spawn, insert and despawn of one id within one flush, in every order of the last two.
#[test]
fn spawn_insert_and_despawn_of_one_id_in_one_flush() {
    for order in [FlushOrder::Recorded, FlushOrder::Staged] {
        for despawn_first in [false, true] {
            let count = Arc::new(());
            let mut world = World::new();
            world.set_flush_order(order);
            let mut commands = world.commands();
            let e = commands.spawn(Counted(Arc::clone(&count))).id();
            if despawn_first {
                commands.entity(e).despawn();
            }
            commands.entity(e).insert((A(1), Counted(Arc::clone(&count))));
            if !despawn_first {
                commands.entity(e).despawn();
            }
            world.flush();
            assert!(!world.contains(e), "{order:?}");
            assert_eq!(Arc::strong_count(&count), 1);
            let skipped = u64::from(despawn_first && order == FlushOrder::Recorded);
            assert_eq!(world.command_stats().skipped, skipped);
        }
    }
}

// Hazard 58.
#[test]
fn a_command_that_panics_leaves_the_others_defined() {
    let count = Arc::new(());
    let mut world = World::new();
    let mut commands = world.commands();
    let first = commands.spawn((A(1), Counted(Arc::clone(&count)))).id();
    commands.queue(|_: &mut World| panic!("told to"));
    let second = commands.spawn((A(2), Counted(Arc::clone(&count)))).id();
    commands.entity(first).insert(B(3));
    assert!(catch_unwind(AssertUnwindSafe(|| world.flush())).is_err());
    assert_eq!((world.get::<A>(first), world.get::<A>(second)), (Some(&A(1)), None));
    // What came after waits for the next flush.
    world.commands().entity(second).insert(B(4));
    world.flush();
    assert_eq!((world.get::<B>(first), world.get::<A>(second)), (Some(&B(3)), Some(&A(2))));
    assert_eq!(world.get::<B>(second), Some(&B(4)));
    drop(world);
    assert_eq!(Arc::strong_count(&count), 1);
}

// Hazard 58: the panic comes from a value that is replaced while several changes are merged.
#[test]
fn a_drop_that_panics_in_a_merge_leaks_nothing_twice() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    #[derive(Component)]
    struct Bomb(bool);
    impl Drop for Bomb {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
            assert!(!self.0, "told to panic");
        }
    }
    let mut world = World::new();
    let e = world.spawn(Bomb(true)).id();
    let other = world.spawn(A(0)).id();
    world.commands().entity(e).insert(Bomb(false)).insert(A(1)).insert(Bomb(false));
    world.commands().entity(other).insert(B(1));
    assert!(catch_unwind(AssertUnwindSafe(|| world.flush())).is_err());
    assert_eq!(world.get::<A>(e), Some(&A(1)));
    assert!(!world.get::<Bomb>(e).expect("the new one").0);
    world.flush();
    assert_eq!(world.get::<B>(other), Some(&B(1)));
    world.check().expect("sound");
    drop(world);
    assert_eq!(DROPS.load(Ordering::Relaxed), 3);
}

// Hazard 58: the panic comes from a despawn, with commands on the same and on other entities around it.
#[test]
fn a_drop_that_panics_in_a_despawn_leaves_the_others_defined() {
    #[derive(Component)]
    struct Bomb(#[allow(dead_code, reason = "held to be counted")] Arc<()>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("told to");
        }
    }
    for order in [FlushOrder::Recorded, FlushOrder::Staged] {
        let count = Arc::new(());
        let mut world = World::new();
        world.set_flush_order(order);
        let bomb = world.spawn((Bomb(Arc::clone(&count)), Counted(Arc::clone(&count)))).id();
        let (last, other) = (world.spawn(Counted(Arc::clone(&count))).id(), world.spawn(A(0)).id());
        let mut commands = world.commands();
        commands.entity(bomb).insert((B(1), Counted(Arc::clone(&count))));
        commands.entity(bomb).despawn();
        commands.entity(last).despawn();
        commands.entity(other).insert(B(2));
        let held = Arc::clone(&count);
        commands.queue(move |_: &mut World| drop(held));
        assert!(catch_unwind(AssertUnwindSafe(|| world.flush())).is_err(), "{order:?}");
        assert!(!world.contains(bomb));
        world.flush();
        assert!(!world.contains(last));
        assert_eq!(world.get::<B>(other), Some(&B(2)));
        assert_eq!(Arc::strong_count(&count), 1);
        world.check().expect("sound");
    }
}

#[test]
fn functions_see_what_was_recorded_before_them_and_may_record_more() {
    let mut world = World::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let e = world.commands().spawn(A(1)).id();
    for _ in 0..2 {
        let seen = Arc::clone(&seen);
        world.commands().queue(move |world: &mut World| {
            seen.lock().expect("not poisoned").push(world.get::<A>(e).map(|a| a.0));
            world.commands().entity(e).insert(B(1));
        });
        world.commands().entity(e).insert(A(2));
    }
    world.flush();
    assert_eq!(*seen.lock().expect("not poisoned"), [Some(1), Some(2)]);
    assert_eq!(world.get::<B>(e), Some(&B(1)));
}

#[test]
fn resources_messages_and_batches_come_with_the_flush() {
    #[derive(Resource, Debug, PartialEq)]
    struct Score(u32);
    #[derive(Message)]
    struct Ping;
    let mut world = World::new();
    let mut commands = world.commands();
    commands.insert_resource(Score(3));
    commands.write_message(Ping);
    commands.spawn_batch((0..5).map(A));
    assert!(world.get_resource::<Score>().is_none());
    world.flush();
    assert_eq!(world.get_resource::<Score>(), Some(&Score(3)));
    assert_eq!(world.messages::<Ping>().map(Messages::len), Some(1));
    assert_eq!(world.view::<&A>().count(), 5);
    world.commands().remove_resource::<Score>();
    world.flush();
    assert!(!world.contains_resource::<Score>());
}

// O-229: an id is given at once; hazard 7 through commands.
#[test]
fn ids_are_unique_and_alive_after_the_flush() {
    let mut app = App::new();
    app.configure(AppConfig {
        threads: Threads::N(4),
        small_phase: Default::default(),
        ..Default::default()
    });
    #[derive(Resource, Default)]
    struct Ids(Vec<Entity>);
    app.init_resource::<Ids>();
    for _ in 0..8 {
        app.add_systems(Update, |mut commands: Commands, mut ids: ResMut<Ids>| {
            for n in 0..50 {
                ids.0.push(commands.spawn(A(n)).id());
            }
        });
    }
    app.step(0.1);
    let mut ids = std::mem::take(&mut app.world_mut().resource_mut::<Ids>().0);
    assert!(ids.iter().all(|&id| app.world().contains(id)));
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), app.world().entities().len()), (400, 400));
}

// Hazard 7: ids reserved from the threads of one system.
#[test]
fn threads_of_one_system_reserve_ids_from_the_shared_world() {
    let mut world = World::new();
    let ids = world
        .run_system_once(|world: &World| {
            let ids = Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let own: Vec<Entity> = (0..100).map(|_| world.reserve_entity()).collect();
                        ids.lock().expect("not poisoned").extend(own);
                    });
                }
            });
            ids.into_inner().expect("not poisoned")
        })
        .unwrap();
    assert!(ids.iter().all(|&id| world.contains(id)));
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 400);
}

#[test]
fn all_commands_on_dead_entities_are_reported_though_the_error_handler_panics() {
    #[derive(Component)]
    #[component(track = "row")]
    struct Written(u32);
    let told = Arc::new(AtomicUsize::new(0));
    let mut world = World::new();
    world.set_report_dead(true);
    let count = Arc::clone(&told);
    world.set_error_handler(move |_: &mut World, _: phalanx::world::SystemError| {
        assert!(count.fetch_add(1, Ordering::Relaxed) > 0, "the first one");
    });
    let count = Arc::clone(&told);
    world.add_observer(move |_: On<Mutate<Written>>| {
        count.fetch_add(100, Ordering::Relaxed);
    });
    let written = world.spawn(Written(0)).id();
    world.flush();
    world.get_mut::<Written>(written).unwrap().0 = 1;
    for _ in 0..4 {
        let dead = world.spawn(A(0)).id();
        world.despawn(dead);
        world.commands().entity(dead).insert(A(1));
    }
    catch_unwind(AssertUnwindSafe(|| world.flush())).expect_err("the panic is passed on");
    assert_eq!(told.load(Ordering::Relaxed), 104, "what is told at sync points is told as well");
    world.flush();
    assert_eq!(told.load(Ordering::Relaxed), 104, "each once");
}

// O-230 .. O-235: nothing moves while systems of the phase run.
#[test]
fn structure_stands_still_within_a_phase() {
    let mut app = App::new();
    let e = app.world_mut().spawn(A(1)).id();
    app.world_mut().spawn(A(2));
    app.add_systems(Update, move |mut commands: Commands, all: Query<(Entity, &A)>| {
        for (entity, a) in &all {
            commands.entity(entity).insert(B(u64::from(a.0)));
            commands.spawn(A(a.0 + 10));
        }
        commands.entity(e).despawn();
    });
    app.add_systems(Update, move |all: Query<&A>, with_b: Query<&B>| {
        assert_eq!((all.count(), with_b.count(), all.contains(e)), (2, 0, true));
    });
    app.add_systems(PostUpdate, move |all: Query<&A>, with_b: Query<&B>| {
        assert_eq!((all.count(), with_b.count(), all.contains(e)), (3, 1, false));
    });
    app.step(0.1);
}
