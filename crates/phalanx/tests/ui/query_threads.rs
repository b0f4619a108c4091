//! Hazard 37: parallel closures hold nothing that threads cannot share.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Mutex;

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

fn main() {
    let mut world = World::new();
    let mut query = world.view_mut::<&mut Health>();
    let cell = Cell::new(0);
    query.par_iter_mut().for_each(|health| cell.set(health.0));
    let shared = Rc::new(Mutex::new(0));
    query.par_iter().for_each(|health| *shared.lock().unwrap() += health.0);
}
