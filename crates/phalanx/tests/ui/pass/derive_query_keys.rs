//! Each key of `#[query_data(..)]` and `#[query_filter(..)]`, in one piece and in several.

use phalanx::prelude::{Component, Entity, QueryData, QueryFilter, With};

#[derive(Component)]
struct Part(u8);

#[derive(QueryData)]
#[query_data()]
struct Empty(Entity);

#[derive(QueryData)]
#[query_data(mutable, crate = "phalanx")]
struct Both(Entity);

#[derive(QueryData)]
#[query_data(crate = "::phalanx")]
#[query_data(mutable)]
struct Pieces(Entity);

#[derive(QueryFilter)]
#[query_filter(crate = "phalanx")]
struct Filter(With<Part>);

pub fn main() {
    let _ = Part(1).0;
}
