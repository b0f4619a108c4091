//! Data by reference, filters by component.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
}

fn main() {
    let mut world = World::new();
    world.spawn((Health(1), Position { x: 2.0 }));
    assert!(world.query::<&Health>().into_iter().all(|health| health.0 == 1));
    world.query::<(Entity, &Health)>();
    world.query::<Has<Health>>();
    world.query_filtered::<&Health, With<Health>>();
    world.query_filtered::<&Health, Without<Position>>();
    world.query_filtered::<&Health, AnyOf<(Health,)>>();
}
