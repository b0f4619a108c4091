//! Writing through what `mutable` query data yield for reading.

use phalanx::prelude::{Component, QueryData, World};

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
#[query_data(mutable)]
struct Healed {
    health: &'static mut Health,
}

fn main() {
    let mut world = World::new();
    for healed in world.view_mut::<Healed>().iter() {
        healed.health.0 += 1;
    }
}
