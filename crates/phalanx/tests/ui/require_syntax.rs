//! Requirements that are not well formed.

use phalanx::prelude::Component;

#[derive(Component, Default)]
struct Other(u8);

#[derive(Component)]
#[require(Itself)]
struct Itself;

#[derive(Component)]
#[require(Other, Other(3))]
struct Twice;

#[derive(Component)]
#[require(Other)]
#[require(Other)]
struct TwiceApart;

#[derive(Component)]
#[require(Other: 3)]
struct Colon;

#[derive(Component)]
#[require("Other")]
struct Text;

#[derive(Component)]
#[require(Other =)]
struct WithoutValue;

#[derive(Component)]
#[require]
struct Bare;

fn main() {}
