//! Messages: systems that do not know each other, and a signal without data.
//!
//! Run with `cargo run -p phalanx --example messages`.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Message)]
struct Scored {
    player: usize,
    points: u32,
}

#[derive(Message)]
struct GameOver; // a signal: only counted

#[derive(Resource, Default)]
struct Points([u32; 2]);

fn play(time: Res<Time>, mut scored: MessageWriter<Scored>) {
    let frame = usize::try_from(time.frame()).expect("few frames");
    scored.write(Scored { player: frame % 2, points: 3 });
}

fn count(mut scored: MessageReader<Scored>, mut points: ResMut<Points>, mut over: MessageWriter<GameOver>) {
    for one in scored.read() {
        points.0[one.player] += one.points;
        if points.0[one.player] >= 9 {
            over.write(GameOver);
        }
    }
}

fn announce(mut scored: MessageReader<Scored>, mut over: MessageReader<GameOver>) {
    // A second reader sees the same messages: each has its own place.
    scored.read().for_each(|one| println!("player {} scores {}", one.player, one.points));
    if over.read().next().is_some() {
        println!("game over");
    }
}

fn main() {
    let mut app = App::new();
    app.init_resource::<Points>();
    app.add_systems(Update, (play, count).chain()).add_systems(PostUpdate, announce);
    (0..5).for_each(|_| app.step(0.1));
    assert_eq!(app.world().resource::<Points>().0, [6, 9]);
}
