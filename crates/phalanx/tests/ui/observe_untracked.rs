//! Written values are observed by the ticks of rows: the component needs the attribute, and the message says which.

use phalanx::prelude::*;

#[derive(Component)]
struct Health(f32);

struct NoEvent;

fn main() {
    let mut world = World::new();
    world.add_observer(|_: On<Mutate<Health>>| {});
    world.add_observer(|_: On<NoEvent>| {});
    let e = world.spawn(Health(1.0)).id();
    world.entity_mut(e).observe(|_: On<Dawn>| {});
}

#[derive(Event)]
struct Dawn;

#[derive(EntityEvent)]
struct Nobody {
    name: String,
}
