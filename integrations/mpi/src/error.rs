//! What can go wrong between ranks, in words.

use std::fmt;

use phalanx::prelude::Entity;

use crate::ids::GlobalId;

/// Why ranks cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterError {
    /// A rank is gone.
    Lost {
        /// The rank that noticed.
        here: usize,
        /// The rank that is gone.
        rank: usize,
    },
    /// Entities have components that are not listed, and would lose them.
    Unlisted {
        /// The names of the components.
        components: Vec<String>,
    },
    /// An entity that leaves is linked with one that has no [`GlobalId`], and could not be found again.
    Nameless {
        /// The relation.
        relation: String,
        /// The entity that leaves.
        entity: Entity,
        /// The one without an id.
        other: Entity,
    },
    /// Entities that met again on a rank could not be linked: what was linked meanwhile forbids it.
    Relink {
        /// The relation.
        relation: String,
        /// The target of the link.
        target: GlobalId,
    },
    /// What a rank sent, or a file holds, cannot be read.
    Damaged {
        /// Where it came from.
        source: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file cannot be written or read.
    File {
        /// Its path.
        path: String,
        /// What the system said.
        message: String,
    },
}

impl ClusterError {
    pub(crate) fn damaged(source: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::Damaged { source: source.to_string(), message: message.to_string() }
    }

    pub(crate) fn file(path: &std::path::Path, message: impl fmt::Display) -> Self {
        Self::File { path: path.display().to_string(), message: message.to_string() }
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { here, rank } => write!(
                f,
                "rank {rank} is gone, as rank {here} noticed: restart from the last checkpoint, on any number of ranks"
            ),
            Self::Unlisted { components } => write!(
                f,
                "entities that move have `{}`, which would be lost: list what travels with `plain`, `saved` or `relation`, \
                 and what may be lost with `leave`",
                components.join("`, `")
            ),
            Self::Nameless { relation, entity, other } => write!(
                f,
                "{entity} moves, and `{relation}` links it with {other}, which has no `GlobalId`: give it one, or a `Newborn`"
            ),
            Self::Relink { relation, target } => write!(
                f,
                "`{relation}` to {target:?} cannot be linked again: another link forbids it, such as one that closes a cycle"
            ),
            Self::Damaged { source, message } => write!(f, "{source} cannot be read: {message}"),
            Self::File { path, message } => write!(f, "{path}: {message}"),
        }
    }
}

impl std::error::Error for ClusterError {}
