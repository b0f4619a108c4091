//! All required components are given.
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

pub fn main() {
    let mut world = World::new();
    let orc = world.spawn_in(Orcs { position: Position { x: 1.0 }, health: Health(1), rage: None });
    assert!(world.get::<Health>(orc).is_some_and(|health| health.0 == 1));
    assert!(world.get::<Position>(orc).is_some_and(|position| position.x == 1.0));
    world.insert(orc, Rage(1.0)).unwrap();
    assert!(world.get::<Rage>(orc).is_some_and(|rage| rage.0 == 1.0));
    world.spawn(Wings);
}
