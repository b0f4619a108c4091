//! What can be wrong with a pool, and with an entity asked of a pool.
//!
//! The texts name the pool, the entity and the component, and say what to do. When an error is returned, the
//! world is as it was.

use std::fmt;

use phalanx_store::Entity;

use crate::component::Queryable;
use crate::registry::RegisterError;

/// Why a pool cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// A component cannot be registered.
    Register(RegisterError),
    /// A component is declared twice.
    Repeated {
        /// The pool's name.
        pool: &'static str,
        /// The component's name.
        component: String,
    },
    /// A component requires another one that the pool does not declare.
    Requires {
        /// The pool's name.
        pool: &'static str,
        /// The component's name.
        component: String,
        /// The name of the component that it requires.
        requires: String,
    },
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(error) => error.fmt(f),
            Self::Repeated { pool, component } => {
                write!(f, "pool `{pool}` declares `{component}` twice: remove one of the fields")
            }
            Self::Requires { pool, component, requires } => write!(
                f,
                "pool `{pool}` declares `{component}`, which requires `{requires}`: declare that as well"
            ),
        }
    }
}

impl std::error::Error for PoolError {}

impl From<RegisterError> for PoolError {
    fn from(error: RegisterError) -> Self {
        Self::Register(error)
    }
}

/// Why a pool has nothing for an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolEntityError {
    /// The entity is dead.
    NoSuchEntity {
        /// The entity asked for.
        entity: Entity,
    },
    /// The entity is in another pool.
    OtherPool {
        /// The entity asked for.
        entity: Entity,
        /// The name of the pool that was asked.
        pool: &'static str,
        /// The name of the pool that the entity is in.
        actual: &'static str,
    },
    /// The entity lacks an optional component.
    Missing {
        /// The entity asked for.
        entity: Entity,
        /// The component's type.
        component: &'static str,
    },
}

impl PoolEntityError {
    #[cold]
    pub(super) fn missing<T: Queryable>(entity: Entity) -> Self {
        Self::Missing { entity, component: std::any::type_name::<T::Owner>() }
    }
}

impl fmt::Display for PoolEntityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity { entity } => {
                write!(f, "entity {entity} is not alive: it was despawned, or belongs to another world")
            }
            Self::OtherPool { entity, pool, actual } => {
                write!(
                    f,
                    "entity {entity} is in pool `{actual}`, not in `{pool}`: ask that pool, or migrate it"
                )
            }
            Self::Missing { entity, component } => {
                write!(
                    f,
                    "entity {entity} has no `{component}` at present: insert it first, or query `Option`"
                )
            }
        }
    }
}

impl std::error::Error for PoolEntityError {}
