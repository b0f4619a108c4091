//! Every key of `#[component(..)]`, in one list and in several.

use phalanx::prelude::Component;

#[derive(Component)]
#[component(
    name = "all",
    layout = "soa",
    track = "row",
    fields = "every_field",
    storage = "table",
    crate = "::phalanx"
)]
struct All(u8);

#[derive(Component)]
#[component(name = "apart")]
#[component(track = "none", layout = "whole")]
#[component()]
struct Apart(u8);

pub fn main() {
    let _ = (All(1), Apart(2));
}
