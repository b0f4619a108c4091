//! What leaves a world and comes back is the same; other programs read what was written.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

#[path = "arrow/checkpoint.rs"]
mod checkpoint;
#[path = "arrow/facts.rs"]
mod facts;
#[path = "arrow/python.rs"]
mod python;
#[path = "arrow/random.rs"]
mod random;
#[path = "arrow/types.rs"]
mod types;
