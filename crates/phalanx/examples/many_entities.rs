//! Many entities: spawned one by one and in batches, looked up by handle or list, changed in a sparse set.
//!
//! Run with `cargo run -p phalanx --example many_entities`.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy)]
struct Position(f32);

#[derive(Component, Clone, Copy)]
struct Velocity(f32);

#[derive(Component)]
#[component(storage = "sparse")]
struct Burning(u32);

/// Shots have a position and a velocity, and nothing else.
#[derive(Pool)]
struct Shots {
    position: Position,
    velocity: Velocity,
}

fn main() {
    let mut world = World::new();

    // One by one: the first spawn of a bundle finds its table, the next ones reuse that.
    let torch = world.spawn(Position(0.0)).id();

    // Many at once: straight into the columns.
    let trees: Vec<Entity> = world.spawn_batch((0..1_000).map(|n| Position(n as f32))).collect();

    let sparks: Vec<Entity> =
        (0..1_000).map(|n| world.spawn((Position(0.0), Velocity(n as f32))).id()).collect();
    assert_eq!(sparks.into_iter().filter(|&spark| world.despawn(spark)).count(), 1_000);

    // The same in a pool.
    let shots: Vec<Entity> = (0..100)
        .map(|n| world.spawn_in(Shots { position: Position(n as f32), velocity: Velocity(1.0) }))
        .collect();

    // A reader finds the column once. Handles remember where their entities are.
    let pool = world.pool::<Shots>();
    let mut handles: Vec<_> = shots.iter().filter_map(|&shot| pool.handle(shot).ok()).collect();
    let positions = pool.reader::<Position>();
    let sum: f32 = handles.iter_mut().filter_map(|handle| positions.get(handle).ok()).map(|at| at.0).sum();
    assert_eq!(sum, 4950.0);

    // Many in any order: a list keeps what neighbours have in common. And gone at once.
    let near = world.view::<&Position>().iter_many(&shots).matched().filter(|at| at.0 < 10.0).count();
    assert_eq!(near, 10);
    assert_eq!(world.despawn_batch(shots), 100);

    for (mut position, velocity) in world.view_mut::<(&mut Position, &Velocity)>() {
        position.0 += velocity.0;
    }

    // A sparse set: components that come and go without moving anything.
    let mut fire = world.sparse_mut::<Burning>();
    for &tree in trees.iter().step_by(10) {
        fire.insert(tree, Burning(3)).expect("the tree is alive");
    }
    fire.insert(torch, Burning(100)).expect("the torch is alive");
    let put_out = trees.iter().filter(|&&tree| fire.remove(tree).is_ok_and(|burned| burned)).count();
    println!("{put_out} trees are out, {} still burn", world.view::<&Burning>().iter().count());
    assert_eq!(world.get::<Burning>(torch).map(|burning| burning.0), Some(100));
}
