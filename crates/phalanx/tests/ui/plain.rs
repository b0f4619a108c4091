//! Attributes and shapes that resources and messages cannot have.

use phalanx::prelude::{Message, Resource};

#[derive(Message)]
#[message(layout = "soa")]
struct Columns {
    x: u8,
}

#[derive(Message)]
#[message(layout = "rows")]
struct Layout {
    x: u8,
}

#[derive(Message)]
#[message(name = "a")]
struct NamedMessage;

#[derive(Resource)]
#[resource(name = "a")]
struct NamedResource;

#[derive(Resource)]
struct Borrowing<'a>(&'a str);

#[derive(Message)]
struct BorrowingMessage<'a>(&'a str);

fn main() {}
