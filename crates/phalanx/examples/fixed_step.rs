//! A fixed step: physics at its own pace, drawing in between.
//!
//! Run with `cargo run -p phalanx --example fixed_step`.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component)]
struct Ball {
    height: f32,
    before: f32,
    speed: f32,
}

fn physics(time: Res<Time>, mut balls: Query<&mut Ball>) {
    for mut ball in &mut balls {
        ball.before = ball.height;
        ball.speed -= 9.81 * time.delta_secs(); // always the fixed step here
        ball.height += ball.speed * time.delta_secs();
    }
}

fn draw(time: Res<Time>, balls: Query<&Ball>) {
    for ball in &balls {
        let shown = ball.before + (ball.height - ball.before) * time.alpha();
        println!("frame {}: {shown:.3} m after {:.3} s", time.frame(), time.elapsed_secs());
    }
}

fn main() {
    let mut app = App::new();
    app.configure(AppConfig { fixed_timestep: 1.0 / 50.0, max_fixed_steps: 4, ..Default::default() });
    app.add_systems(FixedUpdate, physics).add_systems(PostUpdate, draw);
    app.world_mut().spawn(Ball { height: 10.0, before: 10.0, speed: 0.0 });
    for dt in [0.016, 0.016, 0.033, 0.016, 5.0] {
        app.step(dt); // the last one would be 250 steps: four are taken, the rest is dropped
    }
    println!("{} steps in all", app.world().resource::<Time<Fixed>>().steps());
    assert_eq!(app.world().resource::<Time<Fixed>>().steps(), 8);
}
