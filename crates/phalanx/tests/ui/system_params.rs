//! A function that is no system: which parameter is wrong, and what is allowed.

use phalanx::prelude::*;

#[derive(Resource)]
struct Score(u32);

fn first(_: u32, _: Res<Score>) {}
fn later(_: Res<Score>, _: Score) {}
fn beside_the_world(_: &mut World, _: Res<Score>) {}
fn given(_: In<u32>) {}
fn kept(_: Local<Score>) {}
fn returns() -> u32 {
    3
}

type L<'a> = Local<'a, u32>;
fn seventeen(_: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L) {}

fn main() {
    let mut app = App::new();
    app.add_systems(Update, first);
    app.add_systems(Update, later);
    app.add_systems(Update, beside_the_world);
    app.add_systems(Update, given);
    app.add_systems(Update, kept);
    app.add_systems(Update, returns);
    app.add_systems(Update, seventeen);
    app.add_systems(Update, |_: String| {});
}
