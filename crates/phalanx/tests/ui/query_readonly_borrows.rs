//! Hazard 30: while the reading form of a query lives, the query does not write.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn through_the_query(query: &mut Query<'_, '_, &'static mut Health>) {
    let readonly = query.as_readonly();
    query.iter_mut().for_each(|mut health| health.0 = 1);
    readonly.count();
}

fn through_a_shared_reference(query: &Query<'_, '_, &'static mut Health>) {
    query.iter_mut().count();
    query.reborrow();
    query.chunks_mut().count();
    query.par_iter_mut();
    query.single_mut().ok();
}

fn main() {}
