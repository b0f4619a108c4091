//! The same with sparse components.

use phalanx::prelude::*;

#[derive(Component)]
#[component(storage = "sparse")]
struct Health(f32);
#[derive(Component)]
#[component(storage = "SparseSet")]
struct Burning;

pub fn main() {
    let mut world = World::new();
    let _ = world.sparse::<Health>();
    let _ = world.sparse_mut::<Health>();
    let _ = world.sort_by::<Health>(|a, b| a.0.total_cmp(&b.0));
    let _ = world.sort_as::<Burning, Health>();
    let _ = world.group::<Own<(Health, Burning)>, Get<()>, ()>();
    let _ = world.group::<Own<()>, Get<(Health,)>, ()>();
    let _ = world.group::<Own<()>, Get<(Burning,)>, ()>();
    let _ = world.group::<Own<()>, Get<(Burning,)>, Without<Health>>();
}
