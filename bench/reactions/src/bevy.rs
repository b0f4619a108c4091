//! The lines of bevy_ecs.

use bevy_ecs::prelude::*;
use phalanx_measuring::contender::Contender;

use crate::ENTITIES;

#[derive(Component, Clone, Copy)]
struct Transform(#[allow(dead_code, reason = "only stored")] [f32; 16]);
#[derive(Component, Clone, Copy)]
struct Position(#[allow(dead_code, reason = "only stored")] [f32; 3]);
#[derive(Component, Clone, Copy)]
struct Rotation(#[allow(dead_code, reason = "only stored")] [f32; 3]);
#[derive(Component, Clone, Copy)]
struct Velocity(#[allow(dead_code, reason = "only stored")] [f32; 3]);
#[derive(Component, Clone, Copy)]
struct A(#[allow(dead_code, reason = "only stored")] f32);
#[derive(Component, Clone, Copy)]
struct B(#[allow(dead_code, reason = "only stored")] f32);

#[derive(Resource, Default)]
struct Count(u64);

fn count<C: Component>(_: On<Add<C>>, mut count: ResMut<Count>) {
    count.0 += 1;
}

/// A component comes to each entity, and goes.
pub fn add_remove(observed: bool) -> Contender {
    Contender::steady(
        ("bevy", if observed { "observed" } else { "none" }),
        move || {
            let mut world = World::new();
            world.init_resource::<Count>();
            if observed {
                world.add_observer(count::<A>);
                world.add_observer(count::<B>);
            }
            let entities: Vec<Entity> = world.spawn_batch((0..ENTITIES).map(|_| A(0.0))).collect();
            (world, entities, 0)
        },
        |(world, entities, runs)| {
            *runs += 1;
            for &entity in entities.iter() {
                world.entity_mut(entity).insert(B(0.0));
            }
            for &entity in entities.iter() {
                world.entity_mut(entity).remove::<B>();
            }
        },
        move |(world, entities, runs)| {
            // Each entity got its first component once, and the other one in each run.
            let heard = if observed { entities.len() as u64 * (1 + *runs) } else { 0 };
            assert_eq!(world.resource::<Count>().0, heard);
            entities.iter().filter(|&&entity| world.get::<A>(entity).is_some()).count() as u64
        },
    )
}

/// Entities with four components come in one batch.
pub fn spawn_batch(observed: bool) -> Contender {
    Contender::staged(
        ("bevy", if observed { "observed" } else { "none" }),
        World::new,
        move |world| {
            *world = World::new();
            world.init_resource::<Count>();
            if observed {
                world.add_observer(count::<Transform>);
                world.add_observer(count::<Position>);
                world.add_observer(count::<Rotation>);
                world.add_observer(count::<Velocity>);
            }
        },
        |world| {
            let bundle = (Transform([0.0; 16]), Position([0.0; 3]), Rotation([0.0; 3]), Velocity([0.0; 3]));
            world.spawn_batch((0..ENTITIES).map(|_| bundle));
        },
        move |world| {
            let heard = if observed { 4 * ENTITIES as u64 } else { 0 };
            assert_eq!(world.resource::<Count>().0, heard);
            world.query::<&Transform>().iter(world).count() as u64
        },
    )
}
