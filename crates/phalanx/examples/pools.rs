//! Pools: one program for plain entities, and the same with a pool, under the same systems.
//!
//! Run with `cargo run -p phalanx --example pools`.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Position(f32);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Rage(i32);
#[derive(Component)]
struct Wings;

// The systems know nothing of pools.
fn march(time: Res<Time>, mut all: Query<&mut Position>) {
    for mut position in &mut all {
        position.0 += 10.0 * time.delta_secs();
    }
}

fn enrage(mut commands: Commands, hurt: Query<(Entity, &Health), Without<Rage>>) {
    for (entity, health) in &hurt {
        if health.0 < 5 {
            commands.entity(entity).insert(Rage(1));
        }
    }
}

/// A closed kind of entities: what they always have, and what they may have.
#[derive(Pool)]
struct Orcs {
    position: Position,
    health: Health,
    rage: Option<Rage>,
}

/// Runs the program; `spawn` is all that differs.
fn run(spawn: impl Fn(&mut World, i32)) -> (App, Vec<(Position, Health, Option<Rage>)>) {
    let mut app = App::new();
    app.add_systems(Update, (march, enrage).chain());
    (0..10).for_each(|n| spawn(app.world_mut(), n));
    (0..3).for_each(|_| app.step(0.1));
    let all = app.world().view::<(&Position, &Health, Option<&Rage>)>();
    let rows = all.iter().map(|(position, health, rage)| (*position, *health, rage.copied())).collect();
    (app, rows)
}

fn main() {
    let (_, general) = run(|world, n| {
        world.spawn((Position(0.0), Health(n)));
    });
    let (mut app, pooled) = run(|world, n| {
        world.spawn_in(Orcs { position: Position(0.0), health: Health(n), rage: None });
    });
    assert_eq!(general, pooled);
    println!("the same {} rows with and without a pool", pooled.len());

    // What the compiler refuses through `pool_mut`, every other call refuses at run time.
    let orc = app.world().pool::<Orcs>().entities().next().expect("there are orcs");
    let error = app.world_mut().insert(orc, Wings).expect_err("orcs have no wings");
    println!("{error}");

    // A pool can be asked alone, and left only for one that the entity fits into.
    let orcs = app.world().pool::<Orcs>();
    println!("{} orcs, {} of them angry", orcs.len(), orcs.query::<&Rage>().count());
    app.world_mut().migrate::<Orcs, General>(orc).expect("General takes everything");
    app.world_mut().insert(orc, Wings).expect("and allows everything");
    println!("{}", app.world().stats());
    assert_eq!(app.world().pool::<Orcs>().len(), 9);
}
