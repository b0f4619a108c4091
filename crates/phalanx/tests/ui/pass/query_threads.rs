//! Parallel closures share what threads can share, or combine results.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);

pub fn main() {
    let mut world = World::new();
    world.spawn_batch((0..10).map(Health));
    let mut query = world.view_mut::<&mut Health>();
    let cell = AtomicU32::new(0);
    query.par_iter_mut().for_each(|health| cell.store(health.0, Ordering::Relaxed));
    let shared = Arc::new(Mutex::new(0));
    query.par_iter().for_each(|health| *shared.lock().unwrap() += health.0);
    let sum = query.par_iter().map_reduce(|| 0, |health| health.0, |a, b| a + b);
    assert_eq!(sum, *shared.lock().unwrap());
    std::thread::scope(|scope| {
        let query = &query;
        scope.spawn(move || query.iter().count());
    });
}
