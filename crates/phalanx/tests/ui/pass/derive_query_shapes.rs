//! Structs of each shape as query data and filters.

use phalanx::prelude::{Component, Entity, QueryData, QueryFilter, With, World};

#[derive(Component)]
struct Part(u8);

#[derive(QueryData)]
struct Named {
    part: &'static Part,
}

#[derive(QueryData)]
struct Numbered(&'static Part, Entity);

#[derive(QueryData)]
struct Lent<'w> {
    part: &'w Part,
}

#[derive(QueryFilter)]
struct NamedFilter {
    _part: With<Part>,
}

#[derive(QueryFilter)]
struct NumberedFilter(With<Part>);

#[derive(QueryFilter)]
struct Everything;

pub fn main() {
    let world = World::new();
    for item in world.view_filtered::<Named, NamedFilter>() {
        let _ = item.part.0;
    }
    for NumberedItem(part, _) in world.view_filtered::<Numbered, NumberedFilter>() {
        let _ = part.0;
    }
    for item in world.view_filtered::<Lent, Everything>() {
        let _ = item.part.0;
    }
}
