//! Handles of one entity, and of a batch, end before the world changes behind their back (hazard 19).

#![allow(dead_code)]

use phalanx::prelude::*;

#[derive(Component)]
struct Name(String);

fn reader(world: &mut World, e: Entity) {
    let reader = world.entity(e);
    world.despawn(e);
    println!("{}", reader.id());
}

fn writer(world: &mut World, e: Entity) {
    let mut writer = world.entity_mut(e);
    world.spawn(Name(String::new()));
    writer.insert(Name(String::new()));
}

fn value_of_writer(world: &mut World, e: Entity) {
    let mut writer = world.entity_mut(e);
    let name = writer.get::<Name>().unwrap();
    writer.remove::<Name>();
    println!("{}", name.0);
}

fn despawned_writer(world: &mut World, e: Entity) {
    let writer = world.entity_mut(e);
    writer.despawn();
    println!("{}", writer.id());
}

fn batch(world: &mut World) {
    let mut batch = world.spawn_batch([Name(String::new())]);
    world.clear_entities();
    println!("{:?}", batch.next());
}

fn commands(world: &mut World) {
    let mut commands = world.commands();
    world.flush();
    commands.spawn(Name(String::new()));
}

fn main() {}
