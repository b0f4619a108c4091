//! Checkpoints that are taken and restored in the middle of things: by commands of observers and hooks, and by systems
//! while a schedule runs.

use phalanx::prelude::*;
use phalanx::world::Checkpoint;

#[derive(Component, Clone, Debug, PartialEq)]
struct Health(f32);

#[derive(Component, Clone)]
#[component(storage = "sparse")]
struct Trap;

#[derive(Resource, Default)]
#[resource(checkpoint = "skip", digest = "skip")]
struct Kept(Option<Checkpoint>);

#[derive(Resource, Clone, Default)]
struct Frames(u32);

fn restore(world: &mut World) {
    let kept = world.resource::<Kept>().0.clone();
    world.restore(&kept.expect("one was taken")).expect("of this world");
}

#[test]
fn a_restore_by_a_command_of_an_observer_is_whole() {
    let mut world = World::new();
    world.init_resource::<Kept>();
    world.add_observer(|_: On<Add<Trap>>, mut commands: Commands| {
        commands.queue(restore);
        // What was asked for before the restore belongs to what is gone.
        commands.spawn(Health(99.0));
    });
    let [a, b] = [1.0, 2.0].map(|health| world.spawn(Health(health)).id());
    world.insert(b, ChildOf(a)).expect("alive");
    let checkpoint = world.checkpoint();
    let (before, next) = (world.digest(), world.entities().next_ids(100));
    world.resource_mut::<Kept>().0 = Some(checkpoint);
    for round in 0..3 {
        world.get_mut::<Health>(a).expect("alive").0 += 1.0;
        world.despawn(b);
        let trap = world.spawn((Health(5.0), Trap)).id();
        world.flush();
        world.check().expect("whole");
        assert!(!world.contains(trap) || trap == b, "round {round}: it came after the checkpoint");
        assert_eq!(world.digest(), before, "round {round}");
        assert_eq!(world.entities().next_ids(100), next, "round {round}");
        assert_eq!(world.get::<ChildOf>(b).map(ChildOf::parent), Some(a));
    }
    // Several at once, with more behind them.
    let traps: Vec<Entity> = world.spawn_batch((0..5).map(|_| (Health(1.0), Trap))).collect();
    world.flush();
    world.check().expect("whole");
    assert_eq!((traps.len(), world.digest()), (5, before));
}

#[test]
fn a_schedule_goes_on_after_its_systems_take_and_restore_checkpoints() {
    let mut app = App::new();
    app.init_resource::<Kept>().init_resource::<Frames>();
    let take = |world: &mut World| {
        let checkpoint = world.checkpoint();
        world.resource_mut::<Kept>().0 = Some(checkpoint);
    };
    let spoil = |mut commands: Commands, mut all: Query<(Entity, &mut Health)>| {
        for (entity, mut health) in &mut all {
            health.0 = -1.0;
            commands.entity(entity).insert(Trap);
        }
        commands.spawn(Health(7.0));
    };
    let count = |mut frames: ResMut<Frames>, all: Query<&Health>, traps: Query<&Trap>| {
        frames.0 += 1;
        assert_eq!((all.iter().count(), traps.iter().count()), (3, 0));
        assert!(all.iter().all(|health| health.0 >= 0.0));
    };
    app.add_systems(Update, (take, spoil, restore, count).chain());
    app.world_mut().spawn_batch((0..3u8).map(|at| Health(f32::from(at)))).for_each(drop);
    for _ in 0..4 {
        app.step(0.1);
        app.world().check().expect("whole");
    }
    assert_eq!(app.world().resource::<Frames>().0, 4);
    let health: Vec<f32> = app.world().view::<&Health>().iter().map(|health| health.0).collect();
    assert_eq!(health, [0.0, 1.0, 2.0]);
}
