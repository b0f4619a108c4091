//! Chunks through a derived filter that decides row by row.

use phalanx::prelude::{Changed, Component, QueryFilter, With, World};

#[derive(Component)]
#[component(track = "row")]
struct Health(u32);

#[derive(QueryFilter)]
struct Hurt {
    _has: With<Health>,
    _hit: Changed<Health>,
}

fn main() {
    let world = World::new();
    for slice in world.view_filtered::<&Health, Hurt>().chunks() {
        let _: &[Health] = slice;
    }
}
