//! Entities with ids that the caller names: those of a server, a file, or another world.
//!
//! The id must be free: no entity with its index is alive, and its generation is not one of the past. Indices that are
//! skipped on the way join the free ones, and are given to other entities later.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub use phalanx_store::ClaimError;
use phalanx_store::{Entity, FirstPanic};

use super::{EntityWorldMut, World};
use crate::bundle::Bundle;

/// Why an entity cannot be spawned with an id. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpawnAtError {
    /// The id asked for.
    pub entity: Entity,
    /// What is wrong with it.
    pub reason: ClaimError,
}

impl fmt::Display for SpawnAtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {} cannot be spawned: {}", self.entity, self.reason)
    }
}

impl std::error::Error for SpawnAtError {}

impl World {
    /// Spawns an entity with this id and a bundle of components.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// let mut server = World::new();
    /// let mut client = World::new();
    /// let theirs = server.spawn(Health(3)).id();
    /// let ours = client.spawn_at(theirs, Health(3)).unwrap().id();
    /// assert_eq!(ours, theirs);
    /// assert!(client.spawn_at(theirs, Health(4)).is_err());
    /// ```
    ///
    /// # Errors
    /// When the id is taken, of the past, or too far beyond the indices in use; the bundle is dropped.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn spawn_at<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
    ) -> Result<EntityWorldMut<'_>, SpawnAtError> {
        // What cannot be used panics here, before any entity lives.
        self.bundle::<B>();
        self.claim(entity)?;
        match catch_unwind(AssertUnwindSafe(|| self.insert(entity, bundle))) {
            Ok(Ok(())) => Ok(EntityWorldMut::new(self, entity)),
            Ok(Err(error)) => unreachable!("a new entity takes everything: {error}"),
            Err(panic) => {
                // A required component could not be made: as after `spawn`, the entity is gone again.
                FirstPanic::ignore(|| self.despawn(entity));
                resume_unwind(panic)
            }
        }
    }

    /// Spawns an entity with this id, without components.
    ///
    /// # Errors
    /// As [`World::spawn_at`].
    pub fn spawn_empty_at(&mut self, entity: Entity) -> Result<EntityWorldMut<'_>, SpawnAtError> {
        self.claim(entity)?;
        Ok(EntityWorldMut::new(self, entity))
    }

    fn claim(&mut self, entity: Entity) -> Result<(), SpawnAtError> {
        self.store.spawn_rowless_at(entity).map_err(|reason| SpawnAtError { entity, reason })
    }
}
