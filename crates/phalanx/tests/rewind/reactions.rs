//! What reactions keep is taken back, too: removals that wait, reactive sets, buffers, observers and registered systems.

use phalanx::prelude::*;
use phalanx::system::SystemMeta;
use phalanx::world::Checkpoint;

#[derive(Component, Clone, Debug)]
#[component(track = "row")]
struct Health(u32);

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse")]
struct Burning;

#[derive(Component, Clone, Debug)]
#[component(track = "row")]
struct Mark;

#[derive(Resource, Clone, Default, Debug, Digestible)]
struct Trace(Vec<String>);

impl Trace {
    fn add(&mut self, text: impl std::fmt::Display) {
        self.0.push(text.to_string());
    }
}

#[derive(Event)]
struct Dawn;

#[derive(EntityEvent)]
struct Poke(Entity);

/// Spawns, and takes components and entities away, another way each frame.
fn churn(mut commands: Commands, all: Query<Entity>, mut frame: Local<u32>) {
    *frame += 1;
    commands.spawn((Health(*frame), Burning));
    commands.spawn((Health(*frame), Mark));
    let all: Vec<Entity> = all.iter().collect();
    for (at, &entity) in (0u32..).zip(&all) {
        match (at + *frame) % 7 {
            0 => drop(commands.entity(entity).remove::<Health>()),
            1 => drop(commands.entity(entity).remove::<Burning>()),
            2 => commands.entity(entity).despawn(),
            3 => drop(commands.entity(entity).insert(Health(*frame))),
            _ => {}
        }
    }
}

fn every_third(mut frame: Local<u32>) -> bool {
    *frame += 1;
    frame.is_multiple_of(3)
}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Trace>().add_systems(Update, churn);
    app
}

/// What an app wrote in so many frames.
fn run(app: &mut App, frames: u32) -> Vec<(Digest, usize)> {
    let frame = |_| {
        app.step(0.1);
        (app.world().digest(), app.world().resource::<Trace>().0.len())
    };
    (0..frames).map(frame).collect()
}

/// Frames after a checkpoint are the same when they run again, wherever it is taken.
#[track_caller]
fn same_again(app: &mut App) {
    for _ in 0..6 {
        app.step(0.1);
        let before = app.checkpoint();
        let first = run(app, 7);
        assert!(first.last().is_some_and(|(_, traced)| *traced > 0), "nothing happened that could differ");
        let trace = app.world().resource::<Trace>().0.clone();
        for _ in 0..2 {
            app.restore(&before).expect("a checkpoint of this app");
            let again = run(app, 7);
            assert_eq!(app.world().resource::<Trace>().0, trace);
            assert!(again == first, "the frames went another way");
        }
        app.restore(&before).expect("a checkpoint of this app");
    }
}

#[test]
fn removals_that_wait_for_a_reader_are_those_of_the_checkpoint() {
    let mut app = app();
    let often = |mut gone: RemovedComponents<Health>, mut trace: ResMut<Trace>| {
        gone.read_with_id().for_each(|(entity, at)| trace.add(format_args!("often {entity} {at:?}")));
    };
    let seldom = |mut gone: RemovedComponents<Burning>, mut trace: ResMut<Trace>| {
        gone.read().for_each(|entity| trace.add(format_args!("seldom {entity}")));
    };
    app.add_systems(Update, (often, seldom.run_if(every_third)).chain().after(churn));
    same_again(&mut app);
}

#[test]
fn removals_that_were_missed_are_counted_as_then() {
    let mut app = app();
    app.world_mut().set_removal_limit(2);
    let seldom = |mut gone: RemovedComponents<Health>, mut trace: ResMut<Trace>| {
        trace.add(format_args!("missed {}", gone.missed()));
        gone.clear();
    };
    app.add_systems(Update, seldom.run_if(every_third).after(churn));
    same_again(&mut app);
}

#[test]
fn a_reader_of_removals_goes_on_after_a_world_alone_is_taken_back() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    let count = world.register_system(|mut gone: RemovedComponents<Health>| gone.read().count());
    assert_eq!(world.run_system(count).unwrap(), 0);
    let before = world.checkpoint();
    for _ in 0..3 {
        world.despawn(e);
        assert_eq!(world.run_system(count).unwrap(), 1);
        world.restore(&before).unwrap();
    }
}

#[test]
fn reactive_sets_are_those_of_the_checkpoint() {
    let mut app = app();
    let seldom = |mut set: Reactive<(Add<Health>, Remove<Burning>)>, mut trace: ResMut<Trace>| {
        set.read().for_each(|entity| trace.add(entity));
    };
    app.add_systems(Update, seldom.run_if(every_third).after(churn));
    same_again(&mut app);
}

#[derive(Default, Clone)]
struct Gathered {
    now: u32,
    ever: u32,
}

impl SystemBuffer for Gathered {
    fn apply(&mut self, _: &SystemMeta, world: &mut World) {
        self.ever += std::mem::take(&mut self.now);
        let ever = self.ever;
        world.resource_mut::<Trace>().add(ever);
    }
}

#[test]
fn buffers_of_systems_are_those_of_the_checkpoint() {
    let mut app = app();
    app.add_systems(Update, |mut gathered: Deferred<Gathered>| gathered.now += 1);
    let error = app.try_checkpoint().unwrap_err().to_string();
    assert!(error.contains("Gathered"), "{error}");
    app.register_checkpoint_of_local::<Gathered>();
    same_again(&mut app);
}

#[test]
fn observers_keep_the_locals_of_the_checkpoint() {
    let mut app = app();
    app.world_mut().add_observer(|on: On<Add<Health>>, mut calls: Local<u32>, mut trace: ResMut<Trace>| {
        *calls += 1;
        trace.add(format_args!("{} {calls:?}", on.entity));
    });
    let observer = Observer::new(|_: On<Remove<Burning>>, mut trace: ResMut<Trace>| trace.add("out"));
    app.world_mut().add_observer(observer.run_if(every_third));
    same_again(&mut app);
}

#[derive(Clone, Debug, Default)]
struct Own;

#[test]
fn a_local_of_an_observer_that_cannot_be_copied_is_named() {
    let mut app = app();
    app.world_mut().add_observer(|_: On<Dawn>, _: Local<Own>| {});
    let error = app.try_checkpoint().unwrap_err().to_string();
    assert!(error.contains("Own"), "{error}");
    app.register_checkpoint_of_local::<Own>();
    app.checkpoint();
}

#[test]
fn an_observer_of_an_entity_that_was_despawned_since_is_back() {
    let mut app = app();
    let poke = |mut commands: Commands, all: Query<Entity, With<Mark>>| {
        all.iter().for_each(|entity| commands.trigger(Poke(entity)));
    };
    let watch = |mut commands: Commands, new: Query<Entity, Added<Mark>>| {
        for entity in &new {
            commands.entity(entity).observe(
                |on: On<Poke>, mut calls: Local<u32>, mut trace: ResMut<Trace>| {
                    *calls += 1;
                    trace.add(format_args!("{} {:?} {calls:?}", on.0, on.observer()));
                },
            );
        }
    };
    app.add_systems(Update, (watch, poke).chain().before(churn));
    same_again(&mut app);
}

#[test]
fn observers_come_back_in_their_order() {
    let mut world = World::new();
    world.init_resource::<Trace>();
    fn first(_: On<Dawn>, mut trace: ResMut<Trace>) {
        trace.add("first");
    }
    fn second(_: On<Dawn>, mut trace: ResMut<Trace>) {
        trace.add("second");
    }
    fn third(_: On<Dawn>, mut trace: ResMut<Trace>) {
        trace.add("third");
    }
    for ordered in [false, true] {
        let a = match ordered {
            false => world.add_observer(first),
            true => world.add_observer(Observer::new(first).before(second)),
        };
        let b = world.add_observer(second);
        let before = world.checkpoint();
        let listen = |world: &mut World| {
            world.trigger(Dawn);
            std::mem::take(&mut world.resource_mut::<Trace>().0)
        };
        world.remove_observer(a);
        world.add_observer(third);
        assert_eq!(listen(&mut world), ["second", "third"]);
        world.restore(&before).unwrap();
        assert_eq!(listen(&mut world), ["first", "second"]);
        world.restore(&before).unwrap();
        assert!(world.remove_observer(a) && world.remove_observer(b));
        assert_eq!(world.observer_count(), 0);
    }
}

#[test]
fn an_observer_that_no_checkpoint_knows_is_dropped() {
    use std::sync::Arc;
    let mut world = World::new();
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let id = world.add_observer(move |_: On<Dawn>| drop(Arc::clone(&inside)));
    let before = world.checkpoint();
    world.remove_observer(id);
    assert_eq!(Arc::strong_count(&held), 2, "a checkpoint may bring it back");
    drop::<Checkpoint>(before);
    world.checkpoint();
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn observers_at_sync_points_are_told_what_they_were_told() {
    let mut app = app();
    app.world_mut().add_observer(|on: On<Mutate<Health>>, mut trace: ResMut<Trace>| trace.add(on.entity));
    app.world_mut().add_observer(|on: On<ArchetypeCreated>, mut trace: ResMut<Trace>| {
        trace.add(format_args!("{:?}", on.0));
    });
    app.add_systems(Update, |mut all: Query<&mut Health>| all.iter_mut().for_each(|mut one| one.0 += 1));
    same_again(&mut app);
}

#[test]
fn an_archetype_that_was_not_told_of_is_told_after_the_restore() {
    let mut world = World::new();
    world.init_resource::<Trace>();
    let note = |on: On<ArchetypeCreated>, mut trace: ResMut<Trace>| trace.add(format_args!("{:?}", on.0));
    world.add_observer(note);
    world.spawn((Health(1), Mark));
    let before = world.checkpoint();
    let mut schedule = Schedule::default();
    schedule.add_systems(|| ());
    let tell = |world: &mut World, schedule: &mut Schedule| {
        schedule.run(world);
        world.resource::<Trace>().0.clone()
    };
    let first = tell(&mut world, &mut schedule);
    world.spawn((Health(1), Mark, Burning));
    world.restore(&before).unwrap();
    assert_eq!(tell(&mut world, &mut schedule), first);
}

#[test]
fn observers_of_matches_come_back() {
    let mut world = World::new();
    world.init_resource::<Trace>();
    let id = world
        .add_observer(|on: On<Matched<(&Health, &Mark)>>, mut trace: ResMut<Trace>| trace.add(on.entity));
    let before = world.checkpoint();
    world.remove_observer(id);
    world.restore(&before).unwrap();
    world.spawn((Health(1), Mark));
    assert_eq!(world.resource::<Trace>().0.len(), 1);
}

#[test]
fn registered_systems_keep_the_locals_of_the_checkpoint() {
    let mut app = app();
    fn count(mut calls: Local<u32>, mut trace: ResMut<Trace>) {
        *calls += 1;
        trace.add(*calls);
    }
    let kept = app.world_mut().register_system(count);
    let ask = move |mut commands: Commands| {
        commands.run_system(kept);
        // Registered by the first call, which may come after the checkpoint.
        commands.run_system_cached(|mut calls: Local<u32>, mut trace: ResMut<Trace>| {
            *calls += 10;
            trace.add(*calls);
        });
    };
    app.add_systems(Update, ask.run_if(every_third));
    let start = app.checkpoint();
    let first = run(&mut app, 9);
    app.restore(&start).unwrap();
    assert!(run(&mut app, 9) == first, "systems that did not run before the checkpoint start anew");
    same_again(&mut app);
}

#[test]
fn a_registered_system_that_was_unregistered_since_is_back() {
    let mut app = app();
    let id = app.world_mut().register_system(|mut calls: Local<u32>| {
        *calls += 1;
        *calls
    });
    assert_eq!(app.world_mut().run_system(id).unwrap(), 1);
    let before = app.checkpoint();
    for _ in 0..2 {
        assert_eq!(app.world_mut().run_system(id).unwrap(), 2);
        app.world_mut().unregister_system(id).unwrap();
        let later = app.world_mut().register_system(|| ());
        app.restore(&before).unwrap();
        assert!(app.world_mut().run_system(later).is_err(), "it was not there yet");
    }
    assert_eq!(app.world_mut().run_system(id).unwrap(), 2);
}

#[test]
fn a_fallible_condition_keeps_the_locals_of_the_checkpoint() {
    let mut app = app();
    let condition = |mut calls: Local<u32>| -> Result<bool, std::fmt::Error> {
        *calls += 1;
        Ok(calls.is_multiple_of(3))
    };
    app.add_systems(Update, (|mut trace: ResMut<Trace>| trace.add("ran")).run_if(condition));
    same_again(&mut app);
}
