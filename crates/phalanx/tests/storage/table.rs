//! The facts, with every component in tables.

cast!(storage = "table");

pub const KIND: phalanx::prelude::StorageKind = phalanx::prelude::StorageKind::Table;

#[path = "facts.rs"]
mod facts;
