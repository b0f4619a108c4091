//! Reading forms are iterators; writing ones lend one choice at a time.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

pub fn main() {
    let mut world = World::new();
    let e = world.spawn(Health(1)).id();
    world.spawn(Health(2));
    let mut query = world.view_mut::<&mut Health>();
    let mut pairs = query.iter_combinations_mut();
    while let Some([mut a, mut b]) = pairs.fetch_next() {
        std::mem::swap(&mut *a, &mut *b);
    }
    assert_eq!(query.iter_combinations::<2>().map(|pair| pair).count(), 1);
    let mut rows = query.iter_many_mut([e, e]).matched();
    while let Some(mut health) = rows.fetch_next() {
        health.0 += 1;
    }
    for [a, b] in query.iter_combinations() {
        assert_eq!((a.0, b.0), (4, 1));
    }
    let twice: Vec<&Health> = query.iter_many([e, e]).matched().collect();
    assert_eq!(twice.len(), 2);
}
