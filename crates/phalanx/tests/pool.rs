//! Pools: closed kinds of entities, fact by fact and against a naive model.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod faults;
    pub mod ledger;
    pub mod pool_kinds;
    pub mod random;
    pub mod steps;
}

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
