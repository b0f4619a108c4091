//! What derived queries are asked of: three entities that move, one of them with health and one frozen.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(unreachable_pub, reason = "the files deny it to what they derive")]

use phalanx::prelude::{Component, Entity, World};

#[derive(Component, Debug, Clone, PartialEq)]
#[component(layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f32,
}
#[derive(Component, Debug)]
#[component(layout = "soa")]
pub struct Velocity {
    pub x: f32,
    pub y: f32,
}
#[derive(Component, Debug, PartialEq)]
#[component(track = "row")]
pub struct Health(pub u32);
#[derive(Component, Debug)]
pub struct Frozen;
/// As many components as are needed.
#[derive(Component, Debug)]
pub struct Part<const N: u8>(pub u32);

pub fn at(x: f32) -> Position {
    Position { x, y: 0.0 }
}

fn to(x: f32) -> Velocity {
    Velocity { x, y: 1.0 }
}

/// A mover, one with health, and one that is frozen.
pub fn three() -> (World, [Entity; 3]) {
    let mut world = World::new();
    let plain = world.spawn((at(0.0), to(1.0))).id();
    let healthy = world.spawn((at(10.0), to(2.0), Health(3))).id();
    let frozen = world.spawn((at(20.0), to(3.0), Frozen)).id();
    (world, [plain, healthy, frozen])
}
