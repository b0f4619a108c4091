//! Chunks through a derived filter that decides per archetype.

use phalanx::prelude::{Component, QueryFilter, With, World};

#[derive(Component)]
#[component(track = "row")]
struct Health(u32);

#[derive(QueryFilter)]
struct Healthy {
    _has: With<Health>,
}

pub fn main() {
    let mut world = World::new();
    world.spawn(Health(1));
    for slice in world.view_filtered::<&Health, Healthy>().chunks() {
        let slice: &[Health] = slice;
        assert_eq!(slice[0].0, 1);
    }
}
