//! `Changed`, `Added` and `Ref` need row ticks, and the message says which attribute gives them.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
#[component(track = "none")]
struct Quiet(u32);

#[derive(Component)]
struct Cold;

fn main() {
    let world = World::new();
    world.query_filtered::<&Health, Changed<Health>>();
    world.query_filtered::<Entity, Added<Quiet>>();
    world.query_filtered::<Entity, Or<(With<Health>, Changed<Cold>)>>();
    world.query::<Ref<Health>>();
}
