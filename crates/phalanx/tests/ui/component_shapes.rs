//! Types that cannot be components, or not the way they ask to be.

use phalanx::prelude::Component;

#[derive(Component)]
union Either {
    a: u8,
    b: i8,
}

#[derive(Component)]
#[component(layout = "soa")]
enum Split {
    A(u8),
}

#[derive(Component)]
#[component(layout = "soa")]
struct Unit;

#[derive(Component)]
#[component(layout = "soa")]
struct Empty {}

#[derive(Component)]
#[component(layout = "soa")]
struct EmptyTuple();

#[derive(Component)]
struct Borrowing<'a>(&'a str);

#[derive(Component)]
#[component(layout = "soa")]
struct Str {
    bytes: Vec<u8>,
}

fn main() {}
