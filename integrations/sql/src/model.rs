//! A small battle, on one rank or on several: factions lose health while they walk to the right.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx_arrow::ArrowTypes;
use phalanx_mpi::{Ghost, GlobalId, Located};
use serde::{Deserialize, Serialize};

/// The side of the square.
pub const SIDE: f32 = 60.0;
/// How many fighters there are on all ranks.
pub const FIGHTERS: u64 = 3000;

/// Where a fighter is.
#[derive(Component, Serialize, Deserialize, Clone, Copy)]
#[component(save)]
pub struct Position {
    pub x: f32,
    pub y: f32,
}

impl Located for Position {
    fn place(&self) -> [f64; 3] {
        [self.x.into(), self.y.into(), 0.0]
    }
}

/// Whose side a fighter is on. Some are on none.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[component(save)]
pub enum Faction {
    Red,
    Green,
    Blue,
}

/// What is left of a fighter. Whole numbers, so that sums are the same in any order.
#[derive(Component, Serialize, Deserialize, Clone, Copy)]
#[component(save)]
pub struct Health {
    pub hp: f32,
}

/// The types that an export reads.
pub fn types() -> ArrowTypes {
    ArrowTypes::new().with::<Position>().with::<Faction>().with::<Health>().with::<GlobalId>()
}

/// Spawns the fighters whose place is asked for. Every seventh has no faction, every eleventh no health.
pub fn populate(world: &mut World, owns: impl Fn([f64; 3]) -> bool) {
    for id in 0..FIGHTERS {
        let part = |of: u64| f32::from(u16::try_from(of).expect("a small number"));
        let position = Position { x: part(id % 60), y: part(id / 60) };
        if !owns(position.place()) {
            continue;
        }
        let mut fighter = world.spawn((GlobalId(id), position));
        if id % 7 != 0 {
            fighter.insert(
                [Faction::Red, Faction::Green, Faction::Blue][usize::try_from(id % 3).expect("below three")],
            );
        }
        if id % 11 != 0 {
            fighter.insert(Health { hp: part(200 + id % 50) });
        }
    }
}

/// All lose health, by faction and place.
pub fn fight(mut fighters: Query<(&Faction, &Position, &mut Health), Without<Ghost>>) {
    for (faction, position, mut health) in &mut fighters {
        let loss = match faction {
            Faction::Red => 3.0,
            Faction::Green => 2.0,
            Faction::Blue => 1.0,
        };
        health.hp -= if position.x > SIDE / 2.0 { loss + 1.0 } else { loss };
    }
}

/// All walk to the right, and begin on the left again.
pub fn walk(mut fighters: Query<&mut Position, Without<Ghost>>) {
    for mut position in &mut fighters {
        position.x = (position.x + 1.0) % SIDE;
    }
}

/// For each faction: how many have health, and the sum of it.
pub type Count = BTreeMap<String, (u64, f64)>;

/// What `select faction, count(*), sum(hp) from Health join Faction using (entity) group by 1` must say, counted by a query.
pub fn count(world: &World) -> Count {
    let mut count = Count::new();
    for (faction, health) in world.view_filtered::<(&Faction, &Health), Without<Ghost>>().iter() {
        let (fighters, sum) = count.entry(format!("{faction:?}")).or_default();
        *fighters += 1;
        *sum += f64::from(health.hp);
    }
    count
}
