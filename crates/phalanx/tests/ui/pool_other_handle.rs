//! A handle names entities of its own pool.
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

fn main() {
    let mut world = World::new();
    let elf = world.spawn_in(Elves { health: Health(1), wings: None });
    let mut handle = world.pool::<Elves>().handle(elf).unwrap();
    let _ = world.pool::<Orcs>().get::<Health>(handle);
    let _ = world.pool::<Orcs>().get::<Health>(&mut handle);
    let _: Handle<Orcs> = handle;
}
