//! Requirements whose value cannot be made.

use phalanx::prelude::Component;

#[derive(Component)]
struct NoDefault(u8);

#[derive(Default)]
struct NotComponent;

#[derive(Component)]
#[require(NoDefault)]
struct NeedsDefault;

#[derive(Component)]
#[require(NotComponent)]
struct NeedsComponent;

#[derive(Component)]
#[require(NoDefault = 3u8)]
struct NeedsOtherType;

fn main() {}
