//! The order of systems: `before`, `after`, `chain`, and the order they were added in where nothing is said.
//!
//! Run with `cargo run -p phalanx --example ordering`.

use phalanx::prelude::*;

fn input() {
    print!("input ");
}
fn movement() {
    print!("movement ");
}
fn collide() {
    print!("collide ");
}
fn reap() {
    println!("reap");
}

fn main() {
    let mut app = App::new();
    app.add_systems(Update, ((collide, reap).chain(), movement.after(input).before(collide), input));
    let order = app.schedule(Update).order().expect("the constraints do not contradict each other");
    assert_eq!(order, ["input", "movement", "collide", "reap"]);
    (0..2).for_each(|_| app.step(0.1));

    // A contradiction is found before anything runs, and names the systems.
    app.add_systems(Update, (|| ()).named("late").after(reap).before(input));
    println!("{}", app.schedule(Update).order().expect_err("late cannot be both"));
}
