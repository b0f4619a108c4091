//! A shared world lends read access, an exclusive one write access.

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
    world.spawn((Health(1), Position { x: 1.0 }));
    world.view::<&Health>();
    world.view_mut::<&mut Health>().into_iter().for_each(|mut health| health.0 += 1);
    world.view::<(Entity, &Position)>();
    world.view_mut::<(Entity, &mut Position)>();
    world.view::<Option<&Health>>();
    world.view_mut::<Option<&mut Health>>();
    world.view::<&position::x>();
    world.view_mut::<&mut position::x>();
    world.view_filtered::<(&Health, (&Health,)), With<Health>>();
    let mut state = world.query::<&mut Health>();
    state.iter_mut(&mut world).count();
    state.query_mut(&mut world).iter().count();
}
