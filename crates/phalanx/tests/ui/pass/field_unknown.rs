//! The fields of a component can be asked for, each by its name.

use phalanx::prelude::*;

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

pub fn main() {
    let mut world = World::new();
    let entity = world.spawn(Position { x: 1.0, y: 2.0 }).id();
    assert_eq!(world.get::<position::x>(entity), Some(&1.0));
}
