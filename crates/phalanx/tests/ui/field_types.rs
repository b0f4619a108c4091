//! A column has the type of its field, a value the type of its component, and two components are two types.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f32,
}

fn main() {
    let mut world = World::new();
    let entity = world.spawn(Position { x: 1.0, y: 2.0 }).id();
    let _: Option<&f64> = world.get::<position::x>(entity);
    let _: Option<Velocity> = world.get::<Position>(entity).map(|row| row.get());
    for position in world.view::<&Position>().chunks() {
        let _: &[f64] = position.x;
    }
    world.entity_mut(entity).insert(Position { x: 1, y: 2.0 });
}
