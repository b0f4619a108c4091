//! The nearest shapes that can be components.

use phalanx::prelude::Component;

union Either {
    a: u8,
    _b: i8,
}

#[derive(Component)]
struct Holder(Either);

#[derive(Component)]
enum Whole {
    A(u8),
}

#[derive(Component)]
struct Unit;

#[derive(Component)]
struct Empty {}

#[derive(Component)]
struct EmptyTuple();

#[derive(Component)]
struct Static(&'static str);

#[derive(Component)]
#[component(layout = "soa", fields = "str_fields")]
struct Str {
    bytes: Vec<u8>,
}

pub fn main() {
    let _ = (
        Holder(Either { a: 1 }),
        Whole::A(1),
        Unit,
        Empty {},
        EmptyTuple(),
        Static(""),
        Str { bytes: vec![] },
    );
}
