//! The same references, let go of before the entity leaves its row.

use phalanx::prelude::*;

#[derive(Component, Clone)]
struct Name(String);

#[derive(Component)]
struct Frozen;

fn insert(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    println!("{}", name.0);
    world.insert(e, Frozen).unwrap();
}

fn remove(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    println!("{}", name.0);
    world.remove::<Frozen>(e).unwrap();
}

fn replace_all(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap().clone();
    let archetype = world.archetype_of(e).unwrap();
    world.insert_into_archetype(archetype, &name);
}

fn drop_archetypes(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    println!("{}", name.0);
    world.drop_empty_archetypes();
}

fn flush(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    println!("{}", name.0);
    world.flush();
}

fn take(world: &mut World, e: Entity) {
    let mut name = world.get_mut::<Name>(e).unwrap();
    name.0.push('a');
    let taken = world.take::<Name>(e);
    drop(taken);
}

fn despawn(world: &mut World, e: Entity) {
    let frozen = world.get::<Frozen>(e);
    println!("{}", frozen.is_some());
    world.despawn(e);
}

fn clear(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e);
    println!("{}", name.is_some());
    world.clear_entities();
}

pub fn main() {
    let mut world = World::new();
    let e = world.spawn(Name(String::new())).id();
    insert(&mut world, e);
    remove(&mut world, e);
    replace_all(&mut world, e);
    drop_archetypes(&mut world, e);
    flush(&mut world, e);
    take(&mut world, e);
    despawn(&mut world, e);
    clear(&mut world, e);
}
