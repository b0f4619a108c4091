//! Hazard 30: the reading form of a writing query never becomes a writing one again.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn items_are_shared(query: &Query<'_, '_, &'static mut Health>, e: Entity) {
    for health in query {
        health.0 = 1;
    }
    for health in query.as_readonly().iter_mut() {
        health.0 = 1;
    }
    for rows in query.as_readonly().chunks_mut() {
        rows[0].0 = 1;
    }
    if let Ok(health) = query.as_readonly().get_mut(e) {
        health.0 = 1;
    }
    query.par_iter().for_each(|health| health.0 = 1);
}

fn the_type_is_another(query: &Query<'_, '_, &'static mut Health>) {
    let _: Query<'_, '_, &'static mut Health> = query.as_readonly();
}

fn main() {}
