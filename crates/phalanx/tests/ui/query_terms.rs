//! What is no data or no filter is refused with a hint at what is.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
}

struct Plain(u32);

fn main() {
    let world = World::new();
    world.query::<Health>();
    world.query::<(Entity, Health)>();
    world.query::<&Plain>();
    world.query::<Has<Plain>>();
    world.query::<With<Health>>();
    world.query_filtered::<&Health, Health>();
    world.query_filtered::<&Health, &Health>();
    world.query_filtered::<&Health, With<Plain>>();
    world.query_filtered::<&Health, Without<position::x>>();
    world.query_filtered::<&Health, AnyOf<(With<Health>,)>>();
}
