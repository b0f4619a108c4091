//! Every value of the choices in `#[component(..)]`.

use phalanx::prelude::Component;

#[derive(Component)]
#[component(layout = "soa", fields = "pos")]
struct Soa(u8);

#[derive(Component)]
#[component(layout = "whole")]
struct Whole(u8);

#[derive(Component)]
#[component(track = "none", storage = "table")]
struct Untracked(u8);

#[derive(Component)]
#[component(track = "block")]
struct Block(u8);

#[derive(Component)]
#[component(track = "row")]
struct Row(u8);

#[derive(Component)]
#[component(track = "row")]
struct RowTag;

#[derive(Component)]
#[component(track = "none")]
struct Tag;

pub fn main() {
    let _ = (Soa(1), Whole(2), Untracked(3), Block(4), Row(5), RowTag, Tag);
}
