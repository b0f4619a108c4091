//! While one row is written, nothing of the world is read or written beside it (hazard 19).

#![allow(dead_code)]

use phalanx::prelude::*;

#[derive(Component)]
struct Name(String);

fn two_writers(world: &mut World, a: Entity, b: Entity) {
    let mut one = world.get_mut::<Name>(a).unwrap();
    let mut two = world.get_mut::<Name>(b).unwrap();
    std::mem::swap(&mut one.0, &mut two.0);
}

fn writer_and_reader(world: &mut World, a: Entity, b: Entity) {
    let mut one = world.get_mut::<Name>(a).unwrap();
    let two = world.get::<Name>(b).unwrap();
    one.0.push_str(&two.0);
}

fn in_one_entity(world: &mut World, e: Entity) {
    let mut writer = world.entity_mut(e);
    let mut one = writer.get_mut::<Name>().unwrap();
    let two = writer.get::<Name>().unwrap();
    one.0.push_str(&two.0);
}

fn main() {}
