//! The errors of looking up single entities through a query.
//!
//! A query that has nothing for an entity says why: the entity is dead, or which term it fails. The texts name
//! the entity and the term as the user wrote it.

use std::fmt;

use phalanx_store::Entity;

use crate::names::short_type_name;

/// Why a query has nothing for an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryEntityError {
    /// The entity is dead.
    NoSuchEntity {
        /// The entity asked for.
        entity: Entity,
    },
    /// The entity lives, but the query does not visit it.
    DoesNotMatch {
        /// The entity asked for.
        entity: Entity,
        /// The term that it fails.
        fails: String,
    },
    /// The entity was asked for twice at once, with write access.
    Repeated {
        /// The entity.
        entity: Entity,
    },
}

impl fmt::Display for QueryEntityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity { entity } => {
                write!(f, "entity {entity} is not alive: it was despawned, or belongs to another world")
            }
            Self::DoesNotMatch { entity, fails } => {
                write!(f, "entity {entity} is not in the query: it fails `{fails}`")
            }
            Self::Repeated { entity } => {
                write!(f, "entity {entity} is asked for twice at once: name each entity once")
            }
        }
    }
}

impl std::error::Error for QueryEntityError {}

/// Why a query has no single match; with the query's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuerySingleError {
    /// Nothing matches.
    NoEntities(&'static str),
    /// More than one entity matches.
    MultipleEntities(&'static str),
}

impl fmt::Display for QuerySingleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntities(query) => {
                write!(f, "no entity matches `{}`, where one was expected", short_type_name(query))
            }
            Self::MultipleEntities(query) => write!(
                f,
                "several entities match `{}`, where one was expected: add a filter, or iterate",
                short_type_name(query)
            ),
        }
    }
}

impl std::error::Error for QuerySingleError {}
