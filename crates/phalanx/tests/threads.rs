//! Where threads meet: parallel queries and schedules, which give the same for every number of threads, and handles by
//! which other threads reach a world.
//!
//! The thread sanitizer runs this program.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod cast;
    pub mod random;
}

#[path = "threads/determinism.rs"]
mod determinism;
#[path = "threads/disjoint.rs"]
mod disjoint;
#[path = "threads/queries.rs"]
mod queries;
#[path = "threads/remote.rs"]
mod remote;
#[path = "threads/schedules.rs"]
mod schedules;
