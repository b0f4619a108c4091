//! Tuples of systems in tuples, in any number.

use phalanx::prelude::*;

fn good() {}
fn better(_: Local<String>) {}
fn condition() -> bool {
    true
}

pub fn main() {
    let mut app = App::new();
    app.add_systems(Update, (good, better, good));
    app.add_systems(Update, (good, (good, better).chain()).chain());
    app.add_systems(Update, (good, better.after(good)));
    app.add_systems(Update, good.run_if(condition));
    app.add_systems(
        Update,
        (
            (good, good).chain(),
            (
                good, good, good, good, good, good, good, good, good, good, good, good, good, good, good, good, good,
                good, good, good,
            ),
        )
            .chain(),
    );
}
