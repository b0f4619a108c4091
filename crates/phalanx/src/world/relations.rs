//! Keeps both halves of a relation in agreement, whichever of them is changed.
//!
//! ```text
//!   a link comes      checked; the rival of a one-to-one target leaves; the source joins the target's list
//!   a link goes       the source leaves the list; an empty list goes
//!   a list goes       all links of its sources go
//!   a target dies     its links go, and where they are linked its sources die first, the last of them first
//! ```
//!
//! The hooks of both halves do it where they have other listeners. A list that is there is changed at once; what would
//! change structure is queued, and done when the change that is announced is complete. Until then the first list of a
//! target waits in [`Relations`]. Without other listeners, nothing is announced, and lists follow at once (`direct`).
//! Nothing here is recursive: chains may be as long as there are entities (ADR 0055).

use std::fmt;

use hashbrown::HashSet;
use phalanx_store::Entity;

use super::World;
use crate::names::short_type;
use crate::relation::{Relationship, RelationshipSourceCollection, RelationshipTarget};

pub use cascade::CascadeOrder;
pub(crate) use direct::{QuietLink, Turn};
pub use lists::{
    Pending, Spawn, SpawnIter, SpawnRelated, SpawnRelatedBundle, SpawnWith, SpawnableList, WithOneRelated,
    WithRelated,
};
#[cfg(feature = "serde")]
pub(crate) use many::saving::Aside;
#[cfg(feature = "serde")]
pub use many::saving::edge_saving;
pub use many::{LinkedBy, Links, describe_linked_by, describe_links};
pub use spawner::{ChildSpawner, ChildSpawnerCommands, RelatedSpawner, RelatedSpawnerCommands};
#[cfg(feature = "serde")]
pub(crate) use upkeep::Relink;
pub(crate) use upkeep::{Declared, Relations};
pub use upkeep::{describe_relationship, describe_relationship_target};

mod cascade;
mod children;
mod despawn;
mod direct;
mod lists;
mod many;
mod recorded;
mod related;
mod spawner;
mod upkeep;

/// How many entities of a path a message names at its beginning and at its end.
const NAMED: usize = 8;

/// Why an entity cannot point at another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// The target is dead.
    DeadTarget {
        /// The relation.
        relation: String,
        /// The entity that would point.
        source: Entity,
        /// Its target.
        target: Entity,
    },
    /// The entity that would point is dead.
    DeadSource {
        /// The relation.
        relation: String,
        /// The entity that would point.
        source: Entity,
        /// Its target.
        target: Entity,
    },
    /// The entity would point at itself.
    ItsOwnTarget {
        /// The relation.
        relation: String,
        /// The entity.
        entity: Entity,
    },
    /// The link would close a cycle.
    Cycle {
        /// The relation.
        relation: String,
        /// The cycle, from the source over its new target back to the source, which is not repeated.
        path: Vec<Entity>,
    },
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeadTarget { relation, source, target } => write!(
                f,
                "{source} cannot have `{relation}({target})`: {target} does not exist, so the link is refused"
            ),
            Self::DeadSource { relation, source, target } => {
                write!(f, "{source} cannot have `{relation}({target})`: {source} does not exist")
            }
            Self::ItsOwnTarget { relation, entity } => write!(
                f,
                "{entity} cannot have `{relation}({entity})`: it would point at itself, so the link is refused. \
                 If it may, add `allow_self_referential` to `#[relationship(..)]`"
            ),
            Self::Cycle { relation, path } => {
                write!(f, "{} cannot have `{relation}({})`: it would close the cycle ", path[0], path[1])?;
                for (at, entity) in path.iter().enumerate() {
                    if at == NAMED && path.len() > 2 * NAMED {
                        write!(f, ".. ({} more) .. -> ", path.len() - 2 * NAMED)?;
                    }
                    if at < NAMED || at + NAMED >= path.len() {
                        write!(f, "{entity} -> ")?;
                    }
                }
                write!(
                    f,
                    "{}, so it is refused. If cycles mean something, add `cyclic` to `#[relationship(..)]`",
                    path[0]
                )
            }
        }
    }
}

impl std::error::Error for LinkError {}

impl World {
    /// Whether an entity may point at another one: the target lives, and no cycle comes of it where none may be.
    ///
    /// A source that none points at, and a target that points at none, are accepted at once; otherwise the way from
    /// the target upwards is walked.
    ///
    /// # Errors
    /// Says why not; a cycle is named.
    pub fn check_link<R: Relationship>(&self, source: Entity, target: Entity) -> Result<(), LinkError> {
        // Worked out for errors alone.
        let relation = short_type::<R>;
        // An entity with a list lives.
        if self.sources_of::<R::RelationshipTarget>(target).is_none() && !self.contains(target) {
            return Err(LinkError::DeadTarget { relation: relation(), source, target });
        }
        if source == target {
            let allowed = R::ALLOW_SELF_REFERENTIAL || R::CYCLIC;
            return if allowed {
                Ok(())
            } else {
                Err(LinkError::ItsOwnTarget { relation: relation(), entity: source })
            };
        }
        if R::CYCLIC || !self.has_sources::<R::RelationshipTarget>(source) {
            return Ok(());
        }
        if self.ancestors_of::<R>(target).any(|ancestor| ancestor == source) {
            let up = self.ancestors_of::<R>(target).take_while(|&ancestor| ancestor != source);
            return Err(LinkError::Cycle {
                relation: relation(),
                path: [source, target].into_iter().chain(up).collect(),
            });
        }
        Ok(())
    }

    /// The targets of an entity, their targets, and so on. Ends at an entity that points at itself.
    fn ancestors_of<R: Relationship>(&self, entity: Entity) -> impl Iterator<Item = Entity> + '_ {
        let up = |entity: &Entity| {
            crate::steps::count();
            let target = self.target_of::<R>(*entity)?;
            (target != *entity).then_some(target)
        };
        std::iter::successors(up(&entity), up)
    }

    /// All entities that point at this one over any number of links, nearest first. None is named twice, even where
    /// links form cycles.
    pub(crate) fn descendants_of<S: RelationshipTarget>(&self, entity: Entity) -> Vec<Entity> {
        let mut found: Vec<Entity> = Vec::new();
        let mut seen: Option<HashSet<Entity>> = S::Relationship::CYCLIC.then(|| HashSet::from([entity]));
        let (mut at, mut current) = (0, entity);
        loop {
            if let Some(sources) = self.sources_of::<S>(current) {
                let new = |&source: &Entity| {
                    source != current && seen.as_mut().is_none_or(|seen| seen.insert(source))
                };
                found.extend(sources.iter().filter(new));
            }
            match found.get(at) {
                Some(&next) => current = next,
                None => return found,
            }
            at += 1;
        }
    }
}
