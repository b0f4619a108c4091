//! Ids that mean the same entity on every rank.

use bytemuck::{Pod, Zeroable};
use phalanx::prelude::*;
use serde::{Deserialize, Serialize};

/// The id of an entity on all ranks. It stays when the entity moves to another rank.
///
/// Give the entities that a program begins with numbers of your own, the same on any number of ranks, and those that come
/// later a [`Newborn`].
#[derive(
    Component, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable,
)]
#[component(save, name = "phalanx.mpi.GlobalId")]
#[repr(transparent)]
pub struct GlobalId(pub u64);

/// An entity that was spawned since the last exchange, and gets its [`GlobalId`] there.
///
/// All newborns of all ranks are numbered in the order of their parents' ids, and of `nth` among those of one parent: so
/// ids do not depend on which rank spawned what.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[component(name = "phalanx.mpi.Newborn")]
pub struct Newborn {
    /// The entity that spawned it.
    pub parent: GlobalId,
    /// The how-manyth it is in this frame.
    pub nth: u32,
}
