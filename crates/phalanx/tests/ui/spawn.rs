//! What is spawned must be a component, or a bundle of components.

use phalanx::prelude::{Component, World};

#[derive(Component)]
struct Marker;

struct NotAComponent;

fn main() {
    World::new().spawn(NotAComponent);
    World::new().spawn((Marker, (Marker, NotAComponent)));
    World::new().spawn_empty().insert((Marker, 3.0_f32));
}
