//! Columns, values and components with the types they have.

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

pub fn main() {
    let mut world = World::new();
    let entity = world.spawn((Position { x: 1.0, y: 2.0 }, Velocity { x: 3.0, y: 4.0 })).id();
    let _: Option<&f32> = world.get::<position::x>(entity);
    let _: Option<Velocity> = world.get::<Velocity>(entity).map(|row| row.get());
    for position in world.view::<&Position>().chunks() {
        let _: &[f32] = position.x;
    }
    world.entity_mut(entity).insert(Position { x: 1.0, y: 2.0 });
}
