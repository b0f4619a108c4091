//! What the derives make: components, query data, and components in a world.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod movers;
}

#[path = "derives/components.rs"]
mod components;
#[path = "derives/expressions.rs"]
mod expressions;
#[path = "derives/in_a_world.rs"]
mod in_a_world;
#[path = "derives/query_data.rs"]
mod query_data;
