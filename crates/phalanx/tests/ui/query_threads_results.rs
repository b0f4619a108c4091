//! Hazard 37: what parallel closures make must be able to change threads.

use std::rc::Rc;

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let world = World::new();
    let query = world.view::<&Health>();
    query.par_iter().map_reduce(|| Rc::new(0), |health| Rc::new(health.0), |a, _| a);
}
