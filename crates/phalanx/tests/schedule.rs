//! In which order systems run, and under which conditions.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

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
