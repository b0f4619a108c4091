//! Writing through what `mutable` query data yield for writing.

use phalanx::prelude::{Component, QueryData, World};

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
#[query_data(mutable)]
struct Healed {
    health: &'static mut Health,
}

pub fn main() {
    let mut world = World::new();
    world.spawn(Health(1));
    let mut query = world.view_mut::<Healed>();
    for mut healed in query.iter_mut() {
        healed.health.0 += 1;
    }
    for healed in query.iter() {
        assert_eq!(healed.health.0, 2);
    }
}
