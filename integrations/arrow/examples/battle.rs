//! Two factions lose health for ten frames; the history goes to a Parquet file.
//!
//! `cargo run --features parquet --example battle -- battle.parquet`

use phalanx::prelude::*;
use phalanx_arrow::{ArrowTypes, Export, History};
use serde::{Deserialize, Serialize};

#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq)]
#[component(save)]
enum Faction {
    Red,
    Blue,
}

#[derive(Component)]
#[component(layout = "soa")]
struct Health {
    current: f32,
    max: f32,
}

fn fight(mut fighters: Query<(&Faction, &mut Health)>) {
    for (faction, health) in &mut fighters {
        *health.current -= if *faction == Faction::Red { 1.0 } else { 0.5 };
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write: battle.parquet")?;
    let mut app = App::new();
    app.add_systems(Update, fight);
    for at in 0..1000 {
        let faction = if at % 2 == 0 { Faction::Red } else { Faction::Blue };
        app.world_mut().spawn((faction, Health { current: 100.0, max: 100.0 }));
    }
    let types = ArrowTypes::new().with::<Faction>();
    let mut history = History::parquet(std::fs::File::create(&path)?, Export::new(&types));
    for frame in 0..10 {
        history.append_at(app.world(), frame)?;
        app.step(0.02);
    }
    println!("{} frames in {path}", history.frames());
    history.finish()?;
    Ok(())
}
