//! Components and resources that come in boxes, by the ids of their types, are inserted as any others.

use std::sync::{Arc, Mutex};

use phalanx::ComponentId;
use phalanx::prelude::*;
use phalanx::world::{ChangeError, InsertByIdError, NonSendId};

use super::checked;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(name = "boxed.Whole", track = "row")]
struct Whole(String);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(name = "boxed.Fields", layout = "soa", track = "row")]
struct Fields {
    x: f32,
    label: String,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(name = "boxed.Sparse", storage = "sparse", track = "row")]
struct Sparse(u32);

#[derive(Component, Clone, Debug, PartialEq, Default)]
#[component(name = "boxed.Tag")]
struct Tag;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(name = "boxed.Needy")]
#[require(Tag, NeededSparse)]
struct Needy(u8);

#[derive(Component, Clone, Debug, PartialEq, Default)]
#[component(name = "boxed.NeededSparse", storage = "sparse")]
struct NeededSparse(u16);

#[derive(Resource, Debug, PartialEq, Default)]
struct Score(i32);

type Boxed = Box<dyn std::any::Any + Send + Sync>;

fn ids(world: &mut World) -> [ComponentId; 4] {
    [
        world.register_component::<Whole>(),
        world.register_component::<Fields>(),
        world.register_component::<Sparse>(),
        world.register_component::<Needy>(),
    ]
}

/// What an entity has, with its ticks.
fn told(world: &World, entity: Entity) -> String {
    let entity = world.entity(entity);
    let ids: Vec<_> = entity.component_ids().collect();
    let ticks: Vec<_> = ids.iter().map(|&id| entity.get_change_ticks_by_id(id)).collect();
    let fields = entity.get::<Fields>().map(|fields| (*fields.x, fields.label.clone()));
    format!(
        "{:?}",
        (
            ids,
            ticks,
            entity.get::<Whole>(),
            fields,
            entity.get::<Sparse>(),
            entity.get::<Needy>(),
            entity.get::<Tag>(),
            entity.get::<NeededSparse>(),
        )
    )
}

#[test]
fn boxed_values_come_as_typed_ones_do() {
    let (mut typed, mut boxed) = (World::new(), World::new());
    let known = ids(&mut boxed);
    assert_eq!(ids(&mut typed), known);
    let label = |text: &str| text.to_owned();
    let entities = [typed.spawn_empty().id(), typed.spawn(Tag).id()];
    assert_eq!([boxed.spawn_empty().id(), boxed.spawn(Tag).id()], entities);
    for (round, &entity) in
        [0, 1, 2].iter().flat_map(|round| entities.iter().map(move |entity| (*round, entity)))
    {
        typed.increment_change_tick();
        boxed.increment_change_tick();
        let whole = Whole(format!("{round} {entity}"));
        let fields = Fields { x: 0.5, label: label("field") };
        let (sparse, needy) = (Sparse(round), Needy(7));
        typed.insert(entity, (whole.clone(), fields.clone(), sparse.clone(), needy.clone())).expect("alive");
        let values: [Boxed; 4] = [Box::new(whole), Box::new(fields), Box::new(sparse), Box::new(needy)];
        boxed.insert_by_ids(entity, &known, values).expect("all types fit");
        assert_eq!(told(&boxed, entity), told(&typed, entity), "round {round}");
        checked(&boxed);
    }
}

#[test]
fn several_boxed_values_are_one_change_that_is_announced() {
    let mut world = World::new();
    let [whole, _, sparse, needy] = ids(&mut world);
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let say = |log: &Arc<Mutex<Vec<String>>>, text: &str| {
        let (log, text) = (Arc::clone(log), text.to_owned());
        move |world: &World, entity: Entity| {
            let whole = world.get::<Whole>(entity).map(|whole| whole.0.clone());
            let line = format!("{text} {whole:?} {:?}", world.get::<Sparse>(entity));
            log.lock().expect("not poisoned").push(line);
        }
    };
    let (added, inserted) = (say(&log, "add needy"), say(&log, "insert whole"));
    world.add_observer(move |on: On<Add<Needy>>, world: DeferredWorld| added(&world, on.entity));
    world.add_observer(move |on: On<Insert<Whole>>, world: DeferredWorld| inserted(&world, on.entity));
    let entity = world.spawn_empty().id();
    for text in ["a", "b"] {
        let values: [Boxed; 3] = [Box::new(Needy(1)), Box::new(Sparse(2)), Box::new(Whole(text.to_owned()))];
        world.insert_by_ids(entity, &[needy, sparse, whole], values).expect("all types fit");
    }
    assert_eq!(
        *log.lock().expect("not poisoned"),
        [
            r#"add needy Some("a") Some(Sparse(2))"#,
            r#"insert whole Some("a") Some(Sparse(2))"#,
            r#"insert whole Some("b") Some(Sparse(2))"#,
        ],
        "all values are there when the first observer runs"
    );
}

#[test]
fn a_boxed_value_of_another_type_is_refused_by_name() {
    let mut world = World::new();
    let [whole, _, sparse, _] = ids(&mut world);
    let entity = world.spawn(Whole("before".to_owned())).id();
    let before = told(&world, entity);
    let values: [Boxed; 2] = [Box::new(Whole("after".to_owned())), Box::new(Whole("wrong".to_owned()))];
    let error = world.insert_by_ids(entity, &[whole, sparse], values).expect_err("a `Whole` is no `Sparse`");
    assert_eq!(
        error.to_string(),
        "the id is that of `boxed.Sparse`, but the value is a `boxed.Whole`: give the id of its type"
    );
    let error = world.insert_by_id(entity, sparse, Box::new(7_u8)).expect_err("no component");
    let unknown = InsertByIdError::WrongType { expected: "boxed.Sparse".to_owned(), given: None };
    assert_eq!(error, unknown);
    let twice: [Boxed; 2] = [Box::new(Sparse(1)), Box::new(Sparse(2))];
    let error = world.insert_by_ids(entity, &[sparse, sparse], twice).expect_err("given twice");
    assert_eq!(error.to_string(), "component `boxed.Sparse` is given twice");
    let error = world.insert_by_ids(entity, &[sparse], []).expect_err("no value");
    assert_eq!(error, InsertByIdError::Count { ids: 1, values: 0 });
    assert_eq!(told(&world, entity), before, "nothing has changed");
    world.despawn(entity);
    let error = world.insert_by_id(entity, sparse, Box::new(Sparse(1))).expect_err("dead");
    assert!(matches!(error, InsertByIdError::Change(ChangeError::NoSuchEntity(_))), "{error}");
    let mut other = World::new();
    let far = (0..40).fold(whole, |_, at| {
        let schema = Schema::new(format!("far.{at}")).field("x", FieldType::F32);
        other.register_dynamic(schema).expect("the name is free")
    });
    let entity = world.spawn_empty().id();
    let error = world.insert_by_id(entity, far, Box::new(Sparse(1))).expect_err("of another world");
    assert_eq!(error, InsertByIdError::NoSuchComponent { id: far });
}

#[test]
fn a_pool_refuses_boxed_values_that_it_does_not_declare() {
    #[derive(Pool)]
    struct Places {
        whole: Whole,
    }
    let mut world = World::new();
    let sparse = world.register_component::<Sparse>();
    let entity = world.spawn_in(Places { whole: Whole("here".to_owned()) });
    let error = world.insert_by_id(entity, sparse, Box::new(Sparse(1))).expect_err("not declared");
    assert!(matches!(error, InsertByIdError::Change(ChangeError::NotInPool(_))), "{error}");
}

#[test]
fn the_fields_of_a_run_time_component_come_in_a_box() {
    let mut world = World::new();
    let whole = world.register_component::<Whole>();
    let schema = Schema::new("boxed.hp").field("current", FieldType::I32).field("max", FieldType::I32);
    let hp = world.register_dynamic(schema).expect("the name is free");
    let entity = world.spawn_empty().id();
    let fields = |list: &[(&str, i32)]| -> Boxed {
        let list: Vec<(String, Value)> =
            list.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
        Box::new(list)
    };
    let values = [fields(&[("max", 20)]), Box::new(Whole("x".to_owned()))];
    world.insert_by_ids(entity, &[hp, whole], values).expect("both fit");
    assert_eq!(world.get_field(entity, hp, "max"), Ok(Value::I32(20)));
    assert_eq!(world.get::<Whole>(entity), Some(&Whole("x".to_owned())));
    let values = [fields(&[("min", 20)]), Box::new(Whole("y".to_owned()))];
    let error = world.insert_by_ids(entity, &[hp, whole], values).expect_err("no such field");
    assert_eq!(error.to_string(), "`boxed.hp` has no field `min`; it has: current, max");
    assert_eq!(world.get::<Whole>(entity), Some(&Whole("x".to_owned())), "nothing has changed");
    let error = world.insert_by_id(entity, hp, Box::new(Whole("z".to_owned()))).expect_err("no fields");
    assert_eq!(
        error.to_string(),
        "the id is that of `boxed.hp`, but the value is a `boxed.Whole`: give the id of its type"
    );
}

#[test]
fn a_wrong_type_in_a_command_is_an_error_for_the_handler() {
    let mut world = World::new();
    let sparse = world.register_component::<Sparse>();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&heard);
    world.set_error_handler(move |_, error| log.lock().expect("not poisoned").push(error.to_string()));
    let (entity, dead) = (world.spawn_empty().id(), world.spawn_empty().id());
    world.despawn(dead);
    world.commands().entity(entity).insert_by_id(sparse, Box::new(1_u8));
    world.commands().entity(entity).try_insert_by_id(sparse, Box::new(1_u8));
    world.commands().entity(dead).try_insert_by_id(sparse, Box::new(1_u8));
    world.flush();
    let heard = heard.lock().expect("not poisoned");
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard.iter().all(|error| error.contains("the id is that of `boxed.Sparse`")), "{heard:?}");
}

#[test]
fn a_bundle_of_ids_tells_what_it_brings() {
    let mut world = World::new();
    let [whole, _, sparse, needy] = ids(&mut world);
    let (tag, needed) = (
        world.component_id::<Tag>().expect("required"),
        world.component_id::<NeededSparse>().expect("required"),
    );
    assert_eq!(world.register_dynamic_bundle(&[sparse, whole, sparse]), Ok(vec![whole, sparse]));
    assert_eq!(world.register_dynamic_bundle(&[needy]), Ok(vec![needy, tag, needed]));
    assert_eq!(world.register_dynamic_bundle(&[needy, tag]), Ok(vec![needy, tag, needed]));
    let error = World::new().register_dynamic_bundle(&[needy]).expect_err("of another world");
    assert_eq!(error, InsertByIdError::NoSuchComponent { id: needy });
    let entity = world.spawn_empty().id();
    world.insert_by_id(entity, needy, Box::new(Needy(1))).expect("it fits");
    assert!(world.entity(entity).contains::<Tag>() && world.entity(entity).contains::<NeededSparse>());
}

#[test]
fn a_boxed_resource_has_the_type_of_its_number() {
    let mut world = World::new();
    let id = world.init_resource::<Score>();
    world.remove_resource::<Score>();
    assert!(world.insert_resource_by_id(id, Box::new(Score(1))).expect("it fits").is_none());
    assert!(world.is_resource_added::<Score>());
    let before = world.insert_resource_by_id(id, Box::new(Score(2))).expect("it fits");
    assert_eq!(before.as_ref().and_then(|score| score.downcast_ref()), Some(&Score(1)));
    let error = world.insert_resource_by_id(id, Box::new("two")).expect_err("no score");
    assert!(
        matches!(&error, InsertByIdError::WrongType { expected, given: None } if expected.ends_with("Score"))
    );
    assert_eq!(world.resource::<Score>(), &Score(2));
    let error = World::new().insert_resource_by_id(id, Box::new(Score(1))).expect_err("of another world");
    assert!(error.to_string().contains("names no resource of this world"), "{error}");
}

#[test]
fn a_boxed_value_of_one_thread_has_the_type_of_its_id() {
    let mut world = World::new();
    let id = NonSendId::of::<std::rc::Rc<u8>>();
    assert!(id.name().contains("Rc<u8>"));
    let value = std::rc::Rc::new(3_u8);
    world.insert_non_send_by_id(id, Box::new(std::rc::Rc::clone(&value))).expect("it fits");
    let error = world.insert_non_send_by_id(id, Box::new(3_u8)).expect_err("no `Rc`");
    assert!(error.to_string().contains("Rc<u8>"), "{error}");
    world.insert_non_send_by_id(id, Box::new(std::rc::Rc::new(4_u8))).expect("it fits");
    assert_eq!(std::rc::Rc::strong_count(&value), 1, "what was there is dropped");
    let lent = world.get_non_send_mut_by_id(id).expect("filed here");
    assert_eq!(lent.downcast_ref(), Some(&std::rc::Rc::new(4_u8)));
    drop(lent);
    assert_eq!(**world.non_send::<std::rc::Rc<u8>>(), 4);
    assert!(!World::new().contains_non_send_by_id(id));
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| world.contains_non_send_by_id(id)).join());
    assert!(!elsewhere.expect("no panic"), "another thread has no such value");
    assert!(world.remove_non_send_by_id(id) && !world.remove_non_send_by_id(id));
}
