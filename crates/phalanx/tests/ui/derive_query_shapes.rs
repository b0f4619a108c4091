//! Types that cannot be query data or filters.

use phalanx::prelude::{Component, QueryData, QueryFilter, With};

#[derive(Component)]
struct Part(u8);

#[derive(QueryData)]
enum Choice {
    A(&'static Part),
}

#[derive(QueryData)]
union Either {
    a: &'static Part,
}

#[derive(QueryData)]
struct Nothing;

#[derive(QueryData)]
#[query_data(mutable)]
struct Empty {}

#[derive(QueryData)]
struct OnField {
    #[query_data(mutable)]
    part: &'static mut Part,
}

#[derive(QueryFilter)]
enum Never {}

#[derive(QueryFilter)]
union Mixed {
    a: std::mem::ManuallyDrop<With<Part>>,
}

#[derive(QueryFilter)]
struct OnFilter(#[query_filter(crate = "phalanx")] With<Part>);

fn main() {}
