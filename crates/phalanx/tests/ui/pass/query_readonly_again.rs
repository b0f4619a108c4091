//! A writing query reads through a shared reference and writes through an exclusive one.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn items_are_exclusive(query: &mut Query<'_, '_, &'static mut Health>, e: Entity) {
    for mut health in &mut *query {
        health.0 = 1;
    }
    for rows in query.chunks_mut() {
        rows[0].0 = 1;
    }
    if let Ok(mut health) = query.get_mut(e) {
        health.0 = 1;
    }
    query.par_iter_mut().for_each(|mut health| health.0 = 1);
}

fn the_type_is_the_reading_one(query: &Query<'_, '_, &'static mut Health>) {
    let _: Query<'_, '_, &'static Health> = query.as_readonly();
}

pub fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(0)).id();
    items_are_exclusive(&mut world.view_mut(), e);
    the_type_is_the_reading_one(&world.view_mut());
}
