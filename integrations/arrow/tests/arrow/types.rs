//! The components of the tests: one of each kind.

use phalanx::prelude::*;
use phalanx_arrow::ArrowTypes;
use serde::{Deserialize, Serialize};

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[component(save, layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
#[component(save, version = 3)]
pub struct Unit {
    pub hp: i16,
    pub name: String,
    pub at: [f64; 3],
    pub kind: Kind,
    pub boss: bool,
    pub scars: Vec<u8>,
    pub target: Option<Entity>,
}

#[derive(Digestible, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Archer,
    Rider,
    Healer,
}

#[derive(Component, Digestible, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[component(save)]
pub enum Faction {
    Red,
    Blue,
}

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[component(save)]
pub struct Frozen;

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[component(save, storage = "sparse")]
pub struct Burning(pub f32);

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
#[component(save)]
pub struct Leader(pub Option<Entity>);

/// Has no `Serialize`: numbers go by name, and come back into a default value.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct Score {
    pub points: u64,
    pub ratio: f64,
}

pub fn types() -> ArrowTypes {
    ArrowTypes::new()
        .with::<Position>()
        .with::<Unit>()
        .with::<Faction>()
        .with::<Frozen>()
        .with::<Burning>()
        .with::<Leader>()
}

/// A generator of numbers that are the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn chance(&mut self) -> bool {
        self.next() & 64 == 0
    }
}
