//! Fields that write in query data that are `mutable`, and the halves of these where only reading is possible.

use phalanx::prelude::{Component, Entity, QueryData, World};

#[derive(Component)]
struct Health(u32);

#[derive(QueryData)]
#[query_data(mutable)]
struct Remembered {
    entity: Entity,
    other: (Entity, Option<&'static mut Health>),
}

#[derive(QueryData)]
#[query_data(mutable)]
struct Healed {
    health: &'static mut Health,
}

#[derive(QueryData)]
struct Seen {
    entity: Entity,
    healed: HealedReadOnly,
}

#[derive(QueryData)]
struct Parameter<D: QueryData>(D);

pub fn main() {
    let mut world = World::new();
    for mut healed in world.view_mut::<Healed>() {
        healed.health.0 += 1;
    }
    for seen in world.view::<Seen>() {
        let _ = (seen.entity, seen.healed.health.0);
    }
    for item in world.view_mut::<Remembered>() {
        let _ = (item.entity, item.other);
    }
    world.view::<Parameter<&Health>>();
    world.view::<Parameter<HealedReadOnly>>();
}
