//! Whole worlds, states and queries may change places.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

pub fn main() {
    let (mut one, mut two) = (World::new(), World::new());
    one.spawn(Health(1));
    let (mut first, mut second) = (one.query::<&Health>(), two.query::<&Health>());
    std::mem::swap(&mut one, &mut two);
    std::mem::swap(&mut first, &mut second);
    assert_eq!((first.iter(&one).count(), second.iter(&two).count()), (0, 1));
    assert!(second.iter(&two).all(|health| health.0 == 1));
    let (mut query, mut other) = (one.view::<&Health>(), two.view::<&Health>());
    std::mem::swap(&mut query, &mut other);
    assert_eq!((query.count(), other.count()), (1, 0));
}
