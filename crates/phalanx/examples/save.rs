//! Saving a world as text and as a file, and loading it again.
//!
//! Whatever has the attribute `save` is saved, with its entities: ids, orders and the next ids are those of the saved
//! world. What is not saved is named in the report. Needs the feature `serde`.

use phalanx::prelude::*;
use phalanx::save::{SaveFilter, SaveRegistry};
use serde::{Deserialize, Serialize};

#[derive(Component, Serialize, Deserialize, Debug, PartialEq)]
#[component(save, name = "game.Health")]
struct Health {
    current: f32,
    max: f32,
}

#[derive(Component, Serialize, Deserialize)]
#[component(save, name = "game.Target", storage = "sparse")]
struct Target(Entity);

/// Belongs to this run of the program, and is not saved.
#[derive(Component)]
struct Sprite(#[allow(dead_code, reason = "stands for a handle")] u32);

#[derive(Resource, Serialize, Deserialize, Debug, PartialEq)]
#[resource(save, name = "game.Score")]
struct Score(u32);

fn types() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types.register::<Health>().register::<Target>().register::<Score>();
    types
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new();
    let hero = world.spawn((Health { current: 7.5, max: 10.0 }, Sprite(3))).id();
    let wolf = world.spawn((Health { current: 2.0, max: 4.0 }, Target(hero))).id();
    world.insert_resource(Score(12));

    // A readable format gets rows with names.
    let mut text = Vec::new();
    let saved = world.save(&mut serde_json::Serializer::pretty(&mut text))?;
    println!("{}", saved.report);
    println!("{}", String::from_utf8_lossy(&text));
    assert_eq!(saved.report.components_left_out.len(), 1);

    let mut loaded = World::load(&mut serde_json::Deserializer::from_slice(&text), &types())?;
    assert_eq!(loaded.get::<Health>(hero), world.get::<Health>(hero));
    assert_eq!(loaded.get::<Target>(wolf).map(|target| target.0), Some(hero));
    assert_eq!(loaded.resource::<Score>(), &Score(12));
    assert_eq!(loaded.spawn_empty().id(), world.spawn_empty().id(), "the next id is the same");

    // A file is put in place as a whole; a delta has the blocks that changed since.
    let place = std::env::temp_dir().join(format!("phalanx-example-save-{}", std::process::id()));
    std::fs::create_dir_all(&place)?;
    let mark = world.write_file(place.join("base"))?;
    world.entity_mut(wolf).insert(Health { current: 1.0, max: 4.0 });
    let delta = world.write_delta(place.join("delta"), &mark)?;
    println!("the file has {} pieces, the delta {}", mark.pieces_written(), delta.pieces_written());
    let read = World::read_files([place.join("base"), place.join("delta")], &types())?;
    assert_eq!(read.get::<Health>(wolf).map(|health| health.current), Some(1.0));
    std::fs::remove_dir_all(&place)?;

    // A part of a world: here, all that are badly hurt.
    let hurt = SaveFilter::new()
        .only::<Health>()
        .entities(|entity| entity.get::<Health>().is_some_and(|health| health.current < health.max / 2.0));
    println!("hurt: {}", world.save_report(&hurt));
    Ok(())
}
