//! The same rows, used without copying; and rows that can be copied.

use phalanx::__private::Queryable;
use phalanx::prelude::Component;

struct Unclonable;

#[derive(Component)]
#[component(layout = "soa")]
struct Odd {
    fine: u8,
    odd: Unclonable,
}

#[derive(Component)]
#[component(layout = "soa")]
struct Even {
    fine: u8,
    text: String,
}

pub fn main() {
    let row = Odd::wrap_ref((&1, &Unclonable));
    let _ = (row.fine, row.odd);
    let text = String::new();
    let row = Even::wrap_ref((&1, &text));
    let value = row.get();
    println!("{row:?} {} {}", value.fine, value.text);
}
