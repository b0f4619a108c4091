//! The same requirements with values.

use phalanx::prelude::Component;

#[derive(Component)]
struct NoDefault(u8);

#[derive(Component, Default)]
struct WithDefault;

#[derive(Component)]
#[require(NoDefault(3), WithDefault)]
struct Needs;

#[derive(Component)]
#[require(NoDefault = NoDefault(3u8),)]
struct NeedsToo;

pub fn main() {
    let _ = (Needs, NeedsToo, NoDefault(0).0);
}
