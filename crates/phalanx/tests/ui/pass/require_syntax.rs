//! The same requirements, well formed.

use phalanx::prelude::Component;

#[derive(Component, Default)]
struct Other(u8);

#[derive(Component, Default)]
struct Third(u8);

#[derive(Component)]
#[require(Other)]
struct One;

#[derive(Component)]
#[require(Other(3), Third)]
struct Two;

#[derive(Component)]
#[require(Other)]
#[require(Third = Third(3))]
struct Apart;

#[derive(Component)]
#[require()]
struct Empty;

pub fn main() {
    let _ = (One, Two, Apart, Empty, Other(1).0, Third(2).0);
}
