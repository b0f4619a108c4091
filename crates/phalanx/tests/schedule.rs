//! In which order systems run, and under which conditions.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod random;
    pub mod steps;
}

#[path = "schedule/conditions.rs"]
mod conditions;
#[path = "schedule/labels.rs"]
mod labels;
#[path = "schedule/order.rs"]
mod order;
#[path = "schedule/sync.rs"]
mod sync;
#[path = "schedule/tools.rs"]
mod tools;
