//! What apps do: frames, time, plugins, states, errors, tools and closures sent from other threads.
#![forbid(unsafe_code)]

#[path = "common/all.rs"]
mod common;

#[path = "app/errors.rs"]
mod errors;
#[path = "app/frames.rs"]
mod frames;
#[path = "app/plugins.rs"]
mod plugins;
#[path = "app/states.rs"]
mod states;
#[path = "app/time.rs"]
mod time;
#[path = "app/tools.rs"]
mod tools;
