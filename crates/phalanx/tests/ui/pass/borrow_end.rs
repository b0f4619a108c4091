//! What is copied out of a world outlives it.

use phalanx::prelude::*;

#[derive(Component, Clone)]
#[component(layout = "soa")]
struct Label {
    text: String,
}

pub fn main() {
    let (row, text, id) = {
        let mut world = World::new();
        let e = world.spawn(Label { text: String::new() }).id();
        (
            world.get::<Label>(e).map(|row| row.get()),
            world.get::<label::text>(e).cloned(),
            world.entity(e).id(),
        )
    };
    println!("{:?} {text:?} {id}", row.is_some());

    let mut world = World::new();
    let e = world.spawn(Label { text: String::new() }).id();
    let taken = world.take::<Label>(e);
    drop(world);
    println!("{:?}", taken.map(|label| label.text));
}
