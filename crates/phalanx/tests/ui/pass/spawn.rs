//! The same with the derive in place.

use phalanx::prelude::{Component, World};

#[derive(Component)]
struct Marker;

fn main() {
    World::new().spawn(Marker);
}
