//! Hazards 28 and 29: nothing else looks at a world through which one query writes, whatever its filter.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Cold;

fn two_queries(world: &mut World) {
    let mut one = world.view_filtered_mut::<&mut Health, With<Cold>>();
    let mut two = world.view_filtered_mut::<&mut Health, Without<Cold>>();
    one.iter_mut().zip(two.iter_mut()).count();
}

fn two_iterations(query: &mut Query<'_, '_, &'static mut Health>) {
    let one = query.iter_mut();
    let two = query.iter_mut();
    one.zip(two).count();
}

fn reading_beside_writing(query: &mut Query<'_, '_, &'static mut Health>) {
    let one = query.iter();
    let two = query.iter_mut();
    one.zip(two).count();
}

fn chunks_beside_rows(query: &mut Query<'_, '_, &'static mut Health>) {
    for chunk in query.chunks_mut() {
        chunk[0].0 = query.iter().count() as u32;
    }
}

fn two_entities(query: &mut Query<'_, '_, &'static mut Health>, e: Entity) {
    let one = query.get_mut(e);
    let two = query.get_mut(e);
    let _ = (one, two);
}

fn a_row_beside_parallel_rows(query: &mut Query<'_, '_, &'static mut Health>, e: Entity) {
    let one = query.get_mut(e);
    query.par_iter_mut().for_each(|mut health| health.0 += 1);
    let _ = one;
}

fn a_world_beside_a_query(world: &mut World, e: Entity) {
    for mut health in world.view_mut::<&mut Health>() {
        health.0 += world.get::<Health>(e).map_or(0, |health| health.0);
    }
}

fn a_world_beside_a_state(world: &mut World, state: &mut QueryState<&'static mut Health>) {
    for mut health in state.iter_mut(world) {
        health.0 += world.view::<&Health>().count() as u32;
    }
}

fn a_column_beside_a_column(world: &mut World, id: phalanx::ComponentId) {
    let query = world.query_builder().with(id).build();
    query.for_each_table_mut(world, |mut table| {
        let one = table.column_mut::<Health>(id, "");
        let two = table.column_mut::<Health>(id, "");
        let _ = (one, two);
    });
}

fn main() {}
