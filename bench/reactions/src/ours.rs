//! The lines of Phalanx.

use phalanx::prelude::*;
use phalanx_measuring::contender::Contender;

use crate::ENTITIES;

#[derive(Component, Clone, Copy)]
pub struct Transform(#[allow(dead_code, reason = "only stored")] pub [f32; 16]);
#[derive(Component, Clone, Copy)]
pub struct Position(#[allow(dead_code, reason = "only stored")] pub [f32; 3]);
#[derive(Component, Clone, Copy)]
pub struct Rotation(#[allow(dead_code, reason = "only stored")] pub [f32; 3]);
#[derive(Component, Clone, Copy)]
pub struct Velocity(#[allow(dead_code, reason = "only stored")] pub [f32; 3]);
#[derive(Component, Clone, Copy)]
struct A(#[allow(dead_code, reason = "only stored")] f32);
#[derive(Component, Clone, Copy)]
struct B(#[allow(dead_code, reason = "only stored")] f32);

#[derive(Resource, Default)]
struct Count(u64);

/// What listens.
#[derive(Clone, Copy, PartialEq)]
pub enum Listening {
    None,
    Observed,
    Batched,
}

fn count<C: Component>(on: On<Add<C>>, mut count: ResMut<Count>) {
    count.0 += on.entities().len() as u64;
}

fn observe<C: Component>(world: &mut World, listening: Listening) {
    match listening {
        Listening::None => {}
        Listening::Observed => drop(world.add_observer(count::<C>)),
        Listening::Batched => drop(world.add_observer(Observer::new(count::<C>).batched())),
    }
}

/// A component comes to each entity, and goes.
pub fn add_remove(observed: bool) -> Contender {
    Contender::steady(
        ("phalanx", if observed { "observed" } else { "none" }),
        move || {
            let mut world = World::new();
            world.init_resource::<Count>();
            let listening = if observed { Listening::Observed } else { Listening::None };
            observe::<A>(&mut world, listening);
            observe::<B>(&mut world, listening);
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
            world.entities().len() as u64
        },
    )
}

/// Entities with four components come in one batch.
pub fn spawn_batch(listening: Listening) -> Contender {
    let variant = match listening {
        Listening::None => "none",
        Listening::Observed => "observed",
        Listening::Batched => "batched",
    };
    Contender::staged(
        ("phalanx", variant),
        World::new,
        move |world| {
            *world = World::new();
            world.init_resource::<Count>();
            observe::<Transform>(world, listening);
            observe::<Position>(world, listening);
            observe::<Rotation>(world, listening);
            observe::<Velocity>(world, listening);
        },
        |world| {
            let bundle = (Transform([0.0; 16]), Position([0.0; 3]), Rotation([0.0; 3]), Velocity([0.0; 3]));
            world.spawn_batch((0..ENTITIES).map(|_| bundle));
        },
        move |world| {
            let heard = if listening == Listening::None { 0 } else { 4 * ENTITIES as u64 };
            assert_eq!(world.resource::<Count>().0, heard);
            world.entities().len() as u64
        },
    )
}
