//! Names as paths: an entity is found by its name and those of its ancestors.
//!
//! Names are an index by value like any other; a path is verified along `ChildOf` (ADR 0056).

use std::fmt;

use phalanx_store::Entity;

use crate::name::Name;
use crate::relation::ChildOf;
use crate::world::World;

impl World {
    /// The entity with a name. Parts before a slash are the names of its ancestors, the parent's last: `ship/engine` is
    /// the engine of the ship. The first call makes an index of all names.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// let mut world = World::new();
    /// world.spawn((Name::new("ship"), children![Name::new("engine")]));
    /// world.spawn((Name::new("car"), children![Name::new("engine")]));
    /// let engine = world.named("ship/engine").unwrap();
    /// assert_eq!(world.get::<Name>(engine).unwrap().as_str(), "engine");
    /// assert!(world.named("engine").is_err(), "there are two");
    /// ```
    ///
    /// # Errors
    /// When no entity, or more than one, has it, or a part of the path is empty.
    pub fn named(&mut self, path: &str) -> Result<Entity, NamedError> {
        let parts: Vec<&str> = path.split('/').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(NamedError::EmptyPart { path: path.to_owned() });
        }
        let (own, ancestors) = parts.split_last().expect("a split text has a last part");
        let mut found = self.entities_with(&Name::new((*own).to_owned()));
        found.retain(|&entity| self.has_ancestors(entity, ancestors));
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(NamedError::NotFound { path: path.to_owned() }),
            _ => Err(NamedError::Several { path: path.to_owned(), entities: found }),
        }
    }

    fn has_ancestors(&self, entity: Entity, names: &[&str]) -> bool {
        let mut at = entity;
        names.iter().rev().all(|name| match self.get::<ChildOf>(at) {
            Some(link) => {
                at = link.parent();
                self.get::<Name>(at).is_some_and(|held| held.as_str() == *name)
            }
            None => false,
        })
    }
}

/// Why a name leads to no entity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedError {
    /// No entity has the name.
    NotFound {
        /// The name that was looked for.
        path: String,
    },
    /// Several entities have the name.
    Several {
        /// The name that was looked for.
        path: String,
        /// The entities that have it.
        entities: Vec<Entity>,
    },
    /// A part of the path is empty.
    EmptyPart {
        /// The name that was looked for.
        path: String,
    },
}

/// How many entities with one name an error lists.
const LISTED: usize = 8;

impl fmt::Display for NamedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path } => write!(f, "no entity is called \"{path}\""),
            Self::Several { path, entities } => {
                write!(f, "{} entities are called \"{path}\": ", entities.len())?;
                for (at, entity) in entities.iter().take(LISTED).enumerate() {
                    write!(f, "{}{entity}", if at == 0 { "" } else { ", " })?;
                }
                let more = if entities.len() > LISTED { ", .." } else { "" };
                let example = "as in \"ship/engine\"";
                write!(f, "{more}; name an ancestor before it, {example}, or give them different names")
            }
            Self::EmptyPart { path } => {
                write!(f, "\"{path}\" has an empty part: write names with one slash between them")
            }
        }
    }
}

impl std::error::Error for NamedError {}
