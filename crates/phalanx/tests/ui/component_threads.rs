//! A component or resource must be fit to be shared between threads, whole or field by field.

use phalanx::prelude::{Component, Resource};
use std::rc::Rc;

#[derive(Component)]
struct Whole(Rc<u8>);

#[derive(Component)]
#[component(layout = "soa")]
struct Fields {
    fine: u8,
    name: Rc<str>,
}

#[derive(Resource)]
struct Shared(Rc<u8>);

fn main() {}
