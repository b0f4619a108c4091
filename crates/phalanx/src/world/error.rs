//! The errors of single-entity operations.
//!
//! Data-dependent failures are values, not panics: each error names the entity and the type, and says what to do
//! about it.

use std::fmt;

use phalanx_store::Entity;

/// The entity is dead: it was despawned, or never lived in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoSuchEntity {
    /// The entity asked for.
    pub entity: Entity,
}

impl NoSuchEntity {
    pub(crate) fn new(entity: Entity) -> Self {
        Self { entity }
    }
}

impl fmt::Display for NoSuchEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {} is not alive: it was despawned, or belongs to another world", self.entity)
    }
}

impl std::error::Error for NoSuchEntity {}

/// The entity lives, but lacks a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComponentMissing {
    /// The entity.
    pub entity: Entity,
    /// The type that it lacks.
    pub component: &'static str,
}

impl ComponentMissing {
    pub(crate) fn new<T>(entity: Entity) -> Self {
        Self { entity, component: std::any::type_name::<T>() }
    }
}

impl fmt::Display for ComponentMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {} has no `{}`: insert it first, or ask with `get`", self.entity, self.component)
    }
}

impl std::error::Error for ComponentMissing {}
