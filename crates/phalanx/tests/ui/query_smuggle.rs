//! Hazard 31: closures that only look at items cannot carry them off.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn out_of_a_sort_key<'w>(query: &Query<'w, 'w, &'static Health>) {
    let mut stolen: Vec<&Health> = Vec::new();
    query.sort_by_key(|health| {
        stolen.push(health);
        health.0
    });
    let _ = stolen;
}

fn out_of_a_writing_sort_key(query: &mut Query<'_, '_, &'static mut Health>) {
    let mut stolen: Option<&Health> = None;
    let sorted = query.sort_by_key_mut(|health| {
        stolen = Some(health);
        health.0
    });
    for mut health in sorted {
        health.0 = 1;
    }
    let _ = stolen;
}

fn as_the_key_itself(query: &Query<'_, '_, &'static Health>) {
    query.sort_by_key(|health| &health.0);
}

fn out_of_a_table(world: &mut World, id: phalanx::ComponentId) {
    let query = world.query_builder().with(id).build();
    let mut stolen = Vec::new();
    query.for_each_table_mut(world, |mut table| {
        stolen.extend(table.column_mut::<Health>(id, ""));
    });
    let _ = stolen;
}

fn the_table_itself(world: &mut World, id: phalanx::ComponentId) {
    let query = world.query_builder().with(id).build();
    let mut stolen = Vec::new();
    query.for_each_table_mut(world, |table| stolen.push(table));
    let _ = stolen;
}

fn main() {}
