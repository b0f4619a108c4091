//! One-shot systems: functions that run when asked, with input and output, and keep what is theirs in between.
//!
//! Run with `cargo run -p phalanx --example one_shot`.

use phalanx::prelude::*;

#[derive(Component)]
struct Price(u32);

/// A button: what is run when it is pressed.
#[derive(Component)]
struct Button(SystemId);

fn total(In(factor): In<u32>, prices: Query<&Price>, mut asked: Local<u32>) -> u32 {
    *asked += 1;
    println!("asked {} times", *asked);
    prices.iter().map(|price| price.0 * factor).sum()
}

fn buy(mut commands: Commands) {
    commands.spawn(Price(5));
}

fn press(buttons: Query<&Button>, mut commands: Commands) {
    for button in &buttons {
        commands.run_system(button.0);
    }
}

fn main() {
    let mut app = App::new();
    let world = app.world_mut();

    // Registered once, run often: queries stay prepared, `Local` keeps its value.
    let total_of = world.register_system(total);
    world.spawn(Price(2));
    assert_eq!(world.run_system_with(total_of, 1).expect("it is registered"), 2);
    assert_eq!(world.run_system_with(total_of, 10).expect("it is registered"), 20);

    // By the function itself; the first call registers it.
    world.run_system_cached(buy).expect("it can run");
    assert_eq!(world.run_system_with(total_of, 1).expect("it is registered"), 7);

    // Once, and nothing is kept.
    let count = world.run_system_once(|prices: Query<&Price>| prices.count());
    assert_eq!(count.expect("it can run"), 2);

    // As a value in a component, run by commands.
    let buy = world.register_system(buy);
    world.spawn(Button(buy));
    app.add_systems(Update, press);
    app.step(1.0 / 60.0);
    app.step(1.0 / 60.0);
    assert_eq!(app.world_mut().run_system_with(total_of, 1).expect("it is registered"), 17);
}
