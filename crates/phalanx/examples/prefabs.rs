//! Prefabs: a template with children, spawned ten thousand times, and a clone with a difference.
//!
//! Run with `cargo run -p phalanx --example prefabs`.

#![expect(clippy::unwrap_used, reason = "what is missing here is a mistake of the example")]

use phalanx::prelude::*;

#[derive(Component, Clone)]
struct Health(u32);
#[derive(Component, Clone)]
struct Turret;
#[derive(Component, Clone)]
struct Gun {
    /// Mapped by itself: in a clone it is the turret of that clone.
    mounted_on: Entity,
    calibre: u32,
}

fn main() {
    let mut world = World::new();
    let tank = world.spawn((Name::new("tank"), Health(100), children![Turret, Name::new("hatch")])).id();
    let turret = world.get::<Children>(tank).unwrap()[0];
    world.entity_mut(turret).with_child(Gun { mounted_on: turret, calibre: 88 });

    let archetypes = world.archetypes().len();
    let tanks = world.spawn_clones(tank, 10_000);
    println!("{} entities, {} new archetypes", world.entities().len(), world.archetypes().len() - archetypes);
    assert_eq!(world.entities().len(), 40_004);

    let turret = world.get::<Children>(tanks[42]).unwrap()[0];
    let gun = world.get::<Children>(turret).unwrap()[0];
    assert_eq!(world.get::<Gun>(gun).unwrap().mounted_on, turret);
    println!("the gun of tank 42 has calibre {}", world.get::<Gun>(gun).unwrap().calibre);

    // One clone without its health, with all its children.
    let wreck = world.entity_mut(tank).clone_and_spawn_with_opt_out(|clone| {
        clone.deny::<Health>().linked_cloning(true);
    });
    assert!(world.get::<Health>(wreck).is_none());
    assert_eq!(world.get::<Children>(wreck).unwrap().len(), 2);

    // A tank drives into another world, turret and all.
    let mut museum = World::new();
    let exhibit = world.move_entity(tanks[0], &mut museum).unwrap();
    println!("the museum has {} things", museum.entities().len());
    assert_eq!(museum.get::<Children>(exhibit).unwrap().len(), 2);
    assert!(!world.contains(tanks[0]));
}
