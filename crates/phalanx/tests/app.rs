//! What apps do: frames, time, plugins, states, errors, tools and closures sent from other threads.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod random;
    pub mod steps;
}

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
