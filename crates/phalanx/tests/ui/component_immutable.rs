//! A component that is replaced as a whole cannot be written in place.

use phalanx::prelude::*;

#[derive(Component)]
#[component(immutable)]
struct Owner(u32);

fn main() {
    let mut world = World::new();
    let owned = world.spawn(Owner(2)).id();
    for owner in world.view_mut::<&mut Owner>() {
        owner.0 = 3;
    }
    world.get_mut::<Owner>(owned).unwrap().0 = 3;
}
