//! Components of every kind, and pools of both strategies, for the tests of pools.
//!
//! `Orcs` keeps its headers inline, `Elves` boxed; they share most components, so that entities can move between
//! them. `Crowd` is generic.
#![allow(dead_code)]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health(pub u32);

#[derive(Component, Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Default)]
#[component(track = "row")]
pub struct Rage(pub u32);

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frozen;

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(storage = "sparse")]
pub struct Burning(pub u32);

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(storage = "sparse")]
pub struct Clan(pub u32);

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wings;

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side<const N: usize>;

#[derive(Pool)]
pub struct Orcs {
    pub position: Position,
    pub health: Health,
    pub clan: Clan,
    pub rage: Option<Rage>,
    pub frozen: Option<Frozen>,
    pub name: Option<Name>,
    pub burning: Option<Burning>,
}

#[derive(Pool)]
#[pool(storage = "boxed", name = "the elves", capacity = 100)]
pub struct Elves {
    pub position: Position,
    pub name: Name,
    pub health: Option<Health>,
    pub burning: Option<Burning>,
    pub clan: Option<Clan>,
}

#[derive(Pool)]
pub struct Crowd<const N: usize> {
    pub side: Side<N>,
    pub health: Option<Health>,
}

#[derive(Pool)]
pub struct Ghosts {
    pub frozen: Option<Frozen>,
    pub burning: Option<Burning>,
}

pub fn at(x: f32) -> Position {
    Position { x, y: -x }
}

pub fn orc(n: u32) -> Orcs {
    Orcs {
        position: Position { x: 1.0, y: 2.0 },
        health: Health(n),
        clan: Clan(n),
        rage: None,
        frozen: None,
        name: None,
        burning: None,
    }
}

pub fn elf(name: &str) -> Elves {
    Elves { position: at(3.0), name: Name(name.to_owned()), health: None, burning: None, clan: None }
}

pub fn ok(world: &World) {
    if let Err(fault) = world.check() {
        panic!("{fault}");
    }
}
