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
    world.view::<Health>();
    world.view::<(Entity, Health)>();
    world.view::<&Plain>();
    world.view::<Has<Plain>>();
    world.view::<With<Health>>();
    world.view_filtered::<&Health, Health>();
    world.view_filtered::<&Health, &Health>();
    world.view_filtered::<&Health, With<Plain>>();
    world.view_filtered::<&Health, Without<position::x>>();
    world.view_filtered::<&Health, AnyOf<(Health,)>>();
}
