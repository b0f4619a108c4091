//! A handle is taken by its own pool; its entity by every pool.
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

#[derive(Pool)]
struct Elves {
    health: Health,
    wings: Option<Wings>,
}

pub fn main() {
    let mut world = World::new();
    let elf = world.spawn_in(Elves { health: Health(1), wings: None });
    let mut handle = world.pool::<Elves>().handle(elf).unwrap();
    assert_eq!(world.pool::<Elves>().get::<Health>(handle).unwrap().0, 1);
    assert_eq!(world.pool::<Elves>().get::<Health>(&mut handle).unwrap().0, 1);
    assert!(world.pool::<Orcs>().get::<Health>(handle.entity()).is_err());
    let orc = world.spawn_in(Orcs { position: Position { x: 1.0 }, health: Health(1), rage: None });
    assert_eq!(world.pool::<Orcs>().get::<Position>(orc).unwrap().x, 1.0);
    assert!(world.pool::<Orcs>().get::<Rage>(orc).map(|rage| rage.0).is_err());
}
