//! Fields that are no query data, and fields that are no filters.

use phalanx::prelude::{Changed, Component, QueryData, QueryFilter, With};

#[derive(Component)]
struct Part(u8);

struct Stranger(u8);

#[derive(QueryData)]
struct ByValue {
    part: Part,
}

#[derive(QueryData)]
#[query_data(mutable)]
struct NoComponent {
    part: &'static mut Part,
    stranger: &'static mut Stranger,
}

#[derive(QueryData)]
struct Filtering {
    part: &'static Part,
    other: With<Part>,
}

#[derive(QueryFilter)]
struct Asking {
    part: &'static Part,
}

#[derive(QueryFilter)]
struct Untracked {
    other: With<Part>,
    part: Changed<Part>,
}

fn main() {}
