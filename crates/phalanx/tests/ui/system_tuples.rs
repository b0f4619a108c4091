//! The system that is none, among others.

use phalanx::prelude::*;

fn good() {}
fn bad(_: String) {}
fn condition() -> u32 {
    1
}

fn main() {
    let mut app = App::new();
    app.add_systems(Update, (good, bad, good));
    app.add_systems(Update, (good, (good, bad).chain()).chain());
    app.add_systems(Update, (good, bad.after(good)));
    app.add_systems(Update, good.run_if(condition));
    app.add_systems(
        Update,
        (
            good, good, good, good, good, good, good, good, good, good, good, good, good, good, good, good, good,
            good, good, good, good,
        )
            .chain(),
    );
}
