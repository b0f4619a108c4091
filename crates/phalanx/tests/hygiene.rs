//! Derived code works whatever surrounds it.
#![forbid(unsafe_code)]

mod common {
    pub mod movers;
}

#[path = "hygiene/components.rs"]
pub mod components;
#[path = "hygiene/query_data.rs"]
pub mod query_data;
