//! Wrong use is reported in words that name the entity, the type or the field, at the place of the mistake.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use phalanx::prelude::*;
use phalanx::{BundleError, RegisterError};

use super::{Body, Frozen, HERE, Health, Name, Position, Score, checked, names, position};

/// What a panic says, and the file that it blames.
pub fn panic_of<R>(f: impl FnOnce() -> R) -> (String, String) {
    let mut f = Some(f);
    caught(&mut || drop(f.take().map(|f| f())))
}

/// Not generic: what catches panics is compiled once.
fn caught(f: &mut dyn FnMut()) -> (String, String) {
    thread_local! {
        static BLAMED: RefCell<Option<String>> = const { RefCell::new(None) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            BLAMED.set(info.location().map(|location| location.file().replace('\\', "/")));
            usual(info);
        }));
    });
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    let message = *panic.downcast::<String>().expect("the message is formatted");
    (message, BLAMED.take().expect("a panic has a place"))
}

/// A panic with this message, blamed on this file and not on the library.
#[track_caller]
fn assert_panic<R>(message: &str, f: impl FnOnce() -> R) {
    let (said, blamed) = panic_of(f);
    assert_eq!(said, message);
    assert!(blamed.ends_with("tests/foundation/world/errors.rs"), "blames {blamed} for: {said}");
}

const DEAD: &str = "entity 0v0 is not alive: it was despawned, or belongs to another world";

// O-140, O-305, O-306.
#[test]
fn a_dead_entity_is_named() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    world.despawn(entity);
    world.spawn(Health(2));
    assert_eq!(world.get_entity(entity).expect_err("dead").to_string(), DEAD);
    assert_eq!(world.get_entity_mut(entity).expect_err("dead").to_string(), DEAD);
    assert_eq!(world.try_despawn(entity).expect_err("dead").to_string(), DEAD);
    assert_eq!(world.insert(entity, Frozen).expect_err("dead").to_string(), DEAD);
    assert_eq!(world.remove::<Health>(entity).expect_err("dead").to_string(), DEAD);
    assert_eq!(world.retain::<Health>(entity).expect_err("dead").to_string(), DEAD);
    let health = world.component_id::<Health>().expect("registered");
    assert_eq!(world.remove_by_id(entity, health).expect_err("dead").to_string(), DEAD);
    assert_eq!(world.get_field(entity, health, "x").expect_err("dead").to_string(), DEAD);
    assert_eq!(world.set_field(entity, health, "x", 1).expect_err("dead").to_string(), DEAD);
    assert_eq!(world.insert_dynamic(entity, health, &[]).expect_err("dead").to_string(), DEAD);
    assert_panic(DEAD, || world.entity(entity).id());
    assert_panic(DEAD, || world.entity_mut(entity).id());
    // Questions are answered, not refused.
    assert_eq!(world.get::<Health>(entity), None);
    assert_eq!(world.take::<Health>(entity), None);
    assert_eq!(world.entities().len(), 1);
    checked(&world);
}

#[test]
fn a_missing_component_is_named_with_its_entity() {
    let mut world = World::new();
    let entity = world.spawn(Frozen).id();
    let error = world.entity_mut(entity).patch::<Health>(|mut health| health.0 += 1).expect_err("missing");
    assert_eq!((error.entity, error.component), (entity, std::any::type_name::<Health>()));
    let text = "entity 0v0 has no `foundation::world::Health`: insert it first, or ask with `get`";
    assert_eq!(error.to_string(), text);
    let position = world.register_component::<Position>();
    let error = world.get_field(entity, position, "x").expect_err("missing");
    assert_eq!(error.to_string(), "entity 0v0 has no `test.Position`: insert it first");
    let error = world.set_field(entity, position, "x", 1.0_f32).expect_err("missing");
    assert_eq!(error.to_string(), "entity 0v0 has no `test.Position`: insert it first");
}

#[derive(Bundle)]
struct Twice {
    body: Body,
    health: Health,
}

// Hazard 23: directly, nested and in a struct, by every path.
#[test]
fn a_component_twice_in_a_bundle_is_named_with_the_bundle() {
    fn repeated<B: Bundle>(component: &str) -> String {
        let bundle = std::any::type_name::<B>();
        let error = World::new().register_bundle::<B>().expect_err("twice");
        let expected = BundleError::Repeated { bundle, component: component.to_owned() };
        assert_eq!(error, expected);
        let text = format!("bundle `{bundle}` has component `{component}` twice: remove one of them");
        assert_eq!(error.to_string(), text);
        text
    }
    let direct = repeated::<(Health, Health)>("test.Health");
    repeated::<(Name, (Frozen, (Health, Name)))>("test.Name");
    repeated::<((Body,), Position)>("test.Position");
    let derived = repeated::<Twice>("test.Health");
    assert!(derived.contains("foundation::world::errors::Twice"), "{derived}");

    let mut world = World::new();
    let entity = world.spawn(Frozen).id();
    let both = || (Health(1), Health(2));
    assert_panic(&direct, || world.spawn(both()).id());
    assert_panic(&direct, || world.spawn_batch([both()]).len());
    assert_panic(&direct, || world.insert(entity, both()));
    assert_panic(&direct, || world.entity_mut(entity).insert(both()).id());
    assert_panic(&direct, || world.entity_mut(entity).insert_if_new(both()).id());
    assert_panic(&direct, || world.remove::<(Health, Health)>(entity));
    assert_panic(&direct, || world.take::<(Health, Health)>(entity));
    assert_panic(&direct, || world.reserve_rows::<(Health, Health)>(1));
    let twice = || Twice { body: Body { position: HERE, health: Health(1) }, health: Health(2) };
    assert_panic(&derived, || world.spawn(twice()).id());
    assert_eq!((world.entities().len(), names(&world, entity)), (1, vec!["test.Frozen"]));
    checked(&world);
}

#[test]
fn an_unknown_field_is_named_with_those_that_exist() {
    let mut world = World::new();
    let entity = world.spawn((HERE, Health(1), Frozen)).id();
    let id = |world: &World, name| world.components().by_name(name).expect("registered");
    let text = |world: &mut World, name, field: &str| {
        let id = id(world, name);
        let error = world.get_field(entity, id, field).expect_err("no such field");
        assert_eq!(world.set_field(entity, id, field, 1).expect_err("no such field"), error);
        error.to_string()
    };
    assert_eq!(text(&mut world, "test.Position", "z"), "`test.Position` has no field `z`; it has: x, y");
    let whole = "`test.Health` has no field ``; it has: 0";
    assert_eq!(text(&mut world, "test.Health", ""), whole);
    let tag = "`test.Frozen` has no field `x`; it has: no fields of its own";
    assert_eq!(text(&mut world, "test.Frozen", "x"), tag);
    let schema = Schema::new("hp").field("current", FieldType::I32).field("max", FieldType::I32);
    let hp = world.register_dynamic(schema).expect("the name is free");
    let error = world.insert_dynamic(entity, hp, &[("max", 1.into()), ("cur", 1.into())]);
    assert_eq!(
        error.expect_err("no such field").to_string(),
        "`hp` has no field `cur`; it has: current, max"
    );
    assert!(!world.entity(entity).contains_id(hp), "nothing has changed");
}

// O-052, O-065.
#[test]
fn a_wrong_field_type_is_named_with_both_types() {
    let mut world = World::new();
    let entity = world.spawn(HERE).id();
    let position = world.component_id::<Position>().expect("registered");
    let error = world.set_field(entity, position, "x", 1_i32).expect_err("an i32 is no f32");
    assert_eq!(error.to_string(), "field `x` of `test.Position` is f32, but the value is i32");
    assert_eq!(world.get::<position::x>(entity), Some(&1.0));
    let hp = world.register_dynamic(Schema::new("hp").field("current", FieldType::U8)).expect("free");
    let error =
        world.insert_dynamic(entity, hp, &[("current", 300_i32.into())]).expect_err("an i32 is no u8");
    assert_eq!(error.to_string(), "field `current` of `hp` is u8, but the value is i32");
    assert!(!world.entity(entity).contains_id(hp), "nothing has changed");
}

#[derive(Component)]
#[component(layout = "soa", name = "test.Label")]
struct Label {
    text: String,
    rank: u8,
}

#[test]
fn a_field_without_a_scalar_type_is_named_with_its_type() {
    let mut world = World::new();
    let entity = world.spawn(Label { text: "a".into(), rank: 1 }).id();
    let label = world.component_id::<Label>().expect("registered");
    let text =
        "field `text` of `test.Label` is alloc::string::String, which cannot be read or written by name";
    assert_eq!(world.get_field(entity, label, "text").expect_err("no scalar").to_string(), text);
    assert_eq!(world.set_field(entity, label, "text", 1).expect_err("no scalar").to_string(), text);
    assert_eq!(world.get_field(entity, label, "rank"), Ok(Value::U8(1)));
    assert_eq!(world.get::<label::text>(entity).map(String::as_str), Some("a"));
}

#[test]
fn other_wrong_values_by_name_are_named_too() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let hp = world.register_dynamic(Schema::new("hp").field("current", FieldType::I32)).expect("free");
    let error = world.insert_dynamic(entity, hp, &[("current", 1.into()), ("current", 2.into())]);
    assert_eq!(error.expect_err("twice").to_string(), "field `current` of `hp` is given twice");
    let health = world.component_id::<Health>().expect("registered");
    let error = world.insert_dynamic(entity, health, &[]).expect_err("a Rust type");
    let text = "`test.Health` is a Rust type: insert a value of it instead of fields by name";
    assert_eq!(error.to_string(), text);
    let mut foreign = World::new();
    assert_eq!(foreign.get_field(entity, hp, "current").expect_err("another world").to_string(), DEAD);
    let there = foreign.spawn_empty().id();
    let error = foreign.insert_dynamic(there, hp, &[]).expect_err("another world");
    assert_eq!(error.to_string(), "ComponentId(1) names no component of this world: register it first");
}

#[test]
fn a_schema_with_two_equal_names_is_refused() {
    let mut world = World::new();
    let schema =
        Schema::new("p").field("x", FieldType::F32).field("y", FieldType::F32).field("x", FieldType::U8);
    let error = world.register_dynamic(schema).expect_err("x is there twice");
    assert!(matches!(error, RegisterError::Schema(_)));
    assert_eq!(error.to_string(), "schema `p` has two fields named `x`; rename or remove one");
    let error = world.register_dynamic(Schema::new("")).expect_err("no name");
    assert!(error.to_string().contains("name"), "{error}");
    assert_eq!(world.components().len(), 0);
}

#[test]
fn a_name_with_another_schema_is_refused() {
    let mut world = World::new();
    let schema = || Schema::new("hp").field("current", FieldType::I32);
    let hp = world.register_dynamic(schema()).expect("the name is free");
    assert_eq!(world.register_dynamic(schema()), Ok(hp), "the same schema again is the same component");
    for other in [
        schema().field("max", FieldType::I32),
        Schema::new("hp").field("current", FieldType::I64),
        Schema::new("hp").field("cur", FieldType::I32),
        Schema::new("hp"),
    ] {
        let error = world.register_dynamic(other).expect_err("other fields");
        assert_eq!(error, RegisterError::OtherSchema { name: "hp".into() });
        let text = "`hp` is registered with other fields: use the registered schema or another name";
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(world.components().len(), 1);
}

mod elsewhere {
    use phalanx::prelude::Component;

    #[derive(Component)]
    #[component(name = "test.Health")]
    pub struct Stamina;

    #[derive(Component)]
    #[require(Stamina = Stamina)]
    pub struct Runner;
}

#[test]
fn a_name_that_two_types_claim_is_refused() {
    const TAKEN: &str = "another component is registered as `test.Health`: \
        give one of them a name with #[component(name = \"..\")]";
    let mut world = World::new();
    world.register_component::<Health>();
    let error = world.try_register_component::<elsewhere::Stamina>().expect_err("the name is taken");
    assert_eq!(error, RegisterError::NameTaken { name: "test.Health".into() });
    assert_eq!(error.to_string(), TAKEN);
    assert_panic(TAKEN, || world.register_component::<elsewhere::Stamina>());
    assert_panic(TAKEN, || world.spawn(elsewhere::Stamina).id());
    assert_panic(TAKEN, || world.spawn((Frozen, elsewhere::Stamina)).id());
    let error = world.register_dynamic(Schema::new("test.Health").field("x", FieldType::F32));
    assert_eq!(error.expect_err("the name is taken").to_string(), TAKEN);
    // What requires it cannot be registered either, and is not half registered.
    let known = world.components().len();
    let error = world.try_register_component::<elsewhere::Runner>().expect_err("the name is taken");
    assert_eq!(error.to_string(), TAKEN);
    assert_eq!(world.components().len(), known);
    assert_eq!(world.component_id::<elsewhere::Runner>(), None);
    assert_panic(TAKEN, || world.spawn(elsewhere::Runner).id());
    // The other order: a schema may have the name first.
    let mut world = World::new();
    world.register_dynamic(Schema::new("test.Health")).expect("the name is free");
    assert_eq!(world.try_register_component::<Health>().expect_err("taken").to_string(), TAKEN);
    checked(&world);
}

#[test]
fn a_missing_resource_is_named() {
    let mut world = World::new();
    let text = format!(
        "the world has no resource `{}`: insert it with `insert_resource`",
        std::any::type_name::<Score>()
    );
    assert_panic(&text, || world.resource::<Score>().0);
    assert_panic(&text, || world.resource_mut::<Score>().0);
    assert!(text.contains("foundation::world::Score"));
}

// O-304, O-307: no build leaves these out; this file runs the same in release.
#[test]
fn a_made_up_id_is_dead_and_never_an_index() {
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    let far = Entity::from_bits((1 << 32) | u64::from(u32::MAX - 1)).expect("an id");
    let next = Entity::from_bits(entity.to_bits() + (1 << 32)).expect("an id");
    for forged in [far, next, Entity::PLACEHOLDER] {
        assert!(!world.contains(forged));
        assert!(world.get::<Health>(forged).is_none() && world.get_mut::<Health>(forged).is_none());
        let text = world.insert(forged, Health(2)).expect_err("dead").to_string();
        assert!(text.contains(&format!("entity {forged} ")), "{text}");
        assert!(!world.despawn(forged));
    }
    assert_eq!(world.get::<Health>(entity), Some(&Health(1)));
}
