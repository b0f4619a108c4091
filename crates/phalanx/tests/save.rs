//! Saving and loading worlds: that a loaded world is the saved one, in every form, and that nothing that is read can
//! do harm. Needs the feature `serde`, which tests always have.

#[path = "common/random.rs"]
mod random;

#[path = "save/cast.rs"]
mod cast;
#[path = "save/dump.rs"]
mod dump;
#[path = "save/facts.rs"]
mod facts;
#[path = "save/files.rs"]
mod files;
#[path = "save/hostile.rs"]
mod hostile;
#[path = "save/into.rs"]
mod into;
#[path = "save/model.rs"]
mod model;
