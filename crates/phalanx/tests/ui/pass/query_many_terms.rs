//! Fifteen parts, and more in nested tuples.

use phalanx::prelude::*;

#[derive(Component)]
struct H(u32);

type Fifteen = (&'static H, &'static H, &'static H, &'static H, &'static H, &'static H, &'static H, &'static H,
    &'static H, &'static H, &'static H, &'static H, &'static H, &'static H, &'static H);
type Filters = (With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>,
    With<H>, With<H>, With<H>, With<H>);

fn data(_: Query<(Fifteen, &H)>) {}
fn filter(_: Query<Entity, (Filters, With<H>)>) {}

pub fn main() {
    let mut world = World::new();
    world.spawn(H(0));
    world.run_system_once(data).expect("it runs");
    world.run_system_once(filter).expect("it runs");
}
