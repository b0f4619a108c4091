//! `RemovedComponents`: each removal is yielded to every reader once, however seldom it runs.

use phalanx::prelude::*;

#[derive(Component, Debug, PartialEq)]
struct A(u32);
#[derive(Component, Debug, PartialEq)]
#[component(storage = "sparse")]
struct S;
#[derive(Resource, Default)]
struct Read(Vec<Entity>);

// Hazard 64.
#[test]
fn a_fixed_step_that_runs_every_tenth_frame_misses_no_removal_and_reads_none_twice() {
    let mut app = App::new();
    app.configure(AppConfig { fixed_timestep: 1.0, ..AppConfig::default() });
    app.init_resource::<Read>();
    app.add_systems(FixedUpdate, |mut removed: RemovedComponents<A>, mut read: ResMut<Read>| {
        assert_eq!(removed.missed(), 0);
        read.0.extend(removed.read());
        assert!(removed.is_empty());
    });
    let mut gone = Vec::new();
    for frame in 0..95 {
        let e = app.world_mut().spawn((A(frame), S)).id();
        app.step(0.1);
        match frame % 3 {
            0 => drop(app.world_mut().despawn(e)),
            1 => app.world_mut().remove::<A>(e).unwrap(),
            _ => {
                app.world_mut().commands().entity(e).remove::<A>().remove::<S>();
                app.world_mut().flush();
            }
        }
        gone.push(e);
    }
    app.step(1.0);
    app.step(1.0);
    assert_eq!(app.world().resource::<Read>().0, gone);
}

#[test]
fn each_reader_has_a_place_of_its_own_and_skips_what_it_clears() {
    let mut world = World::new();
    world.init_resource::<Read>();
    let read =
        world.register_system(|mut removed: RemovedComponents<S>| removed.read().collect::<Vec<Entity>>());
    let clear = world.register_system(|mut removed: RemovedComponents<S>| {
        let len = removed.len();
        removed.clear();
        assert!(removed.is_empty());
        len
    });
    assert!(world.run_system(read).unwrap().is_empty());
    assert_eq!(world.run_system(clear).unwrap(), 0);
    let e = world.spawn((A(1), S)).id();
    world.remove::<S>(e).unwrap();
    world.insert(e, S).unwrap();
    world.despawn(e);
    assert_eq!(world.run_system(clear).unwrap(), 2);
    assert_eq!(world.run_system(clear).unwrap(), 0);
    assert_eq!(world.run_system(read).unwrap(), [e, e]);
    assert!(world.run_system(read).unwrap().is_empty());
}

#[test]
fn removals_are_numbered_in_their_order() {
    let mut world = World::new();
    let read = world.register_system(|mut removed: RemovedComponents<A>| {
        let read: Vec<_> = removed.read_with_id().collect();
        assert!(read.windows(2).all(|pair| pair[0].1 < pair[1].1));
        read.len()
    });
    world.run_system(read).unwrap();
    let all: Vec<Entity> = world.spawn_batch((0..5).map(A)).collect();
    world.despawn_batch(all);
    assert_eq!(world.run_system(read).unwrap(), 5);
}

// Hazard 64.
#[test]
fn a_reader_that_never_reads_holds_up_to_the_limit_and_is_told_how_many_it_missed() {
    let mut world = World::new();
    world.set_removal_limit(100);
    let idle = world.register_system(|mut removed: RemovedComponents<A>| {
        let missed = removed.missed();
        (missed, removed.read().count())
    });
    world.run_system(idle).unwrap();
    for n in 0..1000 {
        let e = world.spawn(A(n)).id();
        world.despawn(e);
    }
    let (missed, read) = world.run_system(idle).unwrap();
    assert_eq!(missed + read as u64, 1000);
    assert!((100..=200).contains(&read), "{read}");
    assert_eq!(world.run_system(idle).unwrap(), (0, 0));
}

#[test]
fn nothing_is_written_down_when_the_last_reader_is_gone() {
    let mut world = World::new();
    let reader = world.register_system(|mut removed: RemovedComponents<A>| removed.read().count());
    world.run_system(reader).unwrap();
    world.unregister_system(reader).unwrap();
    world.end_frame();
    let e = world.spawn(A(1)).id();
    world.despawn(e);
    let late = world.register_system(|mut removed: RemovedComponents<A>| removed.read().count());
    assert_eq!(world.run_system(late).unwrap(), 0);
    world.check().unwrap();
}

#[test]
fn the_world_tells_removals_from_its_first_question_to_the_next_clearing() {
    let mut world = World::new();
    let [a, b, c] = [0, 1, 2].map(|n| world.spawn((A(n), S)).id());
    world.remove::<A>(a).unwrap();
    assert_eq!(world.removed::<A>().count(), 0, "there was no reader yet");
    assert_eq!(world.removed::<S>().count(), 0);
    world.remove::<S>(b).unwrap();
    world.despawn(b);
    world.despawn(c);
    let removed = |world: &mut World| world.removed::<A>().collect::<Vec<_>>();
    assert_eq!(removed(&mut world), [b, c]);
    assert_eq!(removed(&mut world), [b, c], "asking forgets nothing");
    let id = world.component_id::<S>().unwrap();
    assert_eq!(world.removed_with_id(id).collect::<Vec<_>>(), [b, c]);
    world.end_frame();
    assert_eq!(removed(&mut world), [b, c], "nor does the end of a frame");
    world.clear_trackers();
    assert_eq!(removed(&mut world), []);
    assert_eq!(world.removed_with_id(id).count(), 0);
    let foreign = (0..20).fold(id, |_, at| {
        let schema = Schema::new(format!("far.{at}")).field("x", FieldType::F32);
        World::new().register_dynamic(schema).unwrap_or(id)
    });
    assert_eq!(world.removed_with_id(foreign).count(), 0);
}

#[test]
fn the_world_reads_beside_systems_and_shows_what_waits() {
    let mut app = App::new();
    app.init_resource::<Read>();
    app.add_systems(Update, |mut removed: RemovedComponents<A>, mut read: ResMut<Read>| {
        read.0.extend(removed.read());
    });
    app.step(0.1);
    let id = app.world().component_id::<A>().unwrap();
    assert_eq!(app.world().removed_components().get(id), Some(&[][..]));
    let e = app.world_mut().spawn((A(1), S)).id();
    assert_eq!(app.world_mut().removed::<A>().count(), 0);
    app.world_mut().despawn(e);
    let listed: Vec<_> =
        app.world().removed_components().iter().map(|(id, all)| (id, all.to_vec())).collect();
    assert_eq!(listed, [(id, vec![e])]);
    app.step(0.1);
    assert_eq!(app.world().resource::<Read>().0, [e]);
    assert_eq!(app.world_mut().removed::<A>().collect::<Vec<_>>(), [e], "each reader has its own place");
    let sparse = app.world_mut().register_component::<S>();
    assert_eq!(app.world().removed_components().get(sparse), None, "these have no reader");
}

#[test]
fn a_checkpoint_knows_what_the_world_has_told() {
    #[derive(Component, Clone)]
    struct Copied;
    let mut world = World::new();
    assert_eq!(world.removed::<Copied>().count(), 0);
    let e = world.spawn(Copied).id();
    world.despawn(e);
    let checkpoint = world.checkpoint();
    world.clear_trackers();
    assert_eq!(world.removed::<Copied>().count(), 0);
    world.restore(&checkpoint).unwrap();
    assert_eq!(world.removed::<Copied>().collect::<Vec<_>>(), [e]);
}
