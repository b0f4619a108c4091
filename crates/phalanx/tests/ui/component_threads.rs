//! A component must be fit to be shared between threads, whole or field by field.

use phalanx::prelude::Component;
use std::rc::Rc;

#[derive(Component)]
struct Whole(Rc<u8>);

#[derive(Component)]
#[component(layout = "soa")]
struct Fields {
    fine: u8,
    name: Rc<str>,
}

fn main() {}
