//! Parallel closures make what can change threads.

use std::sync::Arc;

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

pub fn main() {
    let world = World::new();
    let query = world.view::<&Health>();
    query.par_iter().map_reduce(|| Arc::new(0), |health| Arc::new(health.0), |a, _| a);
}
