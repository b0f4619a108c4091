//! A required component cannot be left out: it is a field of the struct.
use phalanx::prelude::*;

#[derive(Component)]
struct Position {
    x: f32,
}
#[derive(Component)]
struct Health(u32);
#[derive(Component)]
struct Rage(f32);
#[derive(Component)]
struct Wings;

#[derive(Pool)]
struct Orcs {
    position: Position,
    health: Health,
    rage: Option<Rage>,
}

fn main() {
    let mut world = World::new();
    world.spawn_in(Orcs { position: Position { x: 1.0 }, rage: None });
}
