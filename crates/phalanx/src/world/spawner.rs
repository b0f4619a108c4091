//! Spawning many entities with the same components, one by one.
//!
//! The way into the table is found and checked when the door is opened (a gate, ADR 0017); where somebody has a say
//! in each entity, the door is only a short way to write `spawn`.

use phalanx_store::{Entity, Exhausted, Values};

use super::World;
use crate::bundle::Bundle;
use crate::pool::{DeclaredPool, Pool};
use crate::storage::SparseParts;
use crate::world::pools::{PoolRow, marked};

/// The way of entities that are all alike.
enum Way<'w, V: Values> {
    /// Nobody has a say in what is spawned: the store alone does it.
    Plain(phalanx_store::Spawner<'w, V>),
    /// A group, a requirement, a set or an optional component has.
    Asked(&'w mut World),
}

impl<V: Values> Way<'_, V> {
    #[inline(always)]
    fn despawn(&mut self, entity: Entity) -> bool {
        match self {
            Self::Plain(spawner) => spawner.despawn(entity),
            Self::Asked(world) => despawn_asked(world, entity),
        }
    }
}

#[inline(never)]
fn despawn_asked(world: &mut World, entity: Entity) -> bool {
    world.despawn(entity)
}

// Apart, and with the parts of the bundle, so that on the other way it need not be in memory.
#[inline(never)]
#[track_caller]
fn spawn_asked<B: Bundle>(world: &mut World, values: B::Values, sparse: B::Sparse) -> Entity {
    world.spawn(B::from_values(values, sparse)).id()
}

#[inline(never)]
#[track_caller]
fn spawn_asked_in<P: DeclaredPool>(
    world: &mut World,
    presence: u128,
    values: P::Values,
    sparse: P::Sparse,
) -> Entity {
    world.spawn_values_in::<P>(presence, values, sparse)
}

#[inline(always)]
#[track_caller]
fn expect(spawned: Result<Entity, Exhausted>) -> Entity {
    match spawned {
        Ok(entity) => entity,
        Err(error) => panic!("{error}"),
    }
}

/// Spawns entities with one bundle each, and asks what has to be asked about the bundle once.
///
/// For loops that spawn one here and one there; for many at once see [`World::spawn_batch`]. Any entity can be despawned
/// here as well, those with exactly the components of the bundle quickly.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Position(f32);
/// # #[derive(Component)] struct Velocity(f32);
/// let mut world = World::new();
/// let mut shots = world.spawner::<(Position, Velocity)>();
/// let first = shots.spawn((Position(0.0), Velocity(1.0)));
/// shots.spawn((Position(1.0), Velocity(1.0)));
/// assert!(shots.despawn(first));
/// assert_eq!(world.query::<&Position>().iter().count(), 1);
/// ```
pub struct Spawner<'w, B: Bundle> {
    way: Way<'w, B::Values>,
}

impl<B: Bundle> Spawner<'_, B> {
    /// Spawns an entity.
    ///
    /// # Panics
    /// When all entity indices are in use.
    // Always, because a bundle that is passed on through memory is copied on the way.
    #[inline(always)]
    #[track_caller]
    pub fn spawn(&mut self, bundle: B) -> Entity {
        match &mut self.way {
            Way::Plain(spawner) => expect(spawner.spawn(bundle.into_values(spawner.now()).0)),
            Way::Asked(world) => {
                let (values, sparse) = bundle.into_values(world.store.tick());
                spawn_asked::<B>(world, values, sparse)
            }
        }
    }

    /// Despawns an entity, as [`World::despawn`] does. False when it was dead already.
    #[inline(always)]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        self.way.despawn(entity)
    }
}

/// As [`Spawner`], for entities of a pool.
///
/// Pools with optional components have no faster way than [`PoolMut::spawn`](super::PoolMut::spawn), which also knows
/// that the next entity may have others than the last.
pub struct PoolSpawner<'w, P: Pool> {
    way: Way<'w, PoolRow<P::Values>>,
}

impl<P: DeclaredPool> PoolSpawner<'_, P> {
    /// Spawns an entity in the pool.
    ///
    /// # Panics
    /// When all entity indices are in use.
    // Always, because a value that is passed on through memory is copied on the way.
    #[inline(always)]
    #[track_caller]
    pub fn spawn(&mut self, value: P) -> Entity {
        match &mut self.way {
            Way::Plain(spawner) => expect(spawner.spawn(marked(value.into_values(spawner.now()).0))),
            Way::Asked(world) => {
                let presence = value.presence().into();
                let (values, sparse) = value.into_values(world.store.tick());
                spawn_asked_in::<P>(world, presence, values, sparse)
            }
        }
    }

    /// Despawns an entity, of this pool or another, as [`World::despawn`] does. False when it was dead already.
    #[inline(always)]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        self.way.despawn(entity)
    }
}

impl World {
    /// A door for spawning many entities with the same components, one by one.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn spawner<B: Bundle>(&mut self) -> Spawner<'_, B> {
        let at = self.first_insertion::<B>();
        let asked = B::Sparse::ANY || !self.bundle_info::<B>().required_sparse.is_empty();
        let gate = |world: &Self| world.store.gate::<B::Values>(world.archetypes.transitions.at(at));
        if asked || !self.groups.is_empty() || gate(self).is_none() {
            return Spawner { way: Way::Asked(self) };
        }
        let edge = self.archetypes.transitions.at(at);
        Spawner { way: Way::Plain(self.store.spawner(edge).expect("there is a gate")) }
    }

    /// A door for spawning many entities of a pool, one by one.
    ///
    /// # Panics
    /// When the pool cannot be registered.
    #[track_caller]
    pub fn spawner_in<P: DeclaredPool>(&mut self) -> PoolSpawner<'_, P> {
        let (pool, all) = (self.meet_pool::<P>(), P::DECLARED.into());
        if P::REQUIRED.into() != all || self.pool_gate::<P>(all).is_none() {
            return PoolSpawner { way: Way::Asked(self) };
        }
        let at = self.spawn_way::<P>(pool, all);
        let edge = &self.archetypes.pools().record(pool).spawns[at].edge;
        PoolSpawner { way: Way::Plain(self.store.spawner(edge).expect("there is a gate")) }
    }
}
