//! References to rows end before an entity can leave them (hazard 19).

#![allow(dead_code)]

use phalanx::prelude::*;

#[derive(Component, Clone)]
struct Name(String);

#[derive(Component)]
struct Frozen;

fn insert(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    world.insert(e, Frozen).unwrap();
    println!("{}", name.0);
}

fn remove(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    world.remove::<Frozen>(e).unwrap();
    println!("{}", name.0);
}

fn replace_all(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    let archetype = world.archetype_of(e).unwrap();
    world.insert_into_archetype(archetype, name);
}

fn drop_archetypes(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    world.drop_empty_archetypes();
    println!("{}", name.0);
}

fn flush(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    world.flush();
    println!("{}", name.0);
}

fn take(world: &mut World, e: Entity) {
    let mut name = world.get_mut::<Name>(e).unwrap();
    let taken = world.take::<Name>(e);
    name.0.push('a');
    drop(taken);
}

fn despawn(world: &mut World, e: Entity) {
    let frozen = world.get::<Frozen>(e);
    world.despawn(e);
    println!("{}", frozen.is_some());
}

fn clear(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e);
    world.clear_entities();
    println!("{}", name.is_some());
}

fn main() {}
