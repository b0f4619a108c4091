//! A type that is dropped as a whole cannot be kept in pieces.

use phalanx::prelude::Component;

#[derive(Component)]
#[component(layout = "soa")]
struct Guard {
    x: u8,
}

impl Drop for Guard {
    fn drop(&mut self) {}
}

fn main() {}
