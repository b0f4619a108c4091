//! Every value is dropped once, whatever panics.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod faults;
    pub mod ledger;
    pub mod zoo;
}

#[path = "drops/faults.rs"]
mod faults;
#[path = "drops/several.rs"]
mod several;
