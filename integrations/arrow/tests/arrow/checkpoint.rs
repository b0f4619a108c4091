//! Batches of a checkpoint: the same rows as those of the world then, and numbers that were not copied.

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use phalanx::prelude::*;
use phalanx_arrow::names::TICK;
use phalanx_arrow::{ArrowError, Export, Exported, Import, read_file, write_file};

use crate::types::*;

/// More than a block of each of several tables, some with components that are copied.
fn world(entities: u32) -> World {
    let mut random = Random(99);
    let mut world = World::new();
    for at in 0..entities {
        let mut entity = world.spawn(Position { x: at as f32, y: random.below(1000) as f32 });
        match random.below(4) {
            0 => _ = entity.insert(Faction::Red),
            1 => _ = entity.insert((Faction::Blue, Frozen)),
            2 => {
                let (name, at, scars) = (format!("unit {at}"), [0.5, 1.5, 2.5], vec![1, 2]);
                let (kind, target) = (Kind::Healer, None);
                entity.insert(Unit { hp: 5, name, at, kind, boss: at[0] > 1.0, scars, target });
            }
            _ => {}
        }
    }
    world
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> &'b ArrayRef {
    batch.column_by_name(name).unwrap_or_else(|| panic!("no {name} in {:?}", batch.schema()))
}

/// The world that batches make.
fn imported(exported: &Exported) -> World {
    let mut world = World::new();
    for batch in &exported.batches {
        Import::new(&types()).keep_ids().spawn(&mut world, batch).unwrap();
    }
    world
}

#[test]
fn a_checkpoint_gives_the_rows_that_the_world_had() {
    let types = types();
    let mut world = world(5000);
    let then = world.checkpoint();
    let before = Export::new(&types).run(&world).unwrap();
    // The world goes on.
    let moved: Vec<Entity> = world.view::<Entity>().iter().take(700).collect();
    for entity in moved {
        world.entity_mut(entity).insert(Position { x: -1.0, y: -1.0 }).remove::<Faction>();
    }
    world.spawn(Position { x: 0.0, y: 0.0 });

    let exported = Export::new(&types).run_checkpoint(&world, &then).unwrap();
    assert_eq!(exported.rows(), before.rows());
    assert!(exported.batches.iter().all(|batch| batch.num_rows() <= 1024) && exported.batches.len() > 5);
    assert_eq!(exported.schema.metadata()[TICK], then.tick().get().to_string());
    let digest = imported(&exported).digest();
    assert_eq!(digest, imported(&before).digest());
    assert_ne!(digest, imported(&Export::new(&types).run(&world).unwrap()).digest());
    // Batches share their dictionary, so that they go into one file.
    let mut file = Vec::new();
    write_file(&mut file, &exported).unwrap();
    assert_eq!(read_file(std::io::Cursor::new(file)).unwrap(), exported.batches);
}

#[test]
fn numbers_are_those_of_the_checkpoint_and_outlive_it() {
    let types = types();
    let mut world = world(3000);
    let then = world.checkpoint();
    let position = world.component_id::<Position>().unwrap();
    let exported = Export::new(&types).run_checkpoint(&world, &then).unwrap();
    let mut shared = 0;
    let mut batches = exported.batches.iter();
    for table in then.tables(&world).unwrap() {
        for block in 0..table.blocks() {
            let batch = batches.next().unwrap();
            let rows = table.column::<f32>(position, "x", block).unwrap();
            let array = column(batch, "Position.x").as_primitive::<Float32Type>();
            assert_eq!(array.values().as_ptr(), rows.as_ptr(), "no byte was copied");
            assert_eq!(array.values().len(), rows.len());
            shared += rows.len();
        }
    }
    assert_eq!(shared, 3000);
    let sum = |exported: &Exported| -> f32 {
        let columns = exported.batches.iter().map(|batch| column(batch, "Position.x"));
        columns.map(|array| array.as_primitive::<Float32Type>().values().iter().sum::<f32>()).sum()
    };
    let before = sum(&exported);
    drop(then);
    world.query::<&mut Position>().iter_mut(&mut world).for_each(|position| *position.x = 0.0);
    drop(world);
    assert_eq!(sum(&exported), before, "batches keep what they show");
}

#[test]
fn checkpoints_that_share_blocks_give_batches_that_do() {
    let types = types();
    let mut world = World::new();
    world.spawn_batch((0..4096_u16).map(|at| Position { x: at.into(), y: 0.0 })).count();
    let first = world.checkpoint();
    let last = world.view::<Entity>().iter().last().unwrap();
    *world.get_mut::<Position>(last).unwrap().x = -5.0;
    let second = world.checkpoint();
    let places = |checkpoint| -> Vec<*const f32> {
        let exported = Export::new(&types).run_checkpoint(&world, checkpoint).unwrap();
        let place =
            |batch: &RecordBatch| column(batch, "Position.x").as_primitive::<Float32Type>().values().as_ptr();
        exported.batches.iter().map(place).collect()
    };
    let (first, second) = (places(&first), places(&second));
    assert_eq!(first[..3], second[..3]);
    assert_ne!(first[3], second[3]);
}

#[test]
fn what_a_checkpoint_cannot_tell_is_named_or_refused() {
    let types = types();
    let mut world = World::new();
    world.spawn((Position { x: 1.0, y: 2.0 }, Burning(3.0), Score { points: 1, ratio: 0.5 }));
    let then = world.checkpoint();
    let exported = Export::new(&types).run_checkpoint(&world, &then).unwrap();
    let told: Vec<String> = exported.left_out.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|text| text.contains("Burning") && text.contains("sparse")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("Score") && text.contains("ArrowTypes::with")), "{told:?}");
    let burning = world.component_id::<Burning>().unwrap();
    let query = world.query_builder().with(burning).build();
    let refused = Export::new(&types).matching(query).run_checkpoint(&world, &then).unwrap_err();
    assert!(matches!(&refused, ArrowError::Batch { message } if message.contains("sparse")), "{refused}");
    let strange = Export::new(&types).run_checkpoint(&World::new(), &then).unwrap_err();
    assert!(strange.to_string().contains("another world"), "{strange}");
}

#[test]
fn a_query_chooses_tables_of_a_checkpoint() {
    let types = types();
    let mut world = world(2000);
    let then = world.checkpoint();
    let (position, faction) =
        (world.component_id::<Position>().unwrap(), world.component_id::<Faction>().unwrap());
    let query = world.query_builder().with(faction).build();
    let export = Export::new(&types).matching(query).components([position]).entities(false);
    let exported = export.run_checkpoint(&world, &then).unwrap();
    let names: Vec<&str> = exported.schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["Position.x", "Position.y"]);
    assert_eq!(exported.rows(), world.view_filtered::<Entity, With<Faction>>().iter().count());
    assert!(exported.batches.iter().all(|batch| column(batch, "Position.x").null_count() == 0));
}
