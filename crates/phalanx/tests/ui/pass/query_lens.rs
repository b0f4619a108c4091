//! One lens at a time, and everything given back before the next.

use phalanx::prelude::*;

#[derive(Component, PartialEq, Eq, PartialOrd, Ord)]
struct Health(u32);

fn two_lenses(mut query: Query<&mut Health>) {
    let mut first = query.transmute_lens::<&mut Health>();
    first.query().iter_mut().count();
    let mut second = query.transmute_lens::<&mut Health>();
    second.query().iter_mut().count();
}

fn two_queries_of_a_lens(mut query: Query<&mut Health>) {
    let mut lens = query.transmute_lens::<&mut Health>();
    lens.query().iter_mut().count();
    lens.query().iter_mut().count();
    query.iter_mut().count();
}

fn sorted(mut query: Query<&mut Health>) {
    let sorted: Vec<Mut<Health>> = query.iter_mut().sort::<&Health>().collect();
    drop(sorted);
    let mut kept: Vec<u32> = Vec::new();
    query.iter().sort_by_key::<&Health, _>(|health| {
        kept.push(health.0);
        0
    });
}

fn a_reading_query_is_a_copy(query: Query<&Health>) {
    let again = query;
    query.iter().count();
    again.iter().count();
}

pub fn main() {
    let mut world = World::new();
    world.spawn(Health(1));
    world.run_system_once(two_lenses).expect("it runs");
    world.run_system_once(two_queries_of_a_lens).expect("it runs");
    world.run_system_once(sorted).expect("it runs");
    world.run_system_once(a_reading_query_is_a_copy).expect("it runs");
}
