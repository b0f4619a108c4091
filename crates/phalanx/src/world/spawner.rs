//! Spawning many entities with the same components, one by one.
//!
//! The way into the table is found and checked when the door is opened (a gate, ADR 0017); where somebody has a say
//! in each entity, the door is only a short way to write `spawn`.

use std::convert::identity;

use phalanx_store::{Entity, Gate};

use super::World;
use crate::bundle::Bundle;
use crate::storage::SparseParts;

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
    world: &'w mut World,
    /// The way in; shut where somebody has a say in what is spawned: a group, a requirement, a set.
    gate: Gate<B::Values>,
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
        if let Some(entrance) = self.world.store.enter(&self.gate) {
            let (values, _) = bundle.into_values(entrance.now());
            return entrance.spawn(values);
        }
        let entity;
        (entity, self.gate) = self.world.spawn_ungated(identity(bundle), self.gate.is_shut());
        entity
    }

    /// Despawns an entity, as [`World::despawn`] does. False when it was dead already.
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        self.world.store.despawn_through(&self.gate, entity) || self.world.despawn(entity)
    }

    /// The world, to be read.
    pub fn world(&self) -> &World {
        self.world
    }
}

impl World {
    /// A door for spawning many entities with the same components, one by one.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn spawner<B: Bundle>(&mut self) -> Spawner<'_, B> {
        let gate = self.gate::<B>();
        Spawner { world: self, gate }
    }

    /// Spawns on the ordinary way, on which the table can grow; after that another gate is needed, unless it was shut.
    // By value, here and there: a spawner that nobody points at can stay in registers.
    #[inline(never)]
    #[track_caller]
    fn spawn_ungated<B: Bundle>(&mut self, bundle: B, shut: bool) -> (Entity, Gate<B::Values>) {
        let entity = self.spawn(bundle).id();
        (entity, if shut { Gate::SHUT } else { self.gate::<B>() })
    }

    #[track_caller]
    fn gate<B: Bundle>(&mut self) -> Gate<B::Values> {
        let at = self.first_insertion::<B>();
        let nothing_else = !B::Sparse::ANY && self.bundle_info::<B>().required_sparse.is_empty();
        if nothing_else {
            self.store.gate(self.archetypes.transitions.at(at)).unwrap_or(Gate::SHUT)
        } else {
            Gate::SHUT
        }
    }
}
