//! Saving and loading worlds: that a loaded world is the saved one, in every form, and that nothing that is read can
//! do harm. Needs the feature `serde`, which tests always have.

#[path = "common/counting.rs"]
mod counting;
#[path = "common/random.rs"]
mod random;
#[path = "common/steps.rs"]
mod steps;

#[path = "save/app.rs"]
mod app;
#[path = "save/cast.rs"]
mod cast;
#[path = "save/dump.rs"]
mod dump;
#[path = "save/edges.rs"]
mod edges;
#[path = "save/facts.rs"]
mod facts;
#[path = "save/files.rs"]
mod files;
#[path = "save/fuzz.rs"]
mod fuzz;
#[path = "save/harsh.rs"]
mod harsh;
#[path = "save/hostile.rs"]
mod hostile;
#[path = "save/into.rs"]
mod into;
#[path = "save/memory.rs"]
mod memory;
#[path = "save/model.rs"]
mod model;
