//! The facts, with every component but one in sparse sets.

cast!(storage = "sparse");

pub const KIND: phalanx::prelude::StorageKind = phalanx::prelude::StorageKind::Sparse;

#[path = "facts.rs"]
mod facts;
