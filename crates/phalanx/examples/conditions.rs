//! Conditions: systems that run only when something holds.
//!
//! Run with `cargo run -p phalanx --example conditions`.

use phalanx::prelude::*;

#[derive(Resource, Default, PartialEq)]
struct Paused(bool);

#[derive(Resource, Default)]
struct Score(u32);

fn not_paused(paused: Res<Paused>) -> bool {
    !paused.0
}

fn play(mut score: ResMut<Score>) {
    score.0 += 1;
}

fn announce(score: Res<Score>) {
    println!("the score is {}", score.0);
}

fn main() {
    let mut app = App::new();
    app.init_resource::<Paused>().init_resource::<Score>();
    app.add_systems(Update, play.run_if(not_paused));
    // Only when it changed; and once more joined with another condition.
    app.add_systems(PostUpdate, announce.run_if(and(not_paused, resource_changed::<Score>)));
    for frame in 0..6 {
        app.world_mut().resource_mut::<Paused>().0 = frame % 2 == 1;
        app.step(0.1);
    }
    assert_eq!(app.world().resource::<Score>().0, 3);
}
