//! The types that the tests save: one of each kind of storage, layout and value.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::save::SaveRegistry;
use serde::{Deserialize, Serialize};

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Health", version = 2)]
pub struct Health {
    pub current: f32,
    pub max: f32,
}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Position", layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f64,
}

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Frozen")]
pub struct Frozen;

/// Everything that a value can be.
#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Mind", track = "row")]
pub enum Mind {
    Idle,
    Hunting(Entity),
    Pair(u8, Option<String>),
    Torn { between: Vec<Entity>, since: Option<Option<u64>>, words: BTreeMap<i32, char> },
    Counting(u64, i64, i8, bool),
}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Burning", storage = "sparse")]
pub struct Burning(pub f32);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Armour", storage = "sparse", layout = "soa", track = "row")]
pub struct Armour {
    pub class: u32,
    pub given_by: Entity,
}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Marked", storage = "sparse")]
pub struct Marked;

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Seat", storage = "sparse", stable)]
pub struct Seat(pub String);

/// Generic, and written in more than one way.
#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Slot")]
pub struct Slot<T: std::hash::Hash> {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left: Option<T>,
    pub right: T,
}

#[derive(Component, Clone, Debug, PartialEq)]
pub struct Unsaved(pub u32);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Rage")]
pub struct Rage(pub i16);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Likes", version = 2)]
#[relationship(many)]
pub struct Likes {
    #[target]
    pub whom: Entity,
    pub amount: f32,
    pub introduced_by: Option<Entity>,
}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Obeys")]
#[relationship(many, exclusive)]
pub struct Obeys(pub Entity);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Knows")]
#[relationship(many, symmetric)]
pub struct Knows {
    #[target]
    pub whom: Entity,
    pub years: u32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(name = "game.Fears")]
#[relationship(many)]
pub struct Fears(pub Entity);

#[derive(Pool)]
#[pool(name = "orcs")]
pub struct Orcs {
    pub health: Health,
    pub rage: Option<Rage>,
    pub burning: Option<Burning>,
}

#[derive(Pool)]
#[pool(name = "ghosts", storage = "boxed")]
pub struct Ghosts {
    pub position: Position,
    pub seat: Option<Seat>,
}

#[derive(Resource, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[resource(save, name = "game.Score", version = 3)]
pub struct Score {
    pub points: u64,
    pub leader: Option<Entity>,
}

#[derive(Message, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[message(save, name = "game.Hit")]
pub struct Hit(pub Entity, pub f32);

#[derive(Message, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[message(save, name = "game.Heard", layout = "soa")]
pub struct Heard {
    pub what: String,
    pub loud: u8,
}

#[derive(Message, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[message(save, name = "game.Signal")]
pub struct Signal;

pub fn registry() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types
        .register::<Health>()
        .register::<Position>()
        .register::<Frozen>()
        .register::<Mind>()
        .register::<Burning>()
        .register::<Armour>()
        .register::<Marked>()
        .register::<Seat>()
        .register::<Slot<i32>>()
        .register::<Rage>()
        .register::<Likes>()
        .register::<Obeys>()
        .register::<Knows>()
        .register::<Score>()
        .register::<Hit>()
        .register::<Heard>()
        .register::<Signal>()
        .register_pool::<Orcs>()
        .register_pool::<Ghosts>();
    types
}

/// A world as JSON.
pub fn to_json(world: &World) -> Vec<u8> {
    let mut text = Vec::new();
    world.save(&mut serde_json::Serializer::new(&mut text)).expect("every value can be saved");
    text
}

/// A world of JSON.
pub fn from_json(text: &[u8], types: &SaveRegistry) -> Result<World, phalanx::save::LoadError> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    World::load(&mut deserializer, types)
}

/// A world as postcard.
pub fn to_postcard(world: &World) -> Vec<u8> {
    let mut serializer = postcard::Serializer { output: postcard::ser_flavors::StdVec::new() };
    world.save(&mut serializer).expect("every value can be saved");
    postcard::ser_flavors::Flavor::finalize(serializer.output).expect("a vector takes everything")
}

/// A world of postcard.
pub fn from_postcard(bytes: &[u8], types: &SaveRegistry) -> Result<World, phalanx::save::LoadError> {
    World::load(&mut postcard::Deserializer::from_bytes(bytes), types)
}

/// A world as RON.
pub fn to_ron(world: &World) -> String {
    let mut text = String::new();
    let mut serializer = ron::Serializer::new(&mut text, None).expect("no options are wrong");
    world.save(&mut serializer).expect("every value can be saved");
    drop(serializer);
    text
}

/// A world of RON.
pub fn from_ron(text: &str, types: &SaveRegistry) -> Result<World, phalanx::save::LoadError> {
    World::load(&mut ron::Deserializer::from_str(text).expect("a text"), types)
}
