//! Every value is dropped once, whatever panics.
#![forbid(unsafe_code)]

mod common {
    pub mod faults;
    pub mod ledger;
    pub mod zoo;
}

#[path = "drops/faults.rs"]
mod faults;
#[path = "drops/several.rs"]
mod several;
