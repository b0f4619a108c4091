//! Sparse sets and groups, fact by fact, with holes, panics and a naive model.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

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
