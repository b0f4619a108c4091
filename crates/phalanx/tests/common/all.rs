//! What several test programs use, as the module `common` of each.
#![allow(dead_code, unused_macros, unused_imports, reason = "each test program uses a part")]

pub mod cast;
pub mod faults;
pub mod ledger;
pub mod movers;
pub mod pool_kinds;
pub mod random;
pub mod sparse_twins;
pub mod steps;
pub mod zoo;
