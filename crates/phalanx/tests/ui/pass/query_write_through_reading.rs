//! A shared world lends read access, an exclusive one write access.

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
    world.spawn((Health(1), Position { x: 1.0 }));
    world.query::<&Health>();
    world.query_mut::<&mut Health>().into_iter().for_each(|mut health| health.0 += 1);
    world.query::<(Entity, &Position)>();
    world.query_mut::<(Entity, &mut Position)>();
    world.query::<Option<&Health>>();
    world.query_mut::<Option<&mut Health>>();
    world.query::<&position::x>();
    world.query_mut::<&mut position::x>();
    world.query_filtered::<(&Health, (&Health,)), With<Health>>();
    let mut state = world.query_state::<&mut Health>();
    state.iter_mut(&mut world).count();
    state.query_mut(&mut world).iter().count();
}
