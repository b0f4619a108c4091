//! Shared ownership that may cross threads.

use phalanx::prelude::{Component, Resource};
use std::sync::Arc;

#[derive(Component)]
struct Whole(Arc<u8>);

#[derive(Component)]
#[component(layout = "soa")]
struct Fields {
    fine: u8,
    name: Arc<str>,
}

#[derive(Resource)]
struct Shared(Arc<u8>);

pub fn main() {
    let _ = Shared(Arc::new(1)).0;
    let fields = Fields { fine: 1, name: "a".into() };
    let _ = (Whole(Arc::new(1)).0, fields.fine, fields.name);
}
