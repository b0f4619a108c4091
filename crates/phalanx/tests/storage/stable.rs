//! The facts, with every component but one in stable sparse sets.

cast!(storage = "sparse", stable);

pub const KIND: phalanx::prelude::StorageKind = phalanx::prelude::StorageKind::Stable;

#[path = "facts.rs"]
mod facts;
