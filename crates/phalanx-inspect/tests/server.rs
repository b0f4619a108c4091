//! The inspector against a real socket on loopback: what the interface answers, and whom it lets in.
#![forbid(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

#[path = "server/api.rs"]
mod api;
#[path = "server/client.rs"]
mod client;
#[allow(dead_code, reason = "the tests use a part")]
#[path = "../src/json.rs"]
mod json;
#[path = "server/kinds.rs"]
mod kinds;
#[path = "server/safety.rs"]
mod safety;
#[path = "server/soak.rs"]
mod soak;
#[path = "server/time.rs"]
mod time;
#[path = "server/world.rs"]
mod world;
