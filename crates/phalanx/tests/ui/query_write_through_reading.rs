//! Hazard 30: a shared world lends no write access, and the message says where to get it.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
}

fn main() {
    let world = World::new();
    world.view::<&mut Health>();
    world.view::<(Entity, &mut Position)>();
    world.view::<Option<&mut Health>>();
    world.view::<&mut position::x>();
    world.view_filtered::<(&Health, (&mut Health,)), With<Health>>();
    let mut state = world.query::<&mut Health>();
    state.iter_mut(&world);
    state.query_mut(&world);
}
