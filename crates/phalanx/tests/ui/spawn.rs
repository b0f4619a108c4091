//! What is spawned must be a component, or a bundle of components.

use phalanx::prelude::World;

struct NotAComponent;

fn main() {
    World::new().spawn(NotAComponent);
}
