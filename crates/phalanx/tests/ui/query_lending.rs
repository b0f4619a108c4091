//! Hazard 32: what may yield a row twice for writing is no iterator.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    let mut query = world.view_mut::<&mut Health>();
    for [mut a, mut b] in query.iter_combinations_mut::<2>() {
        std::mem::swap(&mut *a, &mut *b);
    }
    query.iter_combinations_mut::<2>().map(|pair| pair).count();
    for mut health in query.iter_many_mut([e, e]) {
        health.0 += 1;
    }
    let _: Vec<Mut<Health>> = query.iter_many_mut([e, e]).collect();
}
