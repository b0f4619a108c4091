//! Loading a save of an older version of the game.
//!
//! The version of a type stands in its attribute and in every save. A migration says what changed from one version to
//! the next: it sees values as trees, in whatever format they were saved. Needs the feature `serde`.

use phalanx::prelude::*;
use phalanx::save::{KeptComponents, Migration, SaveRegistry, Unknown};
use serde::{Deserialize, Serialize};

/// The game as it was when the save was written.
mod first {
    use super::*;

    #[derive(Component, Serialize, Deserialize)]
    #[component(save, name = "game.Health")]
    pub struct Health {
        pub hp: u8,
    }

    #[derive(Component, Serialize, Deserialize)]
    #[component(save, name = "game.Team")]
    pub enum Team {
        Red,
        Blue,
    }

    #[derive(Component, Serialize, Deserialize)]
    #[component(save, name = "mod.Hat")]
    pub struct Hat(pub String);
}

/// Points became parts of a hundred, and there is a limit.
#[derive(Component, Serialize, Deserialize, Debug, PartialEq)]
#[component(save, name = "game.Health", version = 2)]
struct Health {
    current: f32,
    max: f32,
}

/// Teams have names by now, and the type has another one.
#[derive(Component, Serialize, Deserialize, Debug, PartialEq)]
#[component(save, name = "game.Side", version = 2)]
struct Side {
    name: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut old = World::new();
    let a = old.spawn((first::Health { hp: 50 }, first::Team::Red, first::Hat("top".into()))).id();
    let b = old.spawn((first::Health { hp: 100 }, first::Team::Blue)).id();
    let mut text = Vec::new();
    old.save(&mut serde_json::Serializer::new(&mut text))?;

    let mut types = SaveRegistry::new();
    types.register::<Health>().register::<Side>();
    let refused = World::load(&mut serde_json::Deserializer::from_slice(&text), &types);
    println!("without migrations: {}", refused.map(|_| ()).expect_err("versions differ"));

    types
        .migrate(
            Migration::new("game.Health", 1..2)
                .rename("hp", "current")
                .default("max", 1.0)
                .convert("current", |hp| hp.as_f64().unwrap_or(0.0) / 100.0),
        )
        .migrate(Migration::new("game.Team", 1..2).becomes("game.Side").change(|team| {
            let name = team.as_str().ok_or("a team is the name of a variant")?.to_lowercase();
            *team = phalanx::save::Data::map([("name", name.into())]);
            Ok(())
        }))
        // The hat belongs to a mod that is not installed: it is kept, and saved again.
        .unknown(Unknown::Keep);

    let world = World::load(&mut serde_json::Deserializer::from_slice(&text), &types)?;
    assert_eq!(world.get::<Health>(a), Some(&Health { current: 0.5, max: 1.0 }));
    assert_eq!(world.get::<Side>(b), Some(&Side { name: "blue".into() }));
    for kept in world.resource::<KeptComponents>().iter() {
        println!("kept: {} of {} entities", kept.name, kept.values.len());
    }
    for (entity, health, side) in &world.view::<(Entity, &Health, &Side)>() {
        println!("{entity}: {health:?}, {side:?}");
    }
    Ok(())
}
