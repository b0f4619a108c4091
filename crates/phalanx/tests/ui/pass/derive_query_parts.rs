//! Fields that are query data, and fields that are filters.

use phalanx::prelude::{Changed, Component, Has, QueryData, QueryFilter, With};

#[derive(Component)]
#[component(track = "row")]
struct Part(u8);

#[derive(QueryData)]
struct ByReference {
    part: &'static Part,
}

#[derive(QueryData)]
#[query_data(mutable)]
struct Writing {
    part: &'static mut Part,
}

#[derive(QueryData)]
struct Asking {
    part: ByReference,
    other: Has<Part>,
}

#[derive(QueryFilter)]
struct Tracked {
    other: With<Part>,
    part: Changed<Part>,
}

pub fn main() {
    let _ = Part(1).0;
}
