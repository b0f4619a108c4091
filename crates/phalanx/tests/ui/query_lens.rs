//! A lens borrows its query, and what a lens, a sorted query or a unique list lends borrows it, too.

use phalanx::prelude::*;

#[derive(Component, PartialEq, Eq, PartialOrd, Ord)]
struct Health(u32);

fn two_lenses(mut query: Query<&mut Health>) {
    let mut first = query.transmute_lens::<&mut Health>();
    let mut second = query.transmute_lens::<&mut Health>();
    first.query().iter_mut().count();
    second.query().iter_mut().count();
}

fn two_queries_of_a_lens(mut query: Query<&mut Health>) {
    let mut lens = query.transmute_lens::<&mut Health>();
    let mut first = lens.query();
    let mut second = lens.query();
    first.iter_mut().count();
    second.iter_mut().count();
}

fn query_beside_its_lens(mut query: Query<&mut Health>) {
    let mut lens = query.transmute_lens::<&Health>();
    query.iter_mut().count();
    lens.query().iter().count();
}

fn join_beside_its_queries(mut first: Query<&mut Health>, mut second: Query<&mut Health>) {
    let mut both: QueryLens<&mut Health> = first.join(&mut second);
    second.iter_mut().count();
    both.query().iter_mut().count();
}

fn sorted_beside_its_query(mut query: Query<&mut Health>) {
    let sorted: Vec<Mut<Health>> = query.iter_mut().sort::<&Health>().collect();
    query.iter_mut().count();
    drop(sorted);
}

fn keys_that_stay(query: Query<&Health>) {
    let mut kept: Vec<&Health> = Vec::new();
    query.iter().sort_by_key::<&Health, _>(|health| {
        kept.push(health);
        0
    });
}

fn unique_beside_its_query(mut query: Query<&mut Health>, entity: Entity) {
    let rows: Vec<_> = query.iter_many_unique_mut([entity]).collect();
    query.iter_mut().count();
    drop(rows);
}

fn a_writing_query_is_no_copy(query: Query<&mut Health>) {
    let again = query;
    query.iter().count();
    again.iter().count();
}

fn main() {}
