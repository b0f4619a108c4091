//! Resources and messages of every shape.

use phalanx::prelude::{Message, Resource};

#[derive(Message, Resource)]
#[message(layout = "whole")]
struct Whole {
    x: u8,
}

#[derive(Message, Resource)]
struct Signal;

#[derive(Message, Resource)]
enum Choice<T> {
    A(T),
}

#[derive(Message, Resource)]
#[message(layout = "soa")]
struct Columns {
    x: u8,
}

pub fn main() {
    let _ = (Whole { x: 1 }.x, Signal, Choice::A(1), Columns { x: 1 }.x);
}
