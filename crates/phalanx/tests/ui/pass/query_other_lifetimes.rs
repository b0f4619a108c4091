//! The lifetimes in a query's types are those of the borrow; shorter ones will do.

use phalanx::prelude::*;
use phalanx::query::{QueryData, QueryTables};

#[derive(Component)]
struct Health(u32);

fn shorter<'s, 'w: 's>(query: Query<'w, 'w, &'static mut Health>) -> Query<'s, 's, &'static mut Health> {
    query
}

fn tables<'w>(tables: QueryTables<'w, &'static Health>) -> QueryTables<'w, &'static Health> {
    tables
}

fn item<'w>(item: <&'static Health as QueryData>::Item<'w>) -> &'w Health {
    item
}

fn name(world: &World) -> Option<&Health> {
    world.view::<&'static Health>().into_iter().next()
}

pub fn main() {
    let mut world = World::new();
    world.spawn(Health(1));
    assert_eq!(shorter(world.view_mut()).count(), 1);
    assert_eq!(tables(world.view().into_tables()).count(), 1);
    assert_eq!(name(&world).map(|health| item(health).0), Some(1));
}
