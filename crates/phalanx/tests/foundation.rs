//! What entities, components, bundles, archetypes and the world do, fact by fact.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

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
