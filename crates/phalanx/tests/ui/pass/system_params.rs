//! What the functions of the failing twin should have been.

use phalanx::prelude::*;

#[derive(Resource)]
struct Score(u32);

fn first(_: Local<u32>, _: Res<Score>) {}
fn later(_: Res<Score>, _: Option<Res<Score>>) {}
fn beside_the_world(world: &mut World, _: Local<u32>) {
    world.resource_mut::<Score>().0 += 1;
}
fn given(_: In<u32>) {}
fn kept(_: Local<Option<Score>>) {}
fn returns() -> u32 {
    3
}

type L<'a> = Local<'a, u32>;
fn seventeen(_: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: L, _: (L, L)) {}

pub fn main() {
    let mut app = App::new();
    app.insert_resource(Score(0));
    app.add_systems(Update, first);
    app.add_systems(Update, later);
    app.add_systems(Update, beside_the_world);
    app.add_systems(Update, returns.pipe(given));
    app.add_systems(Update, kept);
    app.add_systems(Update, seventeen);
    app.add_systems(Update, |_: Local<String>| {});
    app.step(0.0);
    assert_eq!(app.world().resource::<Score>().0, 1);
}
