//! Components, tuples, bundles and parameters as the fields of a bundle.

use phalanx::prelude::{Bundle, Component};

#[derive(Component)]
struct Part(u8);

#[derive(Component)]
struct Other(u8);

#[derive(Bundle)]
struct Inner(Part);

#[derive(Bundle)]
struct Mixed<T> {
    part: Part,
    pair: (Other,),
    inner: Inner,
    rest: T,
}

pub fn main() {
    let mixed = Mixed { part: Part(1), pair: (Other(2),), inner: Inner(Part(3)), rest: () };
    let _ = (mixed.part.0, mixed.pair.0.0, mixed.inner.0, mixed.rest);
}
