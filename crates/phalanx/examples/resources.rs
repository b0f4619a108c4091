//! Resources: one value per type, read, written, watched for changes.
//!
//! Run with `cargo run -p phalanx --example resources`.

use phalanx::prelude::*;

#[derive(Resource, Debug, Default)]
struct Wind {
    speed: f32,
}

fn weather(time: Res<Time>, mut wind: ResMut<Wind>) {
    // Looking leaves no trace; writing marks the resource.
    if wind.speed < 3.0 && time.frame().is_multiple_of(2) {
        wind.speed += 1.5;
    }
}

fn report(wind: Res<Wind>, lightning: Option<Res<Lightning>>) {
    if wind.is_changed() {
        println!("the wind blows with {}", wind.speed);
    }
    if let Some(lightning) = lightning {
        println!("{} flashes", lightning.0);
    }
}

#[derive(Resource)]
struct Lightning(u32);

fn main() {
    let mut app = App::new();
    app.init_resource::<Wind>();
    app.add_systems(Update, (weather, report).chain());
    (0..6).for_each(|_| app.step(1.0));
    app.insert_resource(Lightning(3));
    app.step(1.0);
    assert_eq!(app.world().resource::<Wind>().speed, 3.0);
}
