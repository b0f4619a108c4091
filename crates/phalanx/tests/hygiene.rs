//! Derived code works whatever surrounds it.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

#[path = "hygiene/components.rs"]
pub mod components;
#[path = "hygiene/query_data.rs"]
pub mod query_data;
