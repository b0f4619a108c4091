//! The tables of a checkpoint, read block by block.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::query::ColumnError;
use phalanx::world::{Checkpoint, RestoreError};

use crate::random::Random;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(layout = "soa")]
struct Place {
    x: u32,
    name: String,
}

#[derive(Component, Clone, Debug, PartialEq)]
struct Mass(f64);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Hot(u8);

#[derive(Component, Clone, Debug, PartialEq)]
struct Tag;

/// What the tables of a checkpoint say of each entity.
fn told(world: &World, checkpoint: &Checkpoint) -> BTreeMap<Entity, (u32, String, Option<f64>)> {
    let (place, mass) =
        (world.component_id::<Place>().expect("known"), world.component_id::<Mass>().expect("known"));
    let mut told = BTreeMap::new();
    for table in checkpoint.tables(world).expect("of this world").filter(|table| table.contains(place)) {
        for block in 0..table.blocks() {
            let xs = table.column::<u32>(place, "x", block).expect("the table has it");
            let names = table.column::<String>(place, "name", block).expect("the table has it");
            let masses = table.column::<Mass>(mass, "", block).ok();
            assert_eq!(table.entities(block).count(), xs.len());
            assert!(xs.len() <= 1024 && xs.len() == names.len());
            for (at, entity) in table.entities(block).enumerate() {
                let row = (xs[at], names[at].clone(), masses.as_ref().map(|masses| masses[at].0));
                assert_eq!(told.insert(entity, row), None, "each entity is in one row");
            }
        }
    }
    told
}

/// The same, asked of the world.
fn asked(world: &World) -> BTreeMap<Entity, (u32, String, Option<f64>)> {
    let rows = world.view::<(Entity, &Place, Option<&Mass>)>();
    rows.iter()
        .map(|(entity, place, mass)| (entity, (*place.x, place.name.clone(), mass.map(|mass| mass.0))))
        .collect()
}

#[test]
fn tables_of_a_checkpoint_are_what_the_world_was_and_stay_so() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut world = World::new();
        world.register_component::<Place>();
        world.register_component::<Mass>();
        let mut entities = Vec::new();
        let mut kept = Vec::new();
        for step in 0..12_000_u32 {
            match random.below(10) {
                0 if !entities.is_empty() => {
                    let gone = entities.swap_remove(random.below(entities.len()));
                    world.despawn(gone);
                }
                1 if !entities.is_empty() => {
                    let entity = entities[random.below(entities.len())];
                    world.entity_mut(entity).insert(Mass(f64::from(step)));
                }
                2 if !entities.is_empty() => {
                    let entity = entities[random.below(entities.len())];
                    world.entity_mut(entity).insert(Hot(1)).insert(Tag);
                }
                _ => entities.push(world.spawn(Place { x: step, name: step.to_string() }).id()),
            }
            if step % 3000 == 2999 {
                let checkpoint = world.checkpoint();
                kept.push((checkpoint, asked(&world)));
            }
        }
        for (checkpoint, then) in &kept {
            assert_eq!(told(&world, checkpoint), *then, "seed {seed}");
        }
        // Restoring changes nothing of what is kept.
        world.restore(&kept[1].0).unwrap();
        assert_eq!(asked(&world), kept[1].1);
        assert_eq!(told(&world, &kept[3].0), kept[3].1);
    }
}

#[test]
fn values_are_shared_with_the_checkpoint_and_outlive_it() {
    let mut world = World::new();
    world.spawn_batch((0..3000).map(|x| Place { x, name: String::new() })).count();
    let place = world.component_id::<Place>().unwrap();
    let (first, second) = (world.checkpoint(), world.checkpoint());
    let rows = |checkpoint: &Checkpoint, block| {
        let table = checkpoint.tables(&world).unwrap().next().unwrap();
        table.column::<u32>(place, "x", block).unwrap()
    };
    assert_eq!(rows(&first, 1).as_ptr(), rows(&second, 1).as_ptr(), "nothing was written between");
    let last = rows(&first, 2);
    let again = last.clone();
    drop((first, second, last));
    drop(world);
    assert_eq!((again.len(), again[0]), (3000 - 2048, 2048));
}

#[test]
fn columns_that_are_not_there_are_named() {
    let mut world = World::new();
    world.spawn((Mass(1.0), Hot(2), Tag));
    let [place, mass, hot] = [
        world.register_component::<Place>(),
        world.register_component::<Mass>(),
        world.register_component::<Hot>(),
    ];
    let then = world.checkpoint();
    let table = then.tables(&world).unwrap().next().unwrap();
    assert_eq!(table.column::<Mass>(mass, "", 0).unwrap()[0], Mass(1.0));
    assert!(matches!(table.column::<u32>(place, "x", 0), Err(ColumnError::NoComponent { .. })));
    assert!(matches!(table.column::<u32>(mass, "x", 0), Err(ColumnError::UnknownField { .. })));
    assert!(matches!(table.column::<u32>(mass, "", 0), Err(ColumnError::WrongType { .. })));
    assert!(matches!(table.column::<Hot>(hot, "", 0), Err(ColumnError::Sparse { .. })));
    let asks = |id| world.query_builder().with(id).build();
    assert_eq!((table.matches(&asks(mass)), table.matches(&asks(place))), (Some(true), Some(false)));
    assert_eq!(table.matches(&asks(hot)), None, "a table does not know which entities are in a set");
    assert!(table.components().any(|id| id == mass) && !table.contains(hot));
    assert_eq!(then.tables(&World::new()).err(), Some(RestoreError::OtherWorld));
}
