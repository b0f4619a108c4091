//! Any bytes are loaded without harm: as postcard, as JSON, and as a file.
//!
//! The first byte chooses the form. What is loaded must be whole, and must be the same after it was saved again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use phalanx::prelude::*;
use phalanx::save::{SaveRegistry, Unknown};
use serde::{Deserialize, Serialize};

#[derive(Component, Serialize, Deserialize)]
#[component(save, name = "game.Health", version = 2)]
struct Health {
    current: f32,
    max: f32,
}

#[derive(Component, Clone, Serialize, Deserialize)]
#[component(save, name = "game.Position", layout = "soa")]
struct Position {
    x: f32,
    y: f64,
}

#[derive(Component, Serialize, Deserialize)]
#[component(save, name = "game.Mind", track = "row")]
enum Mind {
    Idle,
    Hunting(Entity),
    Pair(u8, Option<String>),
    Torn { between: Vec<Entity>, since: Option<u64> },
}

#[derive(Component, Serialize, Deserialize)]
#[component(save, name = "game.Burning", storage = "sparse")]
struct Burning(f32);

#[derive(Component, Serialize, Deserialize)]
#[component(save, name = "game.Seat", storage = "sparse", stable)]
struct Seat(String);

#[derive(Resource, Serialize, Deserialize)]
#[resource(save, name = "game.Score", version = 3)]
struct Score {
    points: u64,
    leader: Option<Entity>,
}

#[derive(Message, Serialize, Deserialize)]
#[message(save, name = "game.Hit")]
struct Hit(Entity, f32);

fn registry() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types
        .register::<Health>()
        .register::<Position>()
        .register::<Mind>()
        .register::<Burning>()
        .register::<Seat>()
        .register::<Score>()
        .register::<Hit>()
        .unknown(Unknown::Keep)
        .migrate(phalanx::save::Migration::new("game.Health", 1..2).rename("hp", "current").default("max", 1));
    types
}

fuzz_target!(|data: &[u8]| {
    let Some((&form, bytes)) = data.split_first() else { return };
    let types = registry();
    let loaded = if form % 2 == 0 {
        World::load(&mut postcard::Deserializer::from_bytes(bytes), &types)
    } else {
        World::load(&mut serde_json::Deserializer::from_slice(bytes), &types)
    };
    let Ok(world) = loaded else { return };
    world.check().expect("what was loaded is whole");
    let mut serializer = postcard::Serializer { output: postcard::ser_flavors::StdVec::new() };
    world.save(&mut serializer).expect("what was loaded can be saved");
    let bytes = postcard::ser_flavors::Flavor::finalize(serializer.output).expect("a vector takes everything");
    let again = World::load(&mut postcard::Deserializer::from_bytes(&bytes), &types).expect("its own save");
    assert_eq!(again.entities().next_ids(100), world.entities().next_ids(100));
});
