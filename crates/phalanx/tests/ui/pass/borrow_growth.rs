//! The same references, let go of before the table grows.

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
    println!("{}", name.0);
    world.spawn(Name(String::new()));
}

fn row_across_batch(world: &mut World, e: Entity) {
    let row = world.get::<Position>(e).unwrap();
    println!("{}", row.x);
    world.spawn_batch([ORIGIN]);
}

fn field_across_reserve(world: &mut World, e: Entity) {
    let y = world.get_mut::<position::y>(e).unwrap();
    *y = 1.0;
    world.reserve_rows::<Position>(100);
}

fn value_across_shrink(world: &mut World, e: Entity) {
    let mut name = world.get_mut::<Name>(e).unwrap();
    name.0.clear();
    world.shrink_to_fit();
}

fn query_across_spawn(world: &mut World) {
    let names = world.view::<&Name>();
    println!("{}", names.iter().count());
    world.spawn(Name(String::new()));
}

fn slices_across_spawn(world: &mut World) {
    let mut positions = world.view_mut::<&mut Position>();
    let slices = positions.chunks_mut().next().unwrap();
    slices.x[0] = 2.0;
    world.spawn(ORIGIN);
}

pub fn main() {
    let mut world = World::new();
    let e = world.spawn((Name(String::new()), ORIGIN)).id();
    value_across_spawn(&mut world, e);
    row_across_batch(&mut world, e);
    field_across_reserve(&mut world, e);
    value_across_shrink(&mut world, e);
    query_across_spawn(&mut world);
    slices_across_spawn(&mut world);
}
