//! What the derives make: components, query data, and components in a world.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

#[path = "derives/components.rs"]
mod components;
#[path = "derives/expressions.rs"]
mod expressions;
#[path = "derives/in_a_world.rs"]
mod in_a_world;
#[path = "derives/query_data.rs"]
mod query_data;
