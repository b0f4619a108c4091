//! Keys of `#[component(..)]` that are not known, given twice, or without a value.

use phalanx::prelude::Component;

#[derive(Component)]
#[component(storge = "table")]
struct Unknown(u8);

#[derive(Component)]
#[component(track = "row", layout = "whole", track = "none")]
struct Twice(u8);

#[derive(Component)]
#[component(name = "a")]
#[component(name = "b")]
struct TwiceApart(u8);

#[derive(Component)]
#[component(layout)]
struct WithoutValue(u8);

#[derive(Component)]
#[component(layout(soa))]
struct AsList(u8);

#[derive(Component)]
#[component(name = 3)]
struct NotText(u8);

#[derive(Component)]
#[component]
struct Bare(u8);

#[derive(Component)]
#[component = "soa"]
struct Assigned(u8);

#[derive(Component)]
#[component(name = "a" layout = "soa")]
struct WithoutComma(u8);

#[derive(Component)]
struct OnField {
    #[component(track = "row")]
    x: u8,
}

#[derive(Component)]
enum OnVariant {
    #[require(OnField)]
    A,
}

#[derive(Component)]
#[component(layout = "soa", immutable)]
struct InFields {
    x: u8,
}

fn main() {}
