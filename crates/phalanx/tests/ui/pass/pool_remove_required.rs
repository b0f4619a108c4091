//! Optional components can be removed.
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
    let mut orcs = world.pool_mut::<Orcs>();
    assert!(!orcs.remove::<Rage>(orc).unwrap());
    assert!(orcs.take::<Rage>(orc).unwrap().is_none_or(|rage| rage.0 == 0.0));
    assert_eq!((orcs.get::<Health>(orc).unwrap().0, orcs.get::<Position>(orc).unwrap().x), (1, 1.0));
    world.spawn(Wings);
}
