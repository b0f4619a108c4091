//! One writer after the other, or many readers side by side.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Cold;

fn two_queries(world: &mut World) {
    world.view_filtered_mut::<&mut Health, With<Cold>>().into_iter().count();
    world.view_filtered_mut::<&mut Health, Without<Cold>>().into_iter().count();
    let one = world.view_filtered::<&Health, With<Cold>>();
    let two = world.view_filtered::<&Health, Without<Cold>>();
    one.iter().zip(two.iter()).count();
}

fn two_iterations(query: &mut Query<'_, '_, &'static mut Health>) {
    query.iter_mut().count();
    query.iter_mut().count();
}

fn reading_beside_reading(query: &mut Query<'_, '_, &'static mut Health>) {
    let one = query.iter();
    let two = query.iter();
    one.zip(two).count();
}

fn chunks_beside_rows(query: &mut Query<'_, '_, &'static mut Health>) {
    let count = query.iter().count() as u32;
    for chunk in query.chunks_mut() {
        chunk[0].0 = count;
    }
}

fn two_entities(query: &mut Query<'_, '_, &'static mut Health>, [e, f]: [Entity; 2]) {
    let both = query.get_many_mut([e, f]);
    let _ = both;
}

fn a_row_then_parallel_rows(query: &mut Query<'_, '_, &'static mut Health>, e: Entity) {
    let _ = query.get_mut(e).map(|mut health| health.0 += 1);
    query.par_iter_mut().for_each(|mut health| health.0 += 1);
}

fn a_world_before_a_query(world: &mut World, e: Entity) {
    let more = world.get::<Health>(e).map_or(0, |health| health.0);
    for mut health in world.view_mut::<&mut Health>() {
        health.0 += more;
    }
}

fn a_world_before_a_state(world: &mut World, state: &mut QueryState<&'static mut Health>) {
    let count = world.view::<&Health>().count() as u32;
    for mut health in state.iter_mut(world) {
        health.0 += count;
    }
}

fn a_column_after_a_column(world: &mut World, id: phalanx::ComponentId) {
    let query = world.query_builder().with(id).build();
    query.for_each_table_mut(world, |mut table| {
        let _ = table.column_mut::<Health>(id, "");
        let _ = table.column_mut::<Health>(id, "");
        let table = table.as_ref();
        let _ = (table.column::<Health>(id, ""), table.column::<Health>(id, ""));
    });
}

pub fn main() {
    let mut world = World::new();
    let e = world.spawn((Health(1), Cold)).id();
    let f = world.spawn(Health(1)).id();
    two_queries(&mut world);
    let mut query = world.view_mut();
    two_iterations(&mut query);
    reading_beside_reading(&mut query);
    chunks_beside_rows(&mut query);
    two_entities(&mut query, [e, f]);
    a_row_then_parallel_rows(&mut query, e);
    a_world_before_a_query(&mut world, e);
    let mut state = world.query();
    a_world_before_a_state(&mut world, &mut state);
    let id = world.register_component::<Health>();
    a_column_after_a_column(&mut world, id);
}
