//! Components that are described at run time, and typed ones by name.

use phalanx::component::Layout;
use phalanx::prelude::*;
use phalanx::registry::{ComponentInfo, FieldInfo};

use super::{Frozen, HERE, Health, Position, checked, names, position};

// O-048, O-054, O-065.
#[test]
fn a_run_time_component_is_registered_inserted_read_and_written() {
    let mut world = World::new();
    let schema = Schema::new("hp").field("current", FieldType::I32).field("max", FieldType::I32);
    let hp = world.register_dynamic(schema.clone()).expect("the name is free");
    let entity = world.spawn(HERE).id();
    world
        .entity_mut(entity)
        .insert_dynamic(hp, &[("current", 10.into()), ("max", 10.into())])
        .expect("the fields fit")
        .insert(Health(1));
    assert_eq!(world.get_field(entity, hp, "current"), Ok(Value::I32(10)));
    world.set_field(entity, hp, "current", 7).expect("it fits");
    assert_eq!(world.get_field(entity, hp, "current"), Ok(Value::I32(7)));
    assert_eq!(names(&world, entity), ["hp", "test.Position", "test.Health"]);
    assert!(world.entity(entity).contains_id(hp));
    // Given again: what is not named keeps its value.
    world.insert_dynamic(entity, hp, &[("max", 20.into())]).expect("it fits");
    assert_eq!(world.get_field(entity, hp, "current"), Ok(Value::I32(7)));
    assert_eq!(world.get_field(entity, hp, "max"), Ok(Value::I32(20)));
    world.entity_mut(entity).remove_by_id(hp);
    assert!(!world.entity(entity).contains_id(hp));
    // Given anew: what is not named is zero.
    world.insert_dynamic(entity, hp, &[("max", 30.into())]).expect("it fits");
    assert_eq!(world.get_field(entity, hp, "current"), Ok(Value::I32(0)));
    assert_eq!(world.components().get_info(hp).and_then(|info| info.schema()), Some(&schema));
    checked(&world);
}

/// A schema with a field of every type, named by it.
fn everything() -> Schema {
    Schema::new("everything").fields(FieldType::ALL.map(|field_type| (field_type.name(), field_type)))
}

// O-049, O-050, O-051, O-053, O-301: in columns, through growth and moves, at both ends of each range.
#[test]
fn every_scalar_type_keeps_its_full_range_in_a_column() {
    let other = Entity::from_bits((9 << 32) | 4).expect("an id");
    let ends: [[Value; 2]; 12] = [
        [f32::MIN.into(), f32::MAX.into()],
        [f64::MIN.into(), f64::MAX.into()],
        [u8::MIN.into(), u8::MAX.into()],
        [u16::MIN.into(), u16::MAX.into()],
        [u32::MIN.into(), u32::MAX.into()],
        [u64::MIN.into(), u64::MAX.into()],
        [i8::MIN.into(), i8::MAX.into()],
        [i16::MIN.into(), i16::MAX.into()],
        [i32::MIN.into(), i32::MAX.into()],
        [i64::MIN.into(), i64::MAX.into()],
        [false.into(), true.into()],
        [Entity::PLACEHOLDER.into(), other.into()],
    ];
    let mut world = World::new();
    let id = world.register_dynamic(everything()).expect("the name is free");
    let mut entities = Vec::new();
    for n in 0..40 {
        let entity = world.spawn_empty().id();
        let fields: Vec<(&str, Value)> =
            ends.iter().map(|end| (end[0].field_type().name(), end[n % 2])).collect();
        world.insert_dynamic(entity, id, &fields).expect("the fields fit");
        entities.push(entity);
    }
    for &entity in entities.iter().step_by(3) {
        world.entity_mut(entity).insert(Frozen);
    }
    world.shrink_to_fit();
    for (n, &entity) in entities.iter().enumerate() {
        for end in &ends {
            let name = end[0].field_type().name();
            assert_eq!(world.get_field(entity, id, name), Ok(end[n % 2]), "{name}");
        }
    }
    // Each column is as wide as its type: 51 bytes in all.
    let stats = world.stats();
    let table = stats.archetypes.iter().find(|table| table.columns.len() == 12).expect("it has entities");
    let sizes: Vec<usize> = table.columns.iter().map(|column| column.bytes / table.capacity).collect();
    assert_eq!(sizes, FieldType::ALL.map(FieldType::size));
}

// O-057, O-058, O-059, O-082, O-083.
#[test]
fn a_world_knows_names_types_and_order_of_fields() {
    let mut world = World::new();
    let schema = Schema::new("mixed").field("b", FieldType::U8).field("a", FieldType::F64);
    let mixed = world.register_dynamic(schema).expect("the name is free");
    let info = world.components().get_info(mixed).expect("registered");
    let fields: Vec<_> = info.fields().iter().map(|field| (field.name(), field.scalar())).collect();
    assert_eq!(fields, [("b", Some(FieldType::U8)), ("a", Some(FieldType::F64))]);
    assert_eq!((info.fields().len(), info.columns().len()), (2, 2));
    assert_eq!(info.field("a").map(FieldInfo::column), Some(info.columns()[1]));
    assert!(info.field("c").is_none());
    let schema = info.schema().expect("described at run time");
    assert_eq!((schema.field_index("a"), schema.field_index("c")), (Some(1), None));
    let position = world.register_component::<Position>();
    let info = world.components().get_info(position).expect("registered");
    let fields: Vec<_> = info.fields().iter().map(|field| (field.name(), field.scalar())).collect();
    assert_eq!(fields, [("x", Some(FieldType::F32)), ("y", Some(FieldType::F32))]);
    assert!(info.schema().is_none());
}

// O-066, O-070.
#[test]
fn a_schema_without_fields_makes_a_tag() {
    let mut world = World::new();
    let tag = world.register_dynamic(Schema::new("burning")).expect("the name is free");
    assert_eq!(world.components().get_info(tag).map(ComponentInfo::layout), Some(Layout::Tag));
    let entity = world.spawn(Health(1)).id();
    world.insert_dynamic(entity, tag, &[]).expect("there is nothing to fit");
    assert_eq!(names(&world, entity), ["burning", "test.Health"]);
    let stats = world.stats();
    let columns = stats.archetypes.iter().flat_map(|table| &table.columns);
    assert_eq!(
        columns.filter(|column| column.component == "burning").map(|column| column.bytes).sum::<usize>(),
        0
    );
    assert_eq!(world.remove_by_id(entity, tag), Ok(true));
    assert_eq!(names(&world, entity), ["test.Health"]);
}

// O-055: a list of names alone makes fields of f64.
#[test]
fn names_alone_make_fields_of_f64() {
    let mut world = World::new();
    let place = world.register_dynamic(Schema::new("place").f64s(["x", "y"])).expect("the name is free");
    let entity = world.spawn_empty().id();
    world.insert_dynamic(entity, place, &[("y", 0.5.into())]).expect("it fits");
    assert_eq!(world.get_field(entity, place, "y"), Ok(Value::F64(0.5)));
    assert_eq!(world.get_field(entity, place, "x"), Ok(Value::F64(0.0)));
}

#[test]
fn fields_of_typed_components_are_reached_by_name() {
    let mut world = World::new();
    let entity = world.spawn(HERE).id();
    let position = world.components().by_name("test.Position").expect("spawned");
    assert_eq!(world.get_field(entity, position, "y"), Ok(Value::F32(2.0)));
    world.set_field(entity, position, "y", 8.0_f32).expect("it fits");
    assert_eq!(world.get::<position::y>(entity), Some(&8.0));
}

#[test]
fn worlds_may_give_one_name_different_fields() {
    let mut worlds = [World::new(), World::new()];
    let types = [FieldType::U8, FieldType::I64];
    let values = [Value::U8(7), Value::I64(-7)];
    for ((world, field_type), value) in worlds.iter_mut().zip(types).zip(values) {
        let id = world.register_dynamic(Schema::new("n").field("v", field_type)).expect("free in this world");
        let entity = world.spawn_empty().id();
        world.insert_dynamic(entity, id, &[("v", value)]).expect("it fits");
        assert_eq!(world.get_field(entity, id, "v"), Ok(value));
        checked(world);
    }
}
