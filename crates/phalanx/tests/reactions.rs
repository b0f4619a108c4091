//! What a change calls, in which order, and what it may do: hooks and observers, on every path of structural change.
//!
//! `model` compares random histories with a naive world that works out the events from the differences, `threads` random
//! apps on more and fewer threads, `panics` random histories in which values and handlers panic; the other files are facts, one by one. `PHALANX_MODEL_STEPS` sets the number of steps.
#![forbid(unsafe_code)]

#[path = "common/random.rs"]
mod random;
#[path = "common/steps.rs"]
mod steps;

#[path = "reactions/beyond.rs"]
mod beyond;
#[path = "reactions/forms.rs"]
mod forms;
#[path = "reactions/groups.rs"]
mod groups;
#[path = "reactions/hooks.rs"]
mod hooks;
#[path = "reactions/model.rs"]
mod model;
#[path = "reactions/observers.rs"]
mod observers;
#[path = "reactions/panics.rs"]
mod panics;
#[path = "reactions/paths.rs"]
mod paths;
#[path = "reactions/removed.rs"]
mod removed;
#[path = "reactions/rounds.rs"]
mod rounds;
#[path = "reactions/threads.rs"]
mod threads;
