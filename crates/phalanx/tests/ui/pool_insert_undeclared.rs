//! A component that the pool does not declare cannot be inserted through its writer, alone or in a bundle.
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
    let orc = world.spawn_in(Orcs { position: Position { x: 1.0 }, health: Health(1), rage: None });
    let mut orcs = world.pool_mut::<Orcs>();
    let _ = orcs.insert(orc, Wings);
    let _ = orcs.insert(orc, (Health(1), Wings));
    let _ = world.migrate_with::<General, Orcs, _>(orc, Wings);
}
