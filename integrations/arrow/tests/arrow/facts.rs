//! Single facts about batches.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use phalanx::prelude::*;
use phalanx_arrow::names::{TICK, VERSION};
use phalanx_arrow::{
    ArrowError, ArrowTypes, ArrowWorld, Export, History, Import, record_batches, spawn_from,
};

use crate::types::*;

fn unit(kind: Kind, target: Option<Entity>) -> Unit {
    Unit { hp: -3, name: "Ada".into(), at: [1.0, 2.0, 3.0], kind, boss: true, scars: vec![1, 2], target }
}

fn batch(world: &World, types: &ArrowTypes) -> RecordBatch {
    record_batches(world, types).unwrap().batches.remove(0)
}

#[test]
fn each_kind_of_field_has_its_column_type() {
    let mut world = World::new();
    let e = world.spawn((unit(Kind::Rider, None), Position { x: 1.5, y: 2.5 }, Faction::Blue, Frozen)).id();
    world.spawn(Burning(4.0));
    let batch = batch(&world, &types());
    let kind =
        |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("no {name}")).data_type().clone();
    assert_eq!(kind("entity"), DataType::UInt64);
    assert_eq!(kind("Position.x"), DataType::Float32);
    assert_eq!(kind("Unit.hp"), DataType::Int16);
    assert_eq!(kind("Unit.name"), DataType::Utf8);
    assert_eq!(kind("Unit.boss"), DataType::Boolean);
    assert!(matches!(kind("Unit.at"), DataType::FixedSizeList(_, 3)));
    assert!(matches!(kind("Unit.scars"), DataType::List(_)));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    assert_eq!((kind("Unit.kind"), kind("Faction")), (dictionary.clone(), dictionary));
    assert_eq!((kind("Frozen"), kind("Burning")), (DataType::Boolean, DataType::Float32));
    assert_eq!(batch.column_by_name("entity").unwrap().as_primitive::<UInt64Type>().value(0), e.to_bits());
    let x = batch.column_by_name("Position.x").unwrap().as_primitive::<Float32Type>();
    assert_eq!((x.value(0), x.is_null(1)), (1.5, true));
    assert!(!batch.column_by_name("Frozen").unwrap().as_boolean().value(1));
}

#[test]
fn the_schema_tells_tick_and_versions() {
    let mut world = World::new();
    world.spawn(unit(Kind::Archer, None));
    world.increment_change_tick();
    let schema = record_batches(&world, &types()).unwrap().schema;
    assert_eq!(schema.metadata()[TICK], world.read_change_tick().get().to_string());
    let versions: Vec<_> = schema.metadata().iter().filter(|(key, _)| key.starts_with(VERSION)).collect();
    assert!(versions.iter().any(|(key, value)| key.ends_with("Unit") && *value == "3"), "{versions:?}");
}

#[test]
fn what_cannot_be_exported_is_named() {
    #[derive(Component)]
    struct Opaque(std::num::NonZeroU8);
    #[derive(Component, Clone, serde::Serialize, serde::Deserialize)]
    #[component(save)]
    enum Order {
        Go(u8),
    }
    #[derive(Component)]
    struct Half {
        known: u8,
        other: std::time::Duration,
    }
    let mut world = World::new();
    let half = Half { known: 7, other: std::time::Duration::ZERO };
    assert_eq!(half.other.as_secs(), 0);
    world.spawn((Opaque(std::num::NonZeroU8::MIN), Order::Go(1), half));
    let types = ArrowTypes::new().with::<Order>();
    let exported = record_batches(&world, &types).unwrap();
    let told: Vec<String> = exported.left_out.iter().map(ToString::to_string).collect();
    let told = told.join("\n");
    for name in ["Opaque", "Half.other", "Order::Go", "ArrowTypes::with"] {
        assert!(told.contains(name), "{told}");
    }
    assert!(exported.batches[0].column_by_name("Half.known").is_some());
}

#[test]
fn run_time_components_and_types_with_defaults_come_back() {
    let mut world = World::new();
    let fuel = Schema::new("fuel").field("left", FieldType::F64).field("by", FieldType::Entity);
    let fuel = world.register_dynamic(fuel).unwrap();
    let charm = Schema::new("charm").field("power", FieldType::U8).storage(StorageKind::Sparse);
    let charm = world.register_dynamic(charm).unwrap();
    let (a, b) = (world.spawn(Score { points: 9, ratio: 0.5 }).id(), world.spawn_empty().id());
    world.insert_dynamic(a, fuel, &[("left", 2.5.into()), ("by", b.into())]).unwrap();
    world.insert_dynamic(b, charm, &[("power", 200_u8.into())]).unwrap();
    let batch = batch(&world, &ArrowTypes::new());

    let mut other = World::new();
    other.register_component::<Score>();
    let kept = Import::new(&ArrowTypes::new()).keep_ids().spawn(&mut other, &batch).unwrap();
    assert_eq!(kept, [a, b]);
    assert_eq!(other.get::<Score>(a), Some(&Score { points: 9, ratio: 0.5 }));
    let fuel = other.components().by_name("fuel").unwrap();
    let charm = other.components().by_name("charm").unwrap();
    assert_eq!(other.get_field(a, fuel, "left"), Ok(Value::F64(2.5)));
    assert_eq!(other.get_field(a, fuel, "by"), Ok(Value::Entity(b)));
    assert_eq!(other.get_field(b, charm, "power"), Ok(Value::U8(200)));
    assert!(other.components().get_info(charm).unwrap().is_sparse());
}

#[test]
fn a_batch_that_is_wrong_leaves_the_world_as_it_was() {
    let mut world = World::new();
    let e = world.spawn(unit(Kind::Healer, None)).id();
    let batch = batch(&world, &types());
    let mut other = World::new();
    let unknown = spawn_from(&mut other, &batch, &ArrowTypes::new()).unwrap_err();
    assert!(matches!(&unknown, ArrowError::UnknownComponent { component } if component.ends_with("Unit")));
    assert_eq!(other.query_builder().build().count(&other), 0);

    let without = batch.schema().index_of("Unit.hp").unwrap();
    let mut fewer = batch.clone();
    fewer.remove_column(without);
    let error = spawn_from(&mut other, &fewer, &types()).unwrap_err();
    assert!(error.to_string().contains("hp"), "{error}");
    assert_eq!(other.query_builder().build().count(&other), 0);

    let mut other = World::new();
    other.spawn_empty_at(e).unwrap();
    let taken = Import::new(&types()).keep_ids().spawn(&mut other, &batch).unwrap_err();
    assert!(matches!(taken, ArrowError::Batch { .. }), "{taken}");
    assert_eq!(other.query_builder().build().count(&other), 1);
}

#[test]
fn a_query_and_a_list_of_components_select() {
    let mut world = World::new();
    world.spawn((Faction::Red, Position { x: 1.0, y: 1.0 }));
    world.spawn(Faction::Blue);
    let position = world.component_id::<Position>().unwrap();
    let query = world.query_builder().with(position).build();
    let types = types();
    let export = Export::new(&types).matching(query).components([position]).entities(false);
    let exported = export.run(&world).unwrap();
    let names: Vec<&str> = exported.schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!((exported.rows(), names), (1, vec!["Position.x", "Position.y"]));
}

#[test]
fn batches_are_cut_where_told_and_share_their_dictionary() {
    let mut world = World::new();
    world.spawn_batch((0..10).map(|at| if at % 3 == 0 { Faction::Red } else { Faction::Blue })).count();
    let types = types();
    let exported = Export::new(&types).batch_rows(4).run(&world).unwrap();
    let rows: Vec<usize> = exported.batches.iter().map(RecordBatch::num_rows).collect();
    assert_eq!(rows, [4, 4, 2]);
    let mut file = Vec::new();
    phalanx_arrow::write_file(&mut file, &exported).unwrap();
    assert_eq!(phalanx_arrow::read_file(std::io::Cursor::new(file)).unwrap(), exported.batches);
}

#[test]
fn a_history_keeps_the_columns_of_its_first_frame() {
    let types = types();
    let mut world = World::new();
    let e = world.spawn((Faction::Red, Burning(1.0))).id();
    let mut file = Vec::new();
    let mut history = History::file(&mut file, Export::new(&types));
    assert_eq!(history.append_at(&world, 10).unwrap(), []);
    world.entity_mut(e).remove::<Burning>().insert(Faction::Blue);
    assert_eq!(history.append_at(&world, 11).unwrap(), []);
    world.entity_mut(e).insert(Frozen);
    let late = history.append_at(&world, 12).unwrap();
    assert!(late.len() == 1 && late[0].component.ends_with("Frozen"), "{late:?}");
    history.finish().unwrap();
    let batches = phalanx_arrow::read_file(std::io::Cursor::new(file)).unwrap();
    let ticks: Vec<u64> =
        batches.iter().map(|batch| batch.column(0).as_primitive::<UInt64Type>().value(0)).collect();
    assert_eq!(ticks, [10, 11, 12]);
    let text =
        |at: usize| batches[at].column_by_name("Faction").unwrap().as_string::<i32>().value(0).to_owned();
    assert_eq!((text(0), text(1)), ("Red".into(), "Blue".into()));
    assert_eq!(batches[1].column_by_name("Burning").unwrap().null_count(), 1);
}

#[test]
fn a_history_with_a_schema_records_what_comes_later() {
    let types = types();
    let mut sample = World::new();
    let somebody = sample.spawn_empty().id();
    sample.spawn((
        unit(Kind::Rider, Some(somebody)),
        Position { x: 0.0, y: 0.0 },
        Faction::Red,
        Frozen,
        Burning(0.0),
    ));
    let schema = record_batches(&sample, &types).unwrap().schema;
    let mut world = World::new();
    let e = world.spawn(Position { x: 1.0, y: 2.0 }).id();
    let mut file = Vec::new();
    let mut history = History::file(&mut file, Export::new(&types)).with_schema(&schema);
    assert_eq!(history.append_at(&world, 0).unwrap(), []);
    world.entity_mut(e).insert((unit(Kind::Healer, Some(e)), Faction::Blue, Frozen, Burning(2.0)));
    assert_eq!(history.append_at(&world, 1).unwrap(), []);
    // Now there are rows without lists, so that lists may be null.
    let other = world.spawn_empty().id();
    assert_eq!(history.append_at(&world, 2).unwrap(), []);
    world.despawn(other);
    history.finish().unwrap();
    let batches = phalanx_arrow::read_file(std::io::Cursor::new(file)).unwrap();
    assert_eq!(batches[2].column_by_name("Unit.at").unwrap().null_count(), 1);
    assert_eq!(batches[0].column_by_name("Unit.hp").unwrap().null_count(), 1);
    // Each frame comes back as the world that it was.
    for (batch, has_unit) in batches.iter().zip([false, true]) {
        let mut other = World::new();
        let kept = Import::new(&types).keep_ids().spawn(&mut other, batch).unwrap();
        assert_eq!(kept, [e]);
        assert_eq!(other.get::<Unit>(e).cloned(), has_unit.then(|| unit(Kind::Healer, Some(e))));
        assert_eq!(other.get::<Faction>(e).copied(), has_unit.then_some(Faction::Blue));
        assert_eq!(other.get::<Frozen>(e).is_some(), has_unit);
        assert_eq!(other.get::<Burning>(e).copied(), has_unit.then_some(Burning(2.0)));
        assert_eq!(other.get::<Position>(e).map(|at| *at.y), Some(2.0));
    }
}

#[test]
fn a_world_has_methods_that_use_its_list_of_types() {
    let mut world = World::new();
    world.insert_resource(types());
    world.spawn((Faction::Blue, Position { x: 1.0, y: 2.0 }));
    world.spawn(Faction::Red);
    let position = world.component_id::<Position>().unwrap();
    let query = world.query_builder().with(position).build();
    let exported = world.record_batches(&query).unwrap();
    assert_eq!((exported.rows(), exported.left_out.len()), (1, 0));
    let mut other = World::new();
    let unknown = other.spawn_from(&exported.batches[0]).unwrap_err();
    assert!(matches!(unknown, ArrowError::UnknownComponent { .. }), "{unknown}");
    other.insert_resource(types());
    let spawned = other.spawn_from(&exported.batches[0]).unwrap();
    assert_eq!(other.get::<Faction>(spawned[0]), Some(&Faction::Blue));
}
