//! Fields that write in query data that are not `mutable`, and writing data where only reading is possible.

use phalanx::prelude::{Component, Entity, QueryData, World};

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
struct Forgotten {
    entity: Entity,
    health: &'static mut Health,
    other: (Entity, Option<&'static mut Health>),
}

#[derive(QueryData)]
#[query_data(mutable)]
struct Healed {
    health: &'static mut Health,
}

#[derive(QueryData)]
struct Hidden {
    entity: Entity,
    healed: Healed,
}

#[derive(QueryData)]
struct Parameter<D: QueryData>(D);

fn main() {
    let world = World::new();
    for healed in world.view::<Healed>() {
        healed.health.0 += 1;
    }
    world.view::<Parameter<&mut Health>>();
}
