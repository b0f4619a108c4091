//! `get` copies a row, so every field must be `Clone`; without it only the call is refused.

use phalanx::__private::Queryable;
use phalanx::prelude::Component;

struct Unclonable;

#[derive(Component)]
#[component(layout = "soa")]
struct Odd {
    fine: u8,
    odd: Unclonable,
}

fn main() {
    let row = Odd::wrap_ref((&1, &Unclonable));
    row.get();
    println!("{row:?}");
}
