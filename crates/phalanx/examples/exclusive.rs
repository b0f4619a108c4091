//! Exclusive systems: the whole world, and things that belong to one thread.
//!
//! Run with `cargo run -p phalanx --example exclusive`.

use std::cell::Cell;
use std::rc::Rc;

use phalanx::prelude::*;

#[derive(Component)]
struct Age(u32);

/// A handle of a library that must stay on its thread.
struct Window(Rc<Cell<u32>>);

fn grow(world: &mut World, mut calls: Local<u32>, ages: &mut QueryState<&mut Age>) {
    *calls += 1;
    for mut age in ages.iter_mut(world) {
        age.0 += 1;
    }
    // Structure changes at once, no commands needed.
    world.spawn(Age(0));
    println!("call {}: {} entities", *calls, world.entities().len());
}

fn draw(world: &mut World) {
    world.non_send_scope(|world, window: &mut Window| {
        window.0.set(window.0.get() + 1);
        println!(
            "drawn {} times, oldest {:?}",
            window.0.get(),
            world.view::<&Age>().into_iter().map(|a| a.0).max()
        );
    });
}

fn main() {
    let drawn = Rc::new(Cell::new(0));
    let mut app = App::new();
    app.world_mut().insert_non_send(Window(Rc::clone(&drawn)));
    app.add_systems(Update, (grow, draw).chain());
    (0..3).for_each(|_| app.step(0.1));
    assert_eq!(drawn.get(), 3);
}
