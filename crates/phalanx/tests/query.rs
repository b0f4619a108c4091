//! What queries do, fact by fact.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod cast;
    pub mod random;
    pub mod steps;
}

#[path = "query/any_of.rs"]
mod any_of;
#[path = "query/changed_blocks.rs"]
mod changed_blocks;
#[path = "query/chunks.rs"]
mod chunks;
#[path = "query/dynamic.rs"]
mod dynamic;
#[path = "query/entity_ref.rs"]
mod entity_ref;
#[path = "query/lens.rs"]
mod lens;
#[path = "query/matching.rs"]
mod matching;
#[path = "query/rows.rs"]
mod rows;
#[path = "query/single.rs"]
mod single;
#[path = "query/sorted.rs"]
mod sorted;
#[path = "query/spawned.rs"]
mod spawned;
#[path = "query/terms.rs"]
mod terms;
#[path = "query/tracking.rs"]
mod tracking;
