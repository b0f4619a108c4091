//! Sets: systems are put into them where they are written, and the sets are ordered in one place.
//!
//! Run with `cargo run -p phalanx --example sets`.

use phalanx::prelude::*;

#[derive(SystemSet, Debug, Clone, Copy)]
enum Step {
    Read,
    Think,
    Act,
}

#[derive(Resource, Default)]
struct Log(Vec<&'static str>);

fn say(word: &'static str) -> impl FnMut(ResMut<Log>) {
    move |mut log| log.0.push(word)
}

fn main() {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.configure_sets(Update, (Step::Read, Step::Think, Step::Act).chain());
    app.add_systems(Update, say("act").in_set(Step::Act));
    app.add_systems(Update, (say("see"), say("hear")).in_set(Step::Read));
    app.add_systems(Update, say("think").in_set(Step::Think));
    app.step(0.1);
    println!("{}", app.world().resource::<Log>().0.join(", "));
    assert_eq!(app.world().resource::<Log>().0, ["see", "hear", "think", "act"]);
}
