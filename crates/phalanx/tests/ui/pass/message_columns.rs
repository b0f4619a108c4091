//! A message that is taken apart, and slices that end in time.

use phalanx::messages::{Cursor, Messages};
use phalanx::prelude::{Message, MessageReader};

#[derive(Message)]
#[message(layout = "soa")]
struct Hit {
    x: u8,
}

fn growth(messages: &mut Messages<Hit>) {
    let hits = messages.columns(&mut Cursor::default());
    assert!(hits.x.is_empty());
    messages.write(Hit { x: 1 });
}

fn within<'a>(mut reader: MessageReader<'a, 'a, Hit>) -> &'a [u8] {
    reader.columns().x
}

pub fn main() {
    growth(&mut Messages::new());
    let _ = within;
}
