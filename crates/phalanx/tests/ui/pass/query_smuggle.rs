//! Items that a query yields may be kept; items that it only shows may be looked at.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn out_of_a_loop<'w>(query: &'w Query<'_, '_, &'static Health>) -> Vec<&'w Health> {
    let mut kept: Vec<&Health> = Vec::new();
    query.iter().for_each(|health| kept.push(health));
    kept
}

fn out_of_a_sort(query: &mut Query<'_, '_, &'static mut Health>) {
    let mut most = 0;
    let sorted: Vec<Mut<Health>> = query
        .sort_by_key_mut(|health| {
            most = most.max(health.0);
            health.0
        })
        .collect();
    for mut health in sorted {
        health.0 = most;
    }
}

fn out_of_a_table(world: &mut World, id: phalanx::ComponentId) -> usize {
    let query = world.query_builder().with(id).build();
    let mut rows = 0;
    query.for_each_table_mut(world, |mut table| {
        rows += table.column_mut::<Health>(id, "").map_or(0, |healths| healths.len());
    });
    rows
}

pub fn main() {
    let mut world = World::new();
    world.spawn_batch([Health(1), Health(2)]);
    assert_eq!(out_of_a_loop(&world.view()).len(), 2);
    out_of_a_sort(&mut world.view_mut());
    let id = world.register_component::<Health>();
    assert_eq!(out_of_a_table(&mut world, id), 2);
}
