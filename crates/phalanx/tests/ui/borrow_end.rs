//! Nothing that a world lends outlives it (hazard 19).

use phalanx::prelude::*;

#[derive(Component, Clone)]
#[component(layout = "soa")]
struct Label {
    text: String,
}

fn main() {
    let (row, text, reader) = {
        let mut world = World::new();
        let e = world.spawn(Label { text: String::new() }).id();
        (world.get::<Label>(e), world.get::<label::text>(e), world.entity(e))
    };
    println!("{:?} {text:?} {}", row.is_some(), reader.id());

    let mut world = World::new();
    let e = world.spawn(Label { text: String::new() }).id();
    let text = world.get::<label::text>(e);
    drop(world);
    println!("{text:?}");
}
