//! Keys and values that `#[query_data(..)]` and `#[query_filter(..)]` do not have.

use phalanx::prelude::{Component, Entity, QueryData, QueryFilter, With};

#[derive(Component)]
struct Part(u8);

#[derive(QueryData)]
#[query_data]
struct Bare(Entity);

#[derive(QueryData)]
#[query_data(mutable = "yes")]
struct Valued(Entity);

#[derive(QueryData)]
#[query_data(mutable, crate = "phalanx", mutable)]
struct Twice(Entity);

#[derive(QueryData)]
#[query_data(derive(Debug))]
struct Unknown(Entity);

#[derive(QueryData)]
#[query_data(crate)]
struct Missing(Entity);

#[derive(QueryData)]
#[query_data(mutable crate = "phalanx")]
struct Comma(Entity);

#[derive(QueryFilter)]
#[query_filter(mutable)]
struct Writing(With<Part>);

#[derive(QueryFilter)]
#[query_filter]
struct BareFilter(With<Part>);

fn main() {}
