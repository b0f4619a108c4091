//! Derived code works whatever surrounds it.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod movers;
}

#[path = "hygiene/components.rs"]
pub mod components;
#[path = "hygiene/query_data.rs"]
pub mod query_data;
