//! Pools: closed kinds of entities, fact by fact and against a naive model.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

#[path = "pool/access.rs"]
mod access;
#[path = "pool/basics.rs"]
mod basics;
#[path = "pool/hazards.rs"]
mod hazards;
#[path = "pool/migration.rs"]
mod migration;
#[path = "pool/model.rs"]
mod model;
#[path = "pool/queries.rs"]
mod queries;
#[path = "pool/strategies.rs"]
mod strategies;
