//! Any bytes are loaded without harm: as postcard, as JSON, as a file, and into a world that lives.
//!
//! The first byte chooses the form. What is loaded must be whole, and must be the same after it was saved again. Where
//! lengths and checksums would stop most mutations, the input is a list of pieces with a mark between them. The fuzzer
//! and `crates/phalanx/tests/save/fuzz.rs` share this file.

use phalanx::prelude::*;
use phalanx::save::{LoadError, Loader, SaveRegistry, Unknown};
use serde::{Deserialize, Deserializer, Serialize};

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

#[derive(Component, Clone, Serialize, Deserialize)]
#[component(save, name = "game.Likes")]
#[relationship(many)]
struct Likes {
    #[target]
    whom: Entity,
    amount: f32,
}

#[derive(Component, Clone, Serialize, Deserialize)]
#[component(save, name = "game.Married")]
#[relationship(many, exclusive, symmetric)]
struct Married(Entity);

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
        .register::<Likes>()
        .register::<Married>()
        .register::<Score>()
        .register::<Hit>()
        .unknown(Unknown::Keep)
        .migrate(
            phalanx::save::Migration::new("game.Health", 1..2).rename("hp", "current").default("max", 1),
        );
    types
}

/// What stands between the pieces of a save in the forms that are easy to mutate.
const BETWEEN: &[u8] = b"\xfe|\xfe";

/// Loads an input, and looks at what came of it.
pub fn load(data: &[u8]) {
    let Some((&form, bytes)) = data.split_first() else { return };
    let types = registry();
    match form {
        b'p' => whole(World::load(&mut postcard::Deserializer::from_bytes(bytes), &types), &types),
        b'j' => whole(World::load(&mut serde_json::Deserializer::from_slice(bytes), &types), &types),
        b'f' => whole(World::read_file_bytes([bytes], &types), &types),
        b'P' => {
            let bytes = list_of(&pieces(bytes));
            whole(World::load(&mut postcard::Deserializer::from_bytes(&bytes), &types), &types);
        }
        b'F' => whole(World::read_file_bytes([file_of(&pieces(bytes))], &types), &types),
        b'i' => into(&mut serde_json::Deserializer::from_slice(bytes), &types),
        b'I' => into(&mut postcard::Deserializer::from_bytes(&list_of(&pieces(bytes))), &types),
        _ => {}
    }
}

fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
        pieces.push(&rest[..at]);
        rest = &rest[at + BETWEEN.len()..];
    }
    pieces.push(rest);
    pieces
}

/// Pieces as postcard has them.
fn list_of(pieces: &[&[u8]]) -> Vec<u8> {
    postcard::to_stdvec(pieces).expect("a vector takes everything")
}

/// Pieces as a file has them, with the right checksums: damage that these would find hides what lies behind.
fn file_of(pieces: &[&[u8]]) -> Vec<u8> {
    let mut out = b"PHALANX\x01".to_vec();
    out.extend_from_slice(&[0; 8]);
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        out.extend(postcard::to_stdvec(&piece.len()).expect("a vector takes everything"));
        out.extend_from_slice(&checksum(piece).to_le_bytes());
        out.extend_from_slice(piece);
    }
    out.push(0);
    let sum = checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// What was loaded is whole, and the same after it was saved again, in every form.
fn whole(loaded: Result<World, LoadError>, types: &SaveRegistry) {
    let world = match loaded {
        Ok(world) => world,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    world.check().expect("what was loaded is whole");
    let mut serializer = postcard::Serializer { output: postcard::ser_flavors::StdVec::new() };
    world.save(&mut serializer).expect("what was loaded can be saved");
    let bytes =
        postcard::ser_flavors::Flavor::finalize(serializer.output).expect("a vector takes everything");
    let again = World::load(&mut postcard::Deserializer::from_bytes(&bytes), types).expect("its own save");
    same(&world, &again);
    let mut text = Vec::new();
    world.save(&mut serde_json::Serializer::new(&mut text)).expect("what was loaded can be saved");
    let again = World::load(&mut serde_json::Deserializer::from_slice(&text), types).expect("its own save");
    same(&world, &again);
}

fn same(world: &World, again: &World) {
    again.check().expect("what was loaded again is whole");
    assert_eq!(again.entities().next_ids(100), world.entities().next_ids(100));
    if let (Ok(one), Ok(other)) = (world.try_digest(), again.try_digest()) {
        assert_eq!(one, other, "{:?}", world.first_difference(again));
    }
}

/// A world that is loaded into is whole afterwards, and untouched by an error.
fn into<'de, D: Deserializer<'de>>(deserializer: D, types: &SaveRegistry) {
    let mut world = World::new();
    let hunted = world.spawn((Health { current: 1.0, max: 2.0 }, Burning(1.0))).id();
    world.spawn((Mind::Hunting(hunted), Position { x: 1.0, y: 2.0 }, ChildOf(hunted)));
    let liker = world.spawn_empty().id();
    world.link(liker, Likes { whom: hunted, amount: 0.5 }).expect("both live");
    world.link(hunted, Married(liker)).expect("both live");
    world.insert_resource(Score { points: 1, leader: Some(hunted) });
    let before = world.digest();
    if Loader::new().load_into(&mut world, deserializer, types).is_err() {
        assert_eq!(world.digest(), before);
    }
    world.check().expect("what was loaded into is whole");
}
