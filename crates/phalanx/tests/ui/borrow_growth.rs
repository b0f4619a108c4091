//! References to rows end before a table can grow under them (hazard 19).

#![allow(dead_code)]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component)]
struct Name(String);

const ORIGIN: Position = Position { x: 0.0, y: 0.0 };

fn value_across_spawn(world: &mut World, e: Entity) {
    let name = world.get::<Name>(e).unwrap();
    world.spawn(Name(String::new()));
    println!("{}", name.0);
}

fn row_across_batch(world: &mut World, e: Entity) {
    let row = world.get::<Position>(e).unwrap();
    world.spawn_batch([ORIGIN]);
    println!("{}", row.x);
}

fn field_across_reserve(world: &mut World, e: Entity) {
    let y = world.get_mut::<position::y>(e).unwrap();
    world.reserve_rows::<Position>(100);
    *y = 1.0;
}

fn value_across_shrink(world: &mut World, e: Entity) {
    let mut name = world.get_mut::<Name>(e).unwrap();
    world.shrink_to_fit();
    name.0.clear();
}

fn query_across_spawn(world: &mut World) {
    let names = world.view::<&Name>();
    world.spawn(Name(String::new()));
    println!("{}", names.iter().count());
}

fn slices_across_spawn(world: &mut World) {
    let mut positions = world.view_mut::<&mut Position>();
    let slices = positions.chunks_mut().next().unwrap();
    world.spawn(ORIGIN);
    slices.x[0] = 2.0;
}

fn main() {}
