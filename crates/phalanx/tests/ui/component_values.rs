//! Values in `#[component(..)]` that are none of the choices, or do not go together.

use phalanx::prelude::Component;

#[derive(Component)]
#[component(layout = "SoA")]
struct Layout(u8);

#[derive(Component)]
#[component(track = "rows")]
struct Track(u8);

#[derive(Component)]
#[component(storage = "list")]
struct Storage(u8);

#[derive(Component)]
#[component(storage = "sparse")]
struct Sparse(u8);

#[derive(Component)]
#[component(name = "")]
struct Nameless(u8);

#[derive(Component)]
#[component(fields = "pos")]
struct FieldsOfWhole {
    x: u8,
}

#[derive(Component)]
#[component(layout = "soa", fields = "my fields")]
struct FieldsNotName {
    x: u8,
}

#[derive(Component)]
#[component(crate = "not a path")]
struct NotPath(u8);

#[derive(Component)]
#[component(track = "block")]
struct TrackedTag;

#[derive(Component)]
#[component(layout = "whole")]
struct LaidOutTag;

fn main() {}
