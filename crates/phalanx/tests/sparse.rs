//! Sparse sets and groups, fact by fact, with holes, panics and a naive model.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod faults;
    pub mod ledger;
    pub mod pool_kinds;
    pub mod random;
    pub mod sparse_twins;
    pub mod steps;
}

#[path = "sparse/groups.rs"]
mod groups;
#[path = "sparse/open.rs"]
mod open;
#[path = "sparse/panics.rs"]
mod panics;
#[path = "sparse/queries.rs"]
mod queries;
#[path = "sparse/stable.rs"]
mod stable;
#[path = "sparse/storage.rs"]
mod storage;
#[path = "sparse/writer.rs"]
mod writer;
