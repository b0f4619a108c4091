//! What is compared: entities of a pool, and entities with the same components in General.

use std::marker::PhantomData;

use phalanx::prelude::*;
use phalanx::query::QueryFilter;

use crate::kinds::{C0, C2, Kind, Loose, first, scattered};

/// One way of keeping the entities, together with their composition.
pub trait Subject: 'static {
    /// What the line is called.
    const NAME: &'static str;
    /// What narrows a query to the entities.
    type Filter: QueryFilter + 'static;

    /// Spawns entities one by one.
    fn spawn(world: &mut World, size: usize);
    /// Spawns all entities at once.
    fn fill(world: &mut World, size: usize) -> Vec<Entity>;
    /// Gives each entity `C2`.
    fn insert(world: &mut World, entities: &[Entity]);
    /// Takes `C2` from each entity.
    fn remove(world: &mut World, entities: &[Entity]);
    /// Reads `C0` of each entity.
    fn read(world: &World, entities: &[Entity], each: impl FnMut(&C0));
    /// Spawns ten entities of each of 200 compositions: the bits of a number choose among `C2` to `C9`.
    fn scatter(world: &mut World) -> Vec<Entity>;
}

/// Archetypes of [`Subject::scatter`].
pub const ARCHETYPES: usize = 200;
/// Entities in each of them.
pub const ROWS: usize = 10;

/// Entities of a pool that have the first `PRESENT` components.
pub struct Pooled<P, const PRESENT: usize>(PhantomData<fn() -> P>);

impl<P: Kind, const PRESENT: usize> Subject for Pooled<P, PRESENT> {
    const NAME: &'static str = P::NAME;
    type Filter = InPool<P>;

    fn spawn(world: &mut World, size: usize) {
        for index in 0..size {
            world.spawn_in(P::nth(index, const { first(PRESENT) }));
        }
    }

    fn fill(world: &mut World, size: usize) -> Vec<Entity> {
        world.spawn_batch_in((0..size).map(|index| P::nth(index, const { first(PRESENT) }))).collect()
    }

    fn insert(world: &mut World, entities: &[Entity]) {
        let mut pool = world.pool_mut::<P>();
        for &entity in entities {
            pool.insert(entity, C2(1.0)).expect("alive");
        }
    }

    fn remove(world: &mut World, entities: &[Entity]) {
        let mut pool = world.pool_mut::<P>();
        for &entity in entities {
            pool.remove::<C2>(entity).expect("alive");
        }
    }

    fn read(world: &World, entities: &[Entity], mut each: impl FnMut(&C0)) {
        let pool = world.pool::<P>();
        for &entity in entities {
            each(pool.get::<C0>(entity).expect("alive"));
        }
    }

    fn scatter(world: &mut World) -> Vec<Entity> {
        let spawn = |index| world.spawn_in(P::nth(index, composition(index)));
        (0..ARCHETYPES * ROWS).map(spawn).collect()
    }
}

/// The composition of an entity of [`Subject::scatter`].
fn composition(index: usize) -> u64 {
    first(2) | ((index / ROWS) as u64) << 2
}

/// Entities of General that have the components of a bundle.
pub struct InGeneral<B>(PhantomData<fn() -> B>);

impl<B: Loose + 'static> Subject for InGeneral<B> {
    const NAME: &'static str = "General";
    type Filter = ();

    fn spawn(world: &mut World, size: usize) {
        for index in 0..size {
            world.spawn(B::nth(index));
        }
    }

    fn fill(world: &mut World, size: usize) -> Vec<Entity> {
        world.spawn_batch((0..size).map(B::nth)).collect()
    }

    fn insert(world: &mut World, entities: &[Entity]) {
        for &entity in entities {
            world.insert(entity, C2(1.0)).expect("alive");
        }
    }

    fn remove(world: &mut World, entities: &[Entity]) {
        for &entity in entities {
            world.remove::<C2>(entity).expect("alive");
        }
    }

    fn read(world: &World, entities: &[Entity], mut each: impl FnMut(&C0)) {
        for &entity in entities {
            each(world.get::<C0>(entity).expect("alive"));
        }
    }

    fn scatter(world: &mut World) -> Vec<Entity> {
        let spawn = |index| scattered(world, index, composition(index));
        (0..ARCHETYPES * ROWS).map(spawn).collect()
    }
}
