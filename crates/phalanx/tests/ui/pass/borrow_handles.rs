//! The same handles, used while they are valid.

use phalanx::prelude::*;

#[derive(Component)]
struct Name(String);

fn reader(world: &mut World, e: Entity) {
    let reader = world.entity(e);
    println!("{}", reader.id());
    world.despawn(e);
}

fn writer(world: &mut World, e: Entity) {
    let mut writer = world.entity_mut(e);
    writer.insert(Name(String::new()));
    world.spawn(Name(String::new()));
}

fn value_of_writer(world: &mut World, e: Entity) {
    let mut writer = world.entity_mut(e);
    let name = writer.get::<Name>().unwrap();
    println!("{}", name.0);
    writer.remove::<Name>();
}

fn despawned_writer(world: &mut World, e: Entity) {
    let writer = world.entity_mut(e);
    println!("{}", writer.id());
    writer.despawn();
}

fn batch(world: &mut World) {
    let mut batch = world.spawn_batch([Name(String::new())]);
    println!("{:?}", batch.next());
    world.clear_entities();
}

fn commands(world: &mut World) {
    let mut commands = world.commands();
    commands.spawn(Name(String::new()));
    world.flush();
}

pub fn main() {
    let mut world = World::new();
    for case in [reader, writer, value_of_writer, despawned_writer] {
        let e = world.spawn(Name(String::new())).id();
        case(&mut world, e);
    }
    batch(&mut world);
    commands(&mut world);
}
