//! The same type, kept whole.

use phalanx::prelude::Component;

#[derive(Component)]
struct Guard {
    x: u8,
}

impl Drop for Guard {
    fn drop(&mut self) {}
}

pub fn main() {
    let _ = Guard { x: 1 }.x;
}
