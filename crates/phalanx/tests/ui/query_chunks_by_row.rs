//! A filter that decides row by row has no chunks, and the message says what to do.

use phalanx::prelude::*;

#[derive(Component)]
#[component(track = "row")]
struct Health(u32);

fn main() {
    let mut world = World::new();
    world.view_filtered::<&Health, Changed<Health>>().chunks();
    world.view_filtered::<&Health, (With<Health>, Added<Health>)>().tables();
    world.view_filtered_mut::<&mut Health, Or<(Added<Health>, With<Health>)>>().chunks_mut();
    let query = world.view_filtered::<&Health, Changed<Health>>();
    query.chunks_changed_since(Tick::ZERO);
}
