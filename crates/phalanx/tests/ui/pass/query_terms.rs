//! Data by reference, filters by component.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
}

pub fn main() {
    let mut world = World::new();
    world.spawn((Health(1), Position { x: 2.0 }));
    assert!(world.view::<&Health>().into_iter().all(|health| health.0 == 1));
    world.view::<(Entity, &Health)>();
    world.view::<Has<Health>>();
    world.view_filtered::<&Health, With<Health>>();
    world.view_filtered::<&Health, Without<Position>>();
    world.view_filtered::<&Health, Or<(With<Health>,)>>();
}
