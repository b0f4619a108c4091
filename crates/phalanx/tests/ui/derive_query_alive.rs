//! What derived query data yield borrows from the world.

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
    let kept: Vec<HealedItem<'_>> = world.view_mut::<Healed>().into_iter().collect();
    world.spawn(Health(1));
    for mut healed in kept {
        healed.health.0 += 1;
    }

    let mut query = world.view_mut::<Healed>();
    let one = query.iter_mut().next();
    let other = query.iter_mut().next();
    drop((one, other));
}
