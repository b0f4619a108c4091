//! Once the reading form of a query is gone, the query writes again.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn through_the_query(query: &mut Query<'_, '_, &'static mut Health>) {
    let readonly = query.as_readonly();
    readonly.count();
    query.iter_mut().for_each(|mut health| health.0 = 1);
}

fn through_an_exclusive_reference(query: &mut Query<'_, '_, &'static mut Health>) {
    query.iter_mut().count();
    query.reborrow();
    query.chunks_mut().count();
    query.par_iter_mut();
    query.single_mut().ok();
}

pub fn main() {
    let mut world = World::new();
    world.spawn(Health(0));
    through_the_query(&mut world.view_mut());
    through_an_exclusive_reference(&mut world.view_mut());
}
