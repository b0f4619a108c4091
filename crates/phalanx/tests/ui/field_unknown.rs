//! A field that a component does not have cannot be asked for.

use phalanx::prelude::*;

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

fn main() {
    let mut world = World::new();
    let entity = world.spawn(Position { x: 1.0, y: 2.0 }).id();
    world.get::<position::z>(entity);
}
