//! The same with the derive in place.

use phalanx::prelude::{Component, World};

#[derive(Component)]
struct Marker;
#[derive(Component)]
struct Other;
#[derive(Component)]
struct Size(f32);

pub fn main() {
    World::new().spawn(Marker);
    World::new().spawn((Marker, (Other, Size(3.0))));
}
