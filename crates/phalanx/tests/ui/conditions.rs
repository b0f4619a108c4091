//! Which part of a function makes it no condition.

use phalanx::prelude::*;

#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Gated;

fn good() {}
fn wrong_parameter(_: Res<Time>, _: String) -> bool {
    true
}
fn wrong_result() -> u32 {
    1
}
fn wrong_error() -> Result<bool, u8> {
    Ok(true)
}

fn main() {
    let mut app = App::new();
    app.add_systems(Update, good.run_if(wrong_parameter));
    app.add_systems(Update, good.run_if(wrong_result));
    app.add_systems(Update, good.run_if(wrong_error));
    app.add_systems(Update, good.run_if(not(wrong_parameter)));
    app.add_systems(Update, good.run_if(true));
    app.configure_sets(Update, Gated.run_if(wrong_parameter));
}
