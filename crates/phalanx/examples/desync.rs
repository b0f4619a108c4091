//! Two peers that should be equal and are not: which system did it, and in which field.
//!
//! Digests tell that two worlds differ, `first_difference` where, and `check_determinism` which system is to blame.

use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;

#[derive(Component, Clone, Debug)]
struct Position {
    x: f32,
}

#[derive(Component, Clone, Debug)]
struct Velocity(f32);

fn walk(mut all: Query<(&mut Position, &Velocity)>) {
    for (mut position, velocity) in &mut all {
        position.x += velocity.0;
    }
}

/// Depends on something that is not part of the world.
fn gust(mut all: Query<&mut Velocity>) {
    static WEATHER: AtomicU32 = AtomicU32::new(0);
    if WEATHER.fetch_add(1, Ordering::Relaxed) % 3 == 2
        && let Some(mut velocity) = all.iter_mut().last()
    {
        velocity.0 += 0.25;
    }
}

fn peer(with_gust: bool) -> App {
    let mut app = App::new();
    app.add_systems(Update, walk);
    if with_gust {
        app.add_systems(Update, gust.after(walk));
    }
    for n in 0..4u8 {
        app.world_mut().spawn((Position { x: 0.0 }, Velocity(f32::from(n))));
    }
    app
}

fn main() {
    let (mut one, mut other) = (peer(true), peer(true));
    for frame in 0..10 {
        one.step(0.02);
        other.step(0.02);
        if one.world().digest() != other.world().digest() {
            let difference = one.world().first_difference(other.world()).expect("the digests differ");
            println!("desync in frame {frame}: {difference}");
            break;
        }
    }
    let found = one.check_determinism(10, 0.02).expect_err("the weather is outside of the world");
    println!("{found}");
    assert!(found.system.contains("gust"));
    assert_eq!(peer(false).check_determinism(10, 0.02), Ok(()));
}
