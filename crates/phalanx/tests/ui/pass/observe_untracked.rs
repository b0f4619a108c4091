//! The twin of `observe_untracked`: with row ticks, events and an entity it compiles.

use phalanx::prelude::*;

#[derive(Component)]
#[component(track = "row")]
struct Health(f32);

#[derive(Event)]
struct Dawn;

pub fn main() {
    let mut world = World::new();
    world.add_observer(|_: On<Mutate<Health>>| {});
    world.add_observer(|_: On<Dawn>| {});
    let e = world.spawn(Health(1.0)).id();
    world.entity_mut(e).observe(|_: On<Knock>| {});
    world.trigger(Knock { name: "once".into(), entity: e });
}

#[derive(EntityEvent)]
struct Knock {
    #[allow(dead_code)]
    name: String,
    entity: Entity,
}
