//! Pools of every allowed shape.
use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Pool)]
#[pool(storage = "boxed", name = "all", capacity = 10)]
struct All {
    health: Health,
}

#[derive(Pool)]
struct Nothing {}

#[derive(Pool)]
struct Paths {
    health: ::core::option::Option<self::Health>,
}

pub fn main() {
    let mut world = World::new();
    let entity = world.spawn_in(All { health: Health(1) });
    assert_eq!(world.get::<Health>(entity).unwrap().0, 1);
    world.spawn_in(Nothing {});
    world.spawn_in(Paths { health: None });
    assert_eq!(world.register_pool::<General>(), phalanx::pool::PoolId::GENERAL);
}
