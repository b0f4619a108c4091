//! Declared components can be inserted, alone or in a bundle.
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
    orcs.insert(orc, Rage(1.0)).unwrap();
    orcs.insert(orc, (Health(1), Rage(2.0))).unwrap();
    assert_eq!(orcs.get::<Rage>(orc).unwrap().0, 2.0);
    assert_eq!((orcs.get::<Health>(orc).unwrap().0, orcs.get::<Position>(orc).unwrap().x), (1, 1.0));
    world.spawn(Wings);
}
