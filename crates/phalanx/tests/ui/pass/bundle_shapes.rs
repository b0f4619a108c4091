//! Structs that own their parts, of every form.

use phalanx::prelude::{Bundle, Component};

#[derive(Component)]
struct Part(u8);

#[derive(Component)]
struct Borrowing(&'static u8);

#[derive(Bundle)]
struct Empty;

#[derive(Bundle)]
struct Unnamed(Part, Borrowing);

#[derive(Bundle)]
#[bundle(crate = "phalanx")]
struct Named {
    part: Part,
}

pub fn main() {
    let _ = (Empty, Unnamed(Part(1), Borrowing(&2)), Named { part: Part(3) });
    let _ = (Part(1).0, Borrowing(&2).0);
}
