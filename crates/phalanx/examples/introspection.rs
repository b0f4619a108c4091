//! Looking into a schedule: order, conflicts, times, and a picture in the language of Graphviz.
//!
//! Run with `cargo run -p phalanx --example introspection`.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

fn blow(mut all: Query<&mut position::x>) {
    all.iter_mut().for_each(|x| *x += 1.0);
}
fn fall(mut all: Query<&mut position::y>) {
    all.iter_mut().for_each(|y| *y -= 1.0);
}
fn draw(all: Query<&Position>) {
    assert!(all.iter().all(|pos| *pos.x + *pos.y <= 1.0));
}

fn main() {
    let mut app = App::new();
    app.configure(AppConfig { timings: true, ..Default::default() });
    app.world_mut().spawn_batch((0..1000).map(|_| Position { x: 0.0, y: 0.0 }));
    app.add_systems(Update, (draw, blow.before(draw), fall));
    (0..10).for_each(|_| app.step(0.1));

    let update = app.schedule(Update);
    println!("order: {}", update.order().expect("no cycle").join(", "));
    for pair in update.conflicts().expect("no cycle") {
        println!("{} waits for {}, because of {}", pair.second, pair.first, pair.parts.join(", "));
    }
    for timing in update.timings() {
        println!("{}: {} runs, {:?} in all", timing.system, timing.runs, timing.total);
    }
    println!("{}", update.to_dot().expect("no cycle"));
    assert_eq!(update.conflicts().map(|pairs| pairs.len()), Ok(2));
}
