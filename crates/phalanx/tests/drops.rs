//! Every value is dropped once, whatever panics.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

#[path = "drops/faults.rs"]
mod faults;
#[path = "drops/several.rs"]
mod several;
