//! A game that is taken back: a ring of frames, a wrong turn, another try.
//!
//! A ball falls and bounces. When it got too slow, the app goes back to a frame that it kept and changes the past.

use phalanx::prelude::*;

#[derive(Component, Clone, Debug)]
struct Ball {
    height: f32,
    speed: f32,
}

#[derive(Resource, Clone, Default, Debug)]
struct Bounces(u32);

fn fall(time: Res<Time>, mut balls: Query<&mut Ball>) {
    for mut ball in &mut balls {
        ball.speed -= 9.81 * time.delta_secs();
        ball.height += ball.speed * time.delta_secs();
    }
}

fn bounce(mut balls: Query<&mut Ball>, mut bounces: ResMut<Bounces>) {
    for mut ball in &mut balls {
        if ball.height < 0.0 {
            ball.height = 0.0;
            ball.speed *= -0.8;
            bounces.0 += 1;
        }
    }
}

fn main() {
    let mut app = App::new();
    app.init_resource::<Bounces>();
    app.add_systems(Update, (fall, bounce).chain());
    let ball = app.world_mut().spawn(Ball { height: 2.0, speed: 0.0 }).id();

    app.keep_history(200);
    for _ in 0..150 {
        app.step(0.02);
    }
    let first = app.world().digest();
    println!(
        "after 150 frames: {:?}, {:?}",
        app.world().get::<Ball>(ball),
        app.world().resource::<Bounces>()
    );
    println!("{} frames are kept in {} kB", app.history_len(), app.history_bytes() / 1024);

    // The same again: taken back, and run on.
    app.rewind(100).expect("200 frames are kept");
    println!("after frame 50:   {:?}", app.world().get::<Ball>(ball));
    for _ in 0..100 {
        app.step(0.02);
    }
    assert_eq!(app.world().digest(), first);

    // Another branch: a player kicks the ball.
    app.rewind(100).expect("the frames are kept anew");
    app.world_mut().get_mut::<Ball>(ball).expect("it lives").speed = 12.0;
    for _ in 0..100 {
        app.step(0.02);
    }
    assert_ne!(app.world().digest(), first);
    println!(
        "with a kick:      {:?}, {:?}",
        app.world().get::<Ball>(ball),
        app.world().resource::<Bounces>()
    );
}
