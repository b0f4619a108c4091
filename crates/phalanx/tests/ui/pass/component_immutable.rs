//! A component that is replaced as a whole.

use phalanx::prelude::*;

#[derive(Component)]
#[component(immutable)]
struct Owner(u32);

pub fn main() {
    let mut world = World::new();
    let owned = world.spawn(Owner(2)).id();
    world.entity_mut(owned).insert(Owner(3));
    assert_eq!(world.get::<Owner>(owned).map(|owner| owner.0), Some(3));
}
