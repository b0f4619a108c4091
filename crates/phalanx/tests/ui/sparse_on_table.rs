//! Sets and groups are for components with `storage = "sparse"`, and a group names them in tuples.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(f32);
#[derive(Component)]
#[component(storage = "sparse")]
struct Burning;

fn main() {
    let mut world = World::new();
    let _ = world.sparse::<Health>();
    let _ = world.sparse_mut::<Health>();
    let _ = world.sort_by::<Health>(|a, b| a.0.total_cmp(&b.0));
    let _ = world.sort_as::<Burning, Health>();
    let _ = world.group::<Own<(Health, Burning)>, Get<()>, ()>();
    let _ = world.group::<Own<(Burning,)>, Get<(Health,)>, ()>();
    let _ = world.group::<Own<Burning>, Get<()>, ()>();
    let _ = world.group::<Own<(Burning,)>, Get<()>, With<Health>>();
}
