//! Functions that are conditions.

use phalanx::prelude::*;

#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
struct Gated;

fn good() {}
fn parameters(_: Res<Time>, _: Local<String>) -> bool {
    true
}
fn result() -> bool {
    false
}
fn error() -> Result<bool, std::fmt::Error> {
    Ok(true)
}

pub fn main() {
    let mut app = App::new();
    app.add_systems(Update, good.run_if(parameters));
    app.add_systems(Update, good.run_if(result));
    app.add_systems(Update, good.run_if(error));
    app.add_systems(Update, good.run_if(not(parameters)));
    app.add_systems(Update, good.run_if(|| true));
    app.configure_sets(Update, Gated.run_if(parameters));
}
