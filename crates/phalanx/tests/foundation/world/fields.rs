//! Fields of whole components by name: what is told, read, written and refused.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use phalanx::fields::FieldKind;
use phalanx::prelude::*;
use phalanx::world::FieldError;

use crate::common::random::Random;
use crate::common::steps::model_steps;

#[derive(Component, Debug, Default, PartialEq)]
struct Unit {
    hp: f32,
    r#type: u8,
    count: usize,
    name: String,
    at: [f32; 2],
    pair: (i32, bool),
    friend: Option<Entity>,
}

#[derive(Component)]
struct Target(Entity);

#[derive(Component, Debug, Default, PartialEq)]
#[component(storage = "sparse", track = "row")]
struct Fuel(f64);

#[derive(Component, Debug)]
#[allow(dead_code, reason = "seen by Debug")]
enum Mood {
    Calm,
    Angry(u32),
}

#[derive(Component)]
struct Typed<T: Send + Sync>(T, PhantomData<fn() -> T>);

#[derive(Component, Clone, Copy)]
#[repr(C, packed)]
struct Packed {
    #[allow(dead_code, reason = "its address must not be taken")]
    value: u32,
}

#[derive(Component, Default, Debug, PartialEq)]
#[require(Fuel, Mark)]
struct Engine {
    power: u32,
}

#[derive(Component, Debug, Default, PartialEq)]
struct Mark;

#[derive(Component, Default, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
struct Label {
    text: String,
    size: u16,
}

fn names(world: &World, id: phalanx::ComponentId) -> Vec<String> {
    let info = world.components().get_info(id).expect("registered");
    info.named_fields().map(|field| field.name.to_owned()).collect()
}

#[test]
fn the_fields_of_every_kind_of_component_are_told() {
    let mut world = World::new();
    let unit = world.register_component::<Unit>();
    assert_eq!(
        names(&world, unit),
        ["hp", "type", "count", "name", "at.0", "at.1", "pair.0", "pair.1", "friend"]
    );
    let kinds: Vec<FieldKind> = world
        .components()
        .get_info(unit)
        .expect("registered")
        .named_fields()
        .map(|field| field.kind)
        .collect();
    use FieldType::{Bool, F32, I32, U8, U64};
    let scalar = FieldKind::Scalar;
    let (text, other) = (FieldKind::Text, FieldKind::Other);
    assert_eq!(
        kinds,
        [
            scalar(F32),
            scalar(U8),
            scalar(U64),
            text,
            scalar(F32),
            scalar(F32),
            scalar(I32),
            scalar(Bool),
            other
        ]
    );
    let id = world.register_component::<Label>();
    assert_eq!(names(&world, id), ["text", "size"]);
    let id = world.register_component::<Typed<u16>>();
    assert_eq!(names(&world, id), ["0", "1"]);
    let id = world.register_component::<Mark>();
    assert!(names(&world, id).is_empty());
    let id = world.register_component::<Mood>();
    assert!(names(&world, id).is_empty());
    let id = world.register_component::<Packed>();
    assert!(names(&world, id).is_empty());
}

#[test]
fn fields_of_whole_values_are_read_and_written_by_name() {
    let mut world = World::new();
    let id = world.register_component::<Unit>();
    let e = world.spawn(Unit { hp: 2.0, at: [1.0, 5.0], pair: (-3, true), ..Default::default() }).id();
    assert_eq!(world.get_field(e, id, "hp"), Ok(Value::F32(2.0)));
    assert_eq!(world.get_field(e, id, "at.1"), Ok(Value::F32(5.0)));
    assert_eq!(world.get_field(e, id, "pair.0"), Ok(Value::I32(-3)));
    world.set_field(e, id, "type", 7_u8).expect("it fits");
    world.set_field(e, id, "count", 9_u64).expect("it fits");
    world.set_field(e, id, "pair.1", false).expect("it fits");
    world.set_field_text(e, id, "name", "<b>").expect("it is text");
    let unit = world.get::<Unit>(e).expect("it is there");
    assert_eq!((unit.r#type, unit.count, unit.pair, unit.name.as_str()), (7, 9, (-3, false), "<b>"));
    assert_eq!(world.get_field_text(e, id, "name"), Ok("<b>"));

    let target = world.register_component::<Target>();
    let hunter = world.spawn(Target(e)).id();
    assert_eq!(world.get_field(hunter, target, "0"), Ok(Value::Entity(e)));
    world.set_field(hunter, target, "0", hunter).expect("it fits");
    assert_eq!(world.get::<Target>(hunter).expect("it is there").0, hunter);
}

#[test]
fn text_fields_with_columns_of_their_own_are_read_and_written() {
    let mut world = World::new();
    let id = world.register_component::<Label>();
    let e = world.spawn(Label { text: "a".to_owned(), size: 3 }).id();
    let before = world.increment_change_tick();
    world.set_field_text(e, id, "text", "b").expect("it is text");
    assert_eq!(world.get_field_text(e, id, "text"), Ok("b"));
    assert!(world.get_field_text(e, id, "size").is_err());
    let mut changed = world.query_filtered::<Entity, Changed<Label>>();
    let _ = before;
    assert_eq!(changed.iter(&world).count(), 1);
}

#[test]
fn what_does_not_fit_is_refused_by_name_and_nothing_is_written() {
    let mut world = World::new();
    let id = world.register_component::<Unit>();
    let e = world.spawn(Unit::default()).id();
    let error = world.set_field(e, id, "hp", 3_i32).expect_err("an i32 is no f32");
    assert!(matches!(error, FieldError::WrongType { .. }), "{error}");
    let error = world.get_field(e, id, "speed").expect_err("no such field").to_string();
    assert!(error.contains("`speed`") && error.contains("hp, type, count"), "{error}");
    let error = world.get_field(e, id, "friend").expect_err("an option").to_string();
    assert!(error.contains("Option"), "{error}");
    assert!(matches!(world.get_field(e, id, "name"), Err(FieldError::NotScalar { .. })));
    assert!(matches!(world.set_field_text(e, id, "hp", "3"), Err(FieldError::NotText { .. })));
    assert_eq!(world.get::<Unit>(e), Some(&Unit::default()));
    let other = world.register_component::<Fuel>();
    assert!(matches!(world.get_field(e, other, "0"), Err(FieldError::Missing { .. })));
    world.despawn(e);
    assert!(matches!(world.set_field(e, id, "hp", 1.0_f32), Err(FieldError::NoSuchEntity { .. })));
}

#[test]
fn a_field_written_by_name_counts_as_changed() {
    let mut world = World::new();
    let id = world.register_component::<Fuel>();
    let e = world.spawn(Fuel(1.0)).id();
    world.clear_trackers();
    let mut changed = world.query_filtered::<&Fuel, Changed<Fuel>>();
    assert_eq!(changed.iter(&world).count(), 0);
    world.increment_change_tick();
    world.set_field(e, id, "0", 2.5).expect("it fits");
    assert_eq!(changed.iter(&world).collect::<Vec<_>>(), [&Fuel(2.5)]);
}

#[test]
fn text_is_that_of_debug_where_the_type_has_it() {
    let mut world = World::new();
    let e = world.spawn((Mood::Angry(3), Target(Entity::PLACEHOLDER), Fuel(0.5))).id();
    let text = |id| world.component_debug(e, id).map(|debug| format!("{debug:?}"));
    let id =
        |name: &str| world.components().iter().find(|info| info.name().ends_with(name)).expect("known").id();
    assert_eq!(text(id("Mood")).as_deref(), Some("Angry(3)"));
    assert_eq!(text(id("Fuel")).as_deref(), Some("Fuel(0.5)"));
    assert_eq!(text(id("Target")), None);
}

#[test]
fn a_default_value_comes_with_what_it_requires() {
    let mut world = World::new();
    let (engine, target) = (world.register_component::<Engine>(), world.register_component::<Target>());
    let e = world.spawn(Unit::default()).id();
    world.insert_default(e, engine).expect("it has a default");
    assert_eq!(world.get::<Engine>(e), Some(&Engine { power: 0 }));
    assert_eq!((world.get::<Fuel>(e), world.get::<Mark>(e)), (Some(&Fuel(0.0)), Some(&Mark)));
    world.set_field(e, engine, "power", 4_u32).expect("it fits");
    world.insert_default(e, engine).expect("it is there");
    assert_eq!(world.get::<Engine>(e), Some(&Engine { power: 4 }), "a value that is there stays");
    assert!(matches!(world.insert_default(e, target), Err(FieldError::NoDefault { .. })));
    let empty = world.spawn_empty().id();
    world.insert_default(empty, engine).expect("it has a default");
    assert_eq!(world.get::<Fuel>(empty), Some(&Fuel(0.0)));
    world.check().expect("the world is consistent");
}

/// Random writes by name to table, sparse and soa components agree with a map.
#[test]
fn random_writes_by_name_agree_with_a_map() {
    let steps = model_steps(2_000, 2_000);
    let mut random = Random::new(0x51ED_270B_9F3A_77C1);
    let mut world = World::new();
    let ids = [
        (world.register_component::<Engine>(), "power", FieldType::U32),
        (world.register_component::<Fuel>(), "0", FieldType::F64),
        (world.register_component::<Label>(), "size", FieldType::U16),
    ];
    let mut model: BTreeMap<(Entity, usize), Value> = BTreeMap::new();
    let mut alive = Vec::new();
    for _ in 0..steps {
        let number = u16::try_from(random.below(1000)).expect("small");
        match random.below(10) {
            0..3 => alive.push(world.spawn_empty().id()),
            3 if !alive.is_empty() => {
                let e = alive.swap_remove(random.below(alive.len()));
                world.despawn(e);
                model.retain(|(of, _), _| *of != e);
            }
            _ if !alive.is_empty() => {
                let e = alive[random.below(alive.len())];
                let at = random.below(3);
                let (id, field, of) = ids[at];
                world.insert_default(e, id).expect("all have defaults");
                for (other, &(id, field, of)) in ids.iter().enumerate() {
                    if world.entity(e).contains_id(id) {
                        model.entry((e, other)).or_insert(Value::zero(of));
                    }
                    let _ = field;
                }
                let value = match of {
                    FieldType::U32 => Value::U32(number.into()),
                    FieldType::F64 => Value::F64(number.into()),
                    _ => Value::U16(number),
                };
                world.set_field(e, id, field, value).expect("it fits");
                model.insert((e, at), value);
            }
            _ => {}
        }
        world.check().expect("the world is consistent");
    }
    for (&(e, at), value) in &model {
        assert_eq!(world.get_field(e, ids[at].0, ids[at].1).as_ref(), Ok(value));
    }
    assert!(!model.is_empty());
}
