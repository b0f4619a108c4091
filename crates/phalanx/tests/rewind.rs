//! Digests, differences, checkpoints and history: what they promise, fact by fact.

#[path = "rewind/app.rs"]
mod app;
#[path = "rewind/checkpoint.rs"]
mod checkpoint;
#[path = "rewind/commute.rs"]
mod commute;
#[path = "rewind/digest.rs"]
mod digest;
#[path = "rewind/model.rs"]
mod model;
#[path = "rewind/panics.rs"]
mod panics;
#[path = "rewind/parts.rs"]
mod parts;
#[path = "common/random.rs"]
mod random;
#[path = "rewind/reactions.rs"]
mod reactions;
#[path = "rewind/states.rs"]
mod states;
#[path = "common/steps.rs"]
mod steps;
#[path = "rewind/tables.rs"]
mod tables;
#[path = "rewind/within.rs"]
mod within;
