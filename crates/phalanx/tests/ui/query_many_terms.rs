//! More parts than a tuple may have: the message says to nest them.

use phalanx::prelude::*;

#[derive(Component)]
struct H(u32);

type Sixteen = (&'static H, &'static H, &'static H, &'static H, &'static H, &'static H, &'static H, &'static H,
    &'static H, &'static H, &'static H, &'static H, &'static H, &'static H, &'static H, &'static H);
type Filters = (With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>, With<H>,
    With<H>, With<H>, With<H>, With<H>, With<H>);

fn data(_: Query<Sixteen>) {}
fn filter(_: Query<Entity, Filters>) {}

fn main() {
    World::new().spawn((H(0), H(1), H(2), H(3), H(4), H(5), H(6), H(7), H(8), H(9), H(10), H(11), H(12), H(13), H(14), H(15)));
}
