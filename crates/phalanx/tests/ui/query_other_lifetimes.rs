//! Hazard 31: a query cannot be asked for items that live longer than the borrow by naming a lifetime.

use phalanx::prelude::*;
use phalanx::query::{QueryData, QueryTables};

#[derive(Component)]
struct Health(u32);

fn longer<'w>(query: Query<'w, 'w, &'static mut Health>) -> Query<'static, 'static, &'static mut Health> {
    query
}

fn longer_tables<'w>(tables: QueryTables<'w, &'static Health>) -> QueryTables<'static, &'static Health> {
    tables
}

fn longer_item<'w>(item: <&'static Health as QueryData>::Item<'w>) -> &'static Health {
    item
}

fn longer_name(world: &World) -> Option<&'static Health> {
    world.view::<&'static Health>().into_iter().next()
}

fn main() {}
