//! Attributes and shapes that resources and messages cannot have.

use phalanx::prelude::{Message, Resource};

#[derive(Message)]
#[message(layout = "soa")]
struct Numbered(u8, u8);

#[derive(Message)]
#[message(layout = "soa")]
struct Signal;

#[derive(Message)]
#[message(layout = "soa")]
struct Empty {}

#[derive(Message)]
#[message(layout = "soa")]
enum Choice {
    A { x: u8 },
}

#[derive(Message)]
#[message(layout = "soa", fields = "columns")]
struct Fields {
    x: u8,
}

#[derive(Message)]
struct Inside {
    #[message(layout = "soa")]
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
