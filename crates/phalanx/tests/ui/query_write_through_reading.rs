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
    world.query::<&mut Health>();
    world.query::<(Entity, &mut Position)>();
    world.query::<Option<&mut Health>>();
    world.query::<&mut position::x>();
    world.query_filtered::<(&Health, (&mut Health,)), With<Health>>();
    let mut state = world.query_state::<&mut Health>();
    state.iter(&world);
    state.query(&world);
}
