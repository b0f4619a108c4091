//! What derived query data yield lives as long as the world is borrowed.

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
    let kept: Vec<HealedItem<'_>> = world.view_mut::<Healed>().into_iter().collect();
    for mut healed in kept {
        healed.health.0 += 1;
    }
    world.spawn(Health(1));

    let query = world.view_mut::<Healed>();
    let one = query.iter().next();
    let other = query.iter().next();
    let _ = (one, other);
}
