//! The first program: a world, a system, a frame.
//!
//! Run with `cargo run -p phalanx --example first_app`.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")] // each field is its own column
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f32,
}

#[derive(Component)]
struct Frozen; // a tag: no data

fn movement(time: Res<Time>, mut movers: Query<(&mut Position, &Velocity), Without<Frozen>>) {
    let dt = time.delta_secs(); // seconds, f32
    for (pos, vel) in movers.chunks_mut() {
        // slices, one set per table
        for i in 0..pos.len() {
            pos.x[i] += vel.x[i] * dt;
            pos.y[i] += vel.y[i] * dt;
        }
    }
}

fn main() {
    let mut app = App::new();
    app.add_systems(Update, movement);
    let velocity = Velocity { x: 60.0, y: 0.0 };
    let runner = app.world_mut().spawn((Position { x: 0.0, y: 0.0 }, velocity)).id();
    let frozen = app.world_mut().spawn((Position { x: 5.0, y: 5.0 }, velocity, Frozen)).id();
    app.startup();
    app.step(1.0 / 60.0);
    let place = |entity| app.world().get::<Position>(entity).expect("it lives").get();
    println!("the runner is at {:?}, the frozen one at {:?}", place(runner), place(frozen));
    assert_eq!((place(runner).x, place(frozen).x), (1.0, 5.0));
}
