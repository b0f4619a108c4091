//! Types that cannot be bundles.

use phalanx::prelude::{Bundle, Component};

#[derive(Component)]
struct Part(u8);

#[derive(Bundle)]
enum Choice {
    A(Part),
}

#[derive(Bundle)]
union Either {
    a: std::mem::ManuallyDrop<Part>,
}

#[derive(Bundle)]
struct Borrowing<'a> {
    part: &'a Part,
}

#[derive(Bundle)]
#[bundle(name = "bundle")]
struct Named {
    part: Part,
}

#[derive(Bundle)]
struct OnField {
    #[bundle(crate = "phalanx")]
    part: Part,
}

fn main() {}
