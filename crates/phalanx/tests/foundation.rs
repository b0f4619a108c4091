//! What entities, components, bundles, archetypes and the world do, fact by fact.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod faults;
    pub mod ledger;
    pub mod random;
    pub mod steps;
    pub mod zoo;
}

#[path = "foundation/archetypes.rs"]
mod archetypes;
#[path = "foundation/bundles.rs"]
mod bundles;
#[path = "foundation/entities.rs"]
mod entities;
#[path = "foundation/seeds.rs"]
mod seeds;
#[path = "foundation/spawn_at.rs"]
mod spawn_at;
#[path = "foundation/spawn_one_by_one.rs"]
mod spawn_one_by_one;
#[path = "foundation/world.rs"]
mod world;
