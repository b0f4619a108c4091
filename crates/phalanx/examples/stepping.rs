//! Stepping: a frame, system by system, to look at the world in between; and why a system did not run.
//!
//! Run with `cargo run -p phalanx --example stepping`.

use phalanx::prelude::*;
use phalanx::schedule::Stepping;

#[derive(Resource, Default, Debug)]
struct Number(i64);

fn double(mut number: ResMut<Number>) {
    number.0 *= 2;
}
fn add(mut number: ResMut<Number>) {
    number.0 += 3;
}
fn negate(mut number: ResMut<Number>) {
    number.0 = -number.0;
}
fn is_large(number: Res<Number>) -> bool {
    number.0 > 100
}
fn shrink(mut number: ResMut<Number>) {
    number.0 = 0;
}

/// Runs a frame and shows what it did.
fn frame(app: &mut App, wish: &str) -> i64 {
    let mut stepping = app.world_mut().resource_mut::<Stepping>();
    match wish {
        "step" => stepping.step_frame(),
        "continue" => stepping.continue_frame(),
        _ => &mut stepping,
    };
    app.step(1.0 / 60.0);
    let number = app.world().resource::<Number>().0;
    println!("{wish:>8}: the number is {number}");
    number
}

fn main() {
    let mut app = App::new();
    app.insert_resource(Number(1));
    app.add_systems(Update, (double, add, negate, shrink.run_if(is_large)).chain());

    let mut stepping = Stepping::new();
    stepping.add_schedule(Update).set_breakpoint(Update, negate).enable();
    app.insert_resource(stepping);

    assert_eq!(frame(&mut app, "wait"), 1);
    assert_eq!(frame(&mut app, "step"), 2);
    for held in app.schedule(Update).why_skipped(add) {
        println!("          {held}");
    }
    assert_eq!(frame(&mut app, "continue"), 5); // to the breakpoint
    assert_eq!(frame(&mut app, "continue"), -5); // to the end of the frame
    for skipped in app.schedule(Update).why_skipped(shrink) {
        println!("          {skipped}");
    }

    app.world_mut().resource_mut::<Stepping>().disable();
    assert_eq!(frame(&mut app, "run"), 7);

    // What a system waits for, and what each of these holds.
    for waited in app.schedule(Update).why_waited(negate).expect("the order is clear") {
        println!("          {waited}");
    }
}
