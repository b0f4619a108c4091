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

/// Why entities cannot be lent for writing: one of them is dead, or named twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityFetchError {
    /// The entity at fault.
    pub entity: Entity,
    /// Whether it is named twice; otherwise it is dead.
    pub repeated: bool,
}

impl EntityFetchError {
    pub(crate) fn dead(entity: Entity) -> Self {
        Self { entity, repeated: false }
    }
}

impl fmt::Display for EntityFetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.repeated {
            return write!(f, "entity {} is asked for twice at once: name each entity once", self.entity);
        }
        NoSuchEntity::new(self.entity).fmt(f)
    }
}

impl std::error::Error for EntityFetchError {}

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

/// The entity's pool does not declare a component.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotInPool {
    /// The entity.
    pub entity: Entity,
    /// The pool's name.
    pub pool: &'static str,
    /// The component's name.
    pub component: String,
}

impl fmt::Display for NotInPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, pool, component } = self;
        write!(
            f,
            "entity {entity} is in pool `{pool}`, which does not declare `{component}`: declare it there, or migrate the entity"
        )
    }
}

impl std::error::Error for NotInPool {}

/// The entity's pool requires a component, so that it cannot be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequiredByPool {
    /// The entity.
    pub entity: Entity,
    /// The pool's name.
    pub pool: &'static str,
    /// The component's name.
    pub component: String,
}

impl fmt::Display for RequiredByPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, pool, component } = self;
        write!(
            f,
            "entity {entity} is in pool `{pool}`, which requires `{component}`: declare it as optional there, or migrate the entity"
        )
    }
}

impl std::error::Error for RequiredByPool {}

/// Why the components of an entity cannot be changed. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// The entity is dead.
    NoSuchEntity(NoSuchEntity),
    /// Its pool does not declare a component.
    NotInPool(NotInPool),
    /// Its pool requires a component.
    RequiredByPool(RequiredByPool),
}

impl ChangeError {
    /// The entity that was to be changed.
    pub fn entity(&self) -> Entity {
        match self {
            Self::NoSuchEntity(error) => error.entity,
            Self::NotInPool(error) => error.entity,
            Self::RequiredByPool(error) => error.entity,
        }
    }
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity(error) => error.fmt(f),
            Self::NotInPool(error) => error.fmt(f),
            Self::RequiredByPool(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChangeError {}

impl From<NoSuchEntity> for ChangeError {
    fn from(error: NoSuchEntity) -> Self {
        Self::NoSuchEntity(error)
    }
}

impl From<NotInPool> for ChangeError {
    fn from(error: NotInPool) -> Self {
        Self::NotInPool(error)
    }
}

impl From<RequiredByPool> for ChangeError {
    fn from(error: RequiredByPool) -> Self {
        Self::RequiredByPool(error)
    }
}
