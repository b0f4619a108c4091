//! Systems that fail: errors go to a handler, pipes pass results on.
//!
//! Run with `cargo run -p phalanx --example errors`.

use phalanx::prelude::*;

#[derive(Resource)]
struct Input(&'static str);
#[derive(Resource, Default)]
struct Sum(i64);
#[derive(Resource, Default)]
struct Failures(u32);

fn parse(input: Res<Input>, mut sum: ResMut<Sum>) -> Result<(), std::num::ParseIntError> {
    for word in input.0.split_whitespace() {
        sum.0 += word.parse::<i64>()?;
    }
    Ok(())
}

fn count_words(input: Res<Input>) -> usize {
    input.0.split_whitespace().count()
}

fn main() {
    let mut app = App::new();
    app.insert_resource(Input("1 2 three")).init_resource::<Sum>().init_resource::<Failures>();
    app.set_error_handler(|world, error| {
        println!("{error}");
        world.resource_mut::<Failures>().0 += 1;
    });
    app.add_systems(Update, parse);
    app.add_systems(Update, count_words.map(|words| println!("{words} words")));
    app.step(0.1);
    app.insert_resource(Input("4 5"));
    app.step(0.1);
    let world = app.world();
    assert_eq!((world.resource::<Sum>().0, world.resource::<Failures>().0), (12, 1));
}
