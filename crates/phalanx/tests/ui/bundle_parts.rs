//! Each field of a bundle must be a component or a bundle.

use phalanx::prelude::{Bundle, Component};

#[derive(Component)]
struct Part(u8);

#[derive(Bundle)]
struct Mixed {
    part: Part,
    number: NotComponent,
}

struct NotComponent(u8);

fn main() {}
