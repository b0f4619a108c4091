//! A message that is taken apart has no `Drop` of its own, and its slices end before the channel changes.

use phalanx::messages::{Cursor, Messages};
use phalanx::prelude::{Message, MessageReader};

#[derive(Message)]
#[message(layout = "soa")]
struct Dropping {
    x: u8,
}
impl Drop for Dropping {
    fn drop(&mut self) {}
}

#[derive(Message)]
#[message(layout = "soa")]
struct Hit {
    x: u8,
}

fn growth(messages: &mut Messages<Hit>) {
    let hits = messages.columns(&mut Cursor::default());
    messages.write(Hit { x: 1 });
    println!("{}", hits.x[0]);
}

fn outlives(mut reader: MessageReader<Hit>) -> &'static [u8] {
    reader.columns().x
}

fn main() {}
