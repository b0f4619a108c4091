//! A component has at most one field, under whatever name.
use phalanx::prelude::*;

#[derive(Component)]
struct Health(u32);
#[derive(Component)]
struct Frozen;
type Chilled = Frozen;

#[derive(Pool)]
struct Twice {
    now: Health,
    most: Option<Health>,
}

#[derive(Pool)]
struct Alias {
    frozen: Option<Frozen>,
    chilled: Option<Chilled>,
}

fn main() {}
