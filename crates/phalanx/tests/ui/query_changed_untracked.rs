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
    world.view_filtered::<&Health, Changed<Health>>();
    world.view_filtered::<Entity, Added<Quiet>>();
    world.view_filtered::<Entity, Or<(With<Health>, Changed<Cold>)>>();
    world.view::<Ref<Health>>();
}
