//! The same rows, one after the other, or shared.

use phalanx::prelude::*;

#[derive(Component)]
struct Name(String);

fn two_writers(world: &mut World, a: Entity, b: Entity) {
    let text = std::mem::take(&mut world.get_mut::<Name>(a).unwrap().0);
    world.get_mut::<Name>(b).unwrap().0 = text;
}

fn writer_and_reader(world: &mut World, a: Entity, b: Entity) {
    let one = world.get::<Name>(a).unwrap();
    let two = world.get::<Name>(b).unwrap();
    println!("{}{}", one.0, two.0);
}

fn in_one_entity(world: &mut World, e: Entity) {
    let mut writer = world.entity_mut(e);
    writer.get_mut::<Name>().unwrap().0.push('a');
    let one = writer.get::<Name>().unwrap();
    let two = writer.get::<Name>().unwrap();
    println!("{}{}", one.0, two.0);
}

pub fn main() {
    let mut world = World::new();
    let a = world.spawn(Name(String::new())).id();
    let b = world.spawn(Name(String::new())).id();
    two_writers(&mut world, a, b);
    writer_and_reader(&mut world, a, b);
    in_one_entity(&mut world, a);
}
