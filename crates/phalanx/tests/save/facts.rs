//! What saving and loading do, fact by fact.

use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;
use phalanx::save::{KeptComponents, LoadError, Loader, Migration, SaveFilter, SaveRegistry, Unknown};
use phalanx::world::{LinkedBy, Links};
use serde::{Deserialize, Serialize};

use super::cast::*;

fn some_world() -> (World, [Entity; 3]) {
    let mut world = World::new();
    let a = world.spawn((Health { current: 1.0, max: 2.0 }, Unsaved(4))).id();
    let b = world.spawn((Health { current: 3.0, max: 4.0 }, Mind::Hunting(a))).id();
    let c = world.spawn((Frozen, Burning(0.5))).id();
    world.insert_resource(Score { points: 7, leader: Some(b) });
    (world, [a, b, c])
}

#[test]
fn what_is_not_saved_is_named() {
    #[derive(Resource)]
    struct Window;
    #[derive(Message)]
    struct Click;
    let (mut world, _) = some_world();
    world.insert_resource(Window);
    world.write_message(Click);
    let report = world.save_report(&SaveFilter::new());
    assert_eq!(report.entities, 3);
    assert!(!report.is_complete());
    let names: Vec<&str> = report.names().collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names[0].ends_with("Unsaved") && names[1].ends_with("Window") && names[2].ends_with("Click"));
    let text = String::from_utf8(to_json(&world)).expect("JSON is UTF-8");
    assert!(text.contains("\"not_saved\":[\"") && text.contains("Unsaved"), "the save tells it, too");
    assert!(report.to_string().contains("components not saved: "), "{report}");
}

#[test]
fn readable_saves_have_names_types_and_versions() {
    let (world, _) = some_world();
    let text = String::from_utf8(to_json(&world)).expect("JSON is UTF-8");
    for part in [
        r#"{"name":"game.Health","version":2,"storage":"table","type":"{ current: f32, max: f32 }"}"#,
        r#"{"entity":"1v0","values":{"game.Health":{"current":3.0,"max":4.0},"game.Mind":{"Hunting":"0v0"}}}"#,
        r#"{"name":"game.Score","version":3,"type":"{ points: u64, leader: Option<Entity> }","value":{"points":7,"leader":"1v0"}}"#,
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn filters_leave_components_and_entities_out() {
    let (world, [a, b, c]) = some_world();
    let filter = SaveFilter::new()
        .without::<Burning>()
        .without_resources()
        .entities(|entity| !entity.contains::<Mind>());
    let mut text = Vec::new();
    let saved = world.save_filtered(&mut serde_json::Serializer::new(&mut text), &filter).expect("saved");
    assert_eq!((saved.report.entities, saved.report.entities_left_out), (2, 1));
    assert!(saved.report.components_left_out.contains(&"game.Burning".to_owned()));
    let mut loaded = from_json(&text, &registry()).expect("loaded");
    loaded.check().expect("valid");
    assert!(loaded.contains(a) && !loaded.contains(b) && loaded.contains(c));
    assert!(loaded.get::<Burning>(c).is_none() && loaded.get_resource::<Score>().is_none());
    // Its id is dead for good: the slot goes on with the next generation.
    let next = loaded.spawn_empty().id();
    assert_eq!((next.index(), next.generation()), (b.index(), b.generation() + 1));
    let only = SaveFilter::new().only::<Frozen>();
    assert_eq!(world.save_report(&only).components_left_out.len(), 4);
}

// A save that cannot be loaded is none: links follow the entities that are left out, and half of a relation the other.
#[test]
fn relations_do_without_what_a_filter_leaves_out() {
    let mut world = World::new();
    let [root, ghost, leaf] = [(); 3].map(|()| world.spawn(Health { current: 1.0, max: 2.0 }).id());
    let kept: Vec<Entity> = (0..2).map(|_| world.spawn(ChildOf(root)).id()).collect();
    world.insert(ghost, (Frozen, ChildOf(root))).expect("alive");
    world.insert(leaf, ChildOf(ghost)).expect("alive");
    world.entity_mut(root).insert_child(1, ghost);
    for (source, whom) in
        [(root, ghost), (root, leaf), (ghost, leaf), (leaf, ghost), (ghost, ghost), (leaf, root)]
    {
        world.link(source, Likes { whom, amount: 1.0, introduced_by: None }).expect("alive");
        world.link(source, Knows { whom, years: 1 }).expect("alive");
    }
    let filter = SaveFilter::new().entities(|entity| !entity.contains::<Frozen>());
    let mut text = Vec::new();
    world.save_filtered(&mut serde_json::Serializer::new(&mut text), &filter).expect("saved");
    let loaded = from_json(&text, &registry()).expect("links to those that are left out are left out");
    loaded.check().expect("whole");
    assert_eq!(loaded.get::<Children>(root).map(|children| children.to_vec()), Some(kept));
    assert!(loaded.get::<ChildOf>(leaf).is_none() && !loaded.contains(ghost));
    assert_eq!(loaded.related::<Likes>(root).iter().map(|likes| likes.whom).collect::<Vec<_>>(), [leaf]);
    assert_eq!((loaded.relating::<Likes>(leaf), loaded.relating::<Likes>(root)), (&[root][..], &[leaf][..]));
    assert_eq!(loaded.related::<Knows>(leaf).len(), 1);

    let halves = [
        SaveFilter::new().without::<ChildOf>().without::<Links<Likes>>(),
        SaveFilter::new().without::<Children>().without::<LinkedBy<Likes>>(),
    ];
    for filter in halves {
        let mut text = Vec::new();
        let saved = world.save_filtered(&mut serde_json::Serializer::new(&mut text), &filter).expect("saved");
        let names = saved.report.components_left_out;
        for name in ["phalanx.ChildOf", "phalanx.Children", "game.Likes", "LinkedBy<game.Likes>"] {
            assert!(names.iter().any(|known| known == name), "{name} is not in {names:?}");
        }
        let loaded = from_json(&text, &registry()).expect("neither half is there");
        loaded.check().expect("whole");
        assert!(loaded.get::<Children>(root).is_none() && loaded.related::<Likes>(root).is_empty());
        assert_eq!(loaded.related::<Knows>(leaf), world.related::<Knows>(leaf));
    }
}

#[test]
fn a_type_that_is_not_registered_is_named() {
    let (world, _) = some_world();
    let mut types = SaveRegistry::new();
    types.register::<Health>().register::<Mind>().register::<Frozen>().register::<Score>();
    for loaded in [from_json(&to_json(&world), &types), from_postcard(&to_postcard(&world), &types)] {
        let error = loaded.map(|_| ()).expect_err("a component is missing");
        assert_eq!(error, LoadError::Unknown { kind: "component", name: "game.Burning".into() });
        assert!(error.to_string().contains("SaveRegistry"), "{error}");
    }
}

#[test]
fn unknown_components_are_kept_and_come_back() {
    let (world, [a, b, _]) = some_world();
    let mut few = SaveRegistry::new();
    few.register::<Frozen>().register::<Burning>().register::<Score>().unknown(Unknown::Keep);
    let through_json = |world: &World, types: &SaveRegistry| from_json(&to_json(world), types);
    let through_postcard = |world: &World, types: &SaveRegistry| from_postcard(&to_postcard(world), types);
    type Through<'f> = &'f dyn Fn(&World, &SaveRegistry) -> Result<World, LoadError>;
    let ways: [Through<'_>; 2] = [&through_json, &through_postcard];
    for first in ways {
        for second in ways {
            let mut without = first(&world, &few).expect("unknown components are kept");
            without.check().expect("valid");
            assert!(without.get::<Health>(a).is_none());
            assert_eq!(without.resource::<KeptComponents>().iter().count(), 2);
            without.despawn(a);
            let again = second(&without, &few).expect("kept again");
            let with = second(&again, &registry()).expect("known again");
            with.check().expect("valid");
            assert_eq!(with.get::<Health>(b), Some(&Health { current: 3.0, max: 4.0 }));
            assert_eq!(with.get::<Mind>(b), Some(&Mind::Hunting(a)));
            assert!(with.get_resource::<KeptComponents>().is_none());
        }
    }
}

/// `game.Health` as the first version of the game had it.
mod old {
    use super::*;

    #[derive(Component, Serialize, Deserialize)]
    #[component(save, name = "game.Health", version = 1)]
    pub struct Health {
        pub hp: u8,
    }

    #[derive(Component, Serialize, Deserialize)]
    #[component(save, name = "old.Fire")]
    pub struct Fire(pub f32);
}

fn migrations() -> [Migration; 2] {
    let health = Migration::new("game.Health", 1..2)
        .rename("hp", "current")
        .default("max", 100)
        .convert("current", |hp| hp.as_f64().unwrap_or(0.0) / 2.0);
    [health, Migration::new("old.Fire", 1..2).becomes("new.Fire")]
}

#[test]
fn an_older_version_is_migrated_column_by_column() {
    #[derive(Component, Serialize, Deserialize, PartialEq, Debug)]
    #[component(save, name = "new.Fire", version = 2, storage = "sparse")]
    struct NewFire(f32);
    let mut world = World::new();
    let e = world.spawn((old::Health { hp: 7 }, old::Fire(0.5))).id();
    let mut types = SaveRegistry::new();
    types.register::<Health>().register::<NewFire>();
    let error = from_json(&to_json(&world), &types).map(|_| ()).expect_err("there is no migration yet");
    assert_eq!(error, LoadError::Version { name: "game.Health".into(), saved: 1, current: 2 });
    assert!(error.to_string().contains("Migration::new(\"game.Health\", 1..2)"), "{error}");
    for migration in migrations() {
        types.migrate(migration);
    }
    for loaded in [from_json(&to_json(&world), &types), from_postcard(&to_postcard(&world), &types)] {
        let loaded = loaded.expect("migrated");
        loaded.check().expect("valid");
        assert_eq!(loaded.get::<Health>(e), Some(&Health { current: 3.5, max: 100.0 }));
        assert_eq!(loaded.get::<NewFire>(e), Some(&NewFire(0.5)), "it lives in a set by now");
    }
}

#[test]
fn migrations_follow_each_other_from_any_older_version() {
    mod first {
        use super::{Component, Deserialize, Serialize};
        #[derive(Component, Serialize, Deserialize)]
        #[component(save, name = "old.Engine")]
        pub struct Engine {
            pub watts: u32,
        }
    }
    mod second {
        use super::{Component, Deserialize, Serialize};
        #[derive(Component, Serialize, Deserialize)]
        #[component(save, name = "game.Engine", version = 2)]
        pub struct Engine {
            pub kilowatts: f64,
        }
    }
    #[derive(Component, Serialize, Deserialize, PartialEq, Debug)]
    #[component(save, name = "game.Engine", version = 4)]
    struct Engine {
        power: f64,
        kind: String,
    }
    let (mut oldest, mut older) = (World::new(), World::new());
    let e = oldest.spawn(first::Engine { watts: 1_500 }).id();
    assert_eq!(older.spawn(second::Engine { kilowatts: 2.5 }).id(), e);
    let mut types = SaveRegistry::new();
    // In whatever order they are given.
    types
        .register::<Engine>()
        .migrate(Migration::new("game.Engine", 3..4).rename("kilowatts", "power"))
        .migrate(Migration::new("old.Engine", 1..2).becomes("game.Engine").change(|engine| {
            let watts = engine.take("watts").and_then(|watts| watts.as_f64()).ok_or("no watts")?;
            engine.set("kilowatts", watts / 1_000.0);
            Ok(())
        }));
    let error = from_json(&to_json(&oldest), &types).map(|_| ()).expect_err("a step is missing");
    assert_eq!(error, LoadError::Version { name: "game.Engine".into(), saved: 2, current: 4 });
    types.migrate(Migration::new("game.Engine", 2..3).default("kind", "steam"));
    for (world, power) in [(&oldest, 1.5), (&older, 2.5)] {
        for loaded in [from_json(&to_json(world), &types), from_postcard(&to_postcard(world), &types)] {
            let loaded = loaded.expect("migrated");
            assert_eq!(loaded.get::<Engine>(e), Some(&Engine { power, kind: "steam".into() }));
        }
    }
}

#[test]
fn a_version_from_the_future_is_refused() {
    let (world, _) = some_world();
    let mut types = SaveRegistry::new();
    types.register::<old::Health>().unknown(Unknown::Keep);
    let error = from_json(&to_json(&world), &types).map(|_| ()).expect_err("the program is older");
    assert!(error.to_string().contains("which is older"), "{error}");
}

#[test]
fn a_sparse_component_of_old_may_live_in_tables_now() {
    #[derive(Component, Serialize, Deserialize, PartialEq, Debug)]
    #[component(save, name = "game.Burning")]
    struct TableBurning(f32);
    let mut world = World::new();
    let entities: Vec<Entity> = (0..5u8).map(|at| world.spawn((Frozen, Burning(at.into()))).id()).collect();
    let mut types = SaveRegistry::new();
    types.register::<TableBurning>().register::<Frozen>();
    let loaded = from_postcard(&to_postcard(&world), &types).expect("loaded");
    loaded.check().expect("valid");
    for (at, &entity) in (0u8..).zip(&entities) {
        assert_eq!(loaded.get::<TableBurning>(entity), Some(&TableBurning(at.into())));
    }
}

#[test]
fn a_value_that_cannot_be_read_is_named_with_its_entity_and_field() {
    let (world, _) = some_world();
    let text =
        String::from_utf8(to_json(&world)).expect("JSON is UTF-8").replace("\"max\":4.0", "\"max\":\"four\"");
    let error = from_json(text.as_bytes(), &registry()).map(|_| ()).expect_err("a text is no number");
    let text = error.to_string();
    assert!(text.contains("`game.Health` of entity 1v0") && text.contains("field `max`"), "{text}");
}

#[test]
fn fields_may_come_and_go_as_far_as_serde_allows() {
    #[derive(Component, Serialize, Deserialize, PartialEq, Debug)]
    #[component(save, name = "game.Health", version = 2)]
    struct More {
        max: f64,
        #[serde(default)]
        shield: u32,
    }
    let (world, [a, ..]) = some_world();
    let mut types = SaveRegistry::new();
    types.register::<More>().unknown(Unknown::Keep).register::<Score>();
    for loaded in [from_json(&to_json(&world), &types), from_postcard(&to_postcard(&world), &types)] {
        assert_eq!(loaded.expect("loaded").get::<More>(a), Some(&More { max: 2.0, shield: 0 }));
    }
}

#[test]
fn loaded_values_count_as_added_and_changed() {
    let (world, [_, b, _]) = some_world();
    let loaded = from_postcard(&to_postcard(&world), &registry()).expect("loaded");
    assert_eq!(loaded.view_filtered::<Entity, Changed<Mind>>().iter().collect::<Vec<_>>(), [b]);
    assert_eq!(loaded.view_filtered::<Entity, Added<Mind>>().iter().collect::<Vec<_>>(), [b]);
}

#[test]
fn an_empty_world_can_be_saved() {
    let world = World::new();
    for loaded in [from_json(&to_json(&world), &registry()), from_postcard(&to_postcard(&world), &registry())]
    {
        let mut loaded = loaded.expect("loaded");
        assert_eq!(loaded.spawn_empty().id().to_bits(), 1 << 32);
    }
}

#[test]
fn names_are_saved_and_found_again() {
    let mut world = World::new();
    let ship = world.spawn(Name::new("ship")).id();
    let engine = world.spawn((Name::new("engine"), ChildOf(ship))).id();
    assert!(world.save_report(&SaveFilter::new()).is_complete());
    let registry = SaveRegistry::new();
    for loaded in [from_json(&to_json(&world), &registry), from_postcard(&to_postcard(&world), &registry)] {
        let mut loaded = loaded.expect("names need no registration");
        assert_eq!(loaded.get::<Name>(engine).map(Name::as_str), Some("engine"));
        assert_eq!(loaded.named("ship/engine"), Ok(engine));
    }
}

// Hazard 75.
#[test]
fn children_keep_their_order() {
    let mut world = World::new();
    let parent = world.spawn(Frozen).id();
    let children: Vec<Entity> = (0..50).map(|_| world.spawn(ChildOf(parent)).id()).collect();
    world.despawn(children[7]);
    world.entity_mut(children[3]).remove::<ChildOf>();
    world.entity_mut(children[3]).insert(ChildOf(parent));
    let order = world.get::<Children>(parent).expect("there are some").to_vec();
    for loaded in [from_json(&to_json(&world), &registry()), from_postcard(&to_postcard(&world), &registry())]
    {
        let mut loaded = loaded.expect("loaded");
        loaded.check().expect("valid");
        assert_eq!(loaded.get::<Children>(parent).expect("there are some")[..], order[..]);
        loaded.despawn(parent);
        assert_eq!(loaded.entities().len(), 0, "children die with their parent");
    }
}

// Hazard 80.
#[test]
fn halves_of_a_relation_that_disagree_are_refused() {
    let mut world = World::new();
    let a = world.spawn_empty().id();
    let b = world.spawn(ChildOf(a)).id();
    world.spawn(ChildOf(b));
    let text = String::from_utf8(to_json(&world)).expect("JSON is UTF-8");
    let link = r#"{"entity":"1v0","value":"0v0"}"#;
    for wrong in [
        text.replace(link, r#"{"entity":"1v0","value":"2v0"}"#),
        text.replace(link, r#"{"entity":"1v0","value":"1v0"}"#),
        text.replace(link, r#"{"entity":"1v0","value":"9v9"}"#),
        text.replace(r#""value":["1v0"]"#, r#""value":["1v0","1v0"]"#),
        text.replace(r#""value":["1v0"]"#, r#""value":["1v0","2v0"]"#),
    ] {
        assert_ne!(wrong, text);
        let error = from_json(wrong.as_bytes(), &registry()).map(|_| ()).expect_err("they disagree");
        assert!(error.to_string().contains("the relations"), "{error}");
    }
    // Two that are each other's parent.
    let circle = text
        .replace(
            r#"{"entity":"1v0","value":"0v0"},{"entity":"2v0","value":"1v0"}"#,
            r#"{"entity":"1v0","value":"2v0"},{"entity":"2v0","value":"1v0"}"#,
        )
        .replace(r#"{"entity":"0v0","value":["1v0"]}"#, r#"{"entity":"2v0","value":["1v0"]}"#);
    assert!(from_json(circle.as_bytes(), &registry()).is_err());
}

/// Saves that earlier versions of this library wrote, with the first version of `game.Health`.
#[test]
fn saves_of_old_can_still_be_loaded() {
    let mut types = registry();
    for migration in migrations() {
        types.migrate(migration);
    }
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/save/old");
    if std::env::var_os("PHALANX_WRITE_SAVES").is_some() {
        let mut world = World::new();
        let a = world.spawn((old::Health { hp: 7 }, Mind::Idle, Seat("first".into()))).id();
        world.spawn((old::Health { hp: 9 }, Position { x: 1.5, y: -2.5 }, Mind::Hunting(a), Burning(0.25)));
        let gone = world.spawn_empty().id();
        world.despawn(gone);
        world.insert_resource(Score { points: 5, leader: Some(a) });
        world.write_message(Hit(a, 2.0));
        std::fs::write(format!("{here}/form1.json"), to_json(&world)).expect("written");
        std::fs::write(format!("{here}/form1.postcard"), to_postcard(&world)).expect("written");
    }
    let read = |name: &str| std::fs::read(format!("{here}/{name}")).expect("the file is in the repository");
    for loaded in [from_json(&read("form1.json"), &types), from_postcard(&read("form1.postcard"), &types)] {
        let mut loaded = loaded.expect("an old save is loaded");
        loaded.check().expect("valid");
        let healths: Vec<Health> = loaded.view::<&Health>().iter().cloned().collect();
        assert_eq!(healths, [Health { current: 3.5, max: 100.0 }, Health { current: 4.5, max: 100.0 }]);
        assert_eq!(loaded.sparse::<Seat>().len() + loaded.sparse::<Burning>().len(), 2);
        assert_eq!(loaded.resource::<Score>().points, 5);
        assert_eq!(loaded.messages::<Hit>().expect("the channel was saved").len(), 1);
        assert_eq!(loaded.spawn_empty().id().to_string(), "2v1");
    }
}

static HOOKED: AtomicU32 = AtomicU32::new(0);

fn hooked(_: DeferredWorld<'_>, _: HookContext) {
    HOOKED.fetch_add(1, Ordering::Relaxed);
}

#[derive(Component, Serialize, Deserialize)]
#[component(save, name = "game.Watched", on_add = hooked, on_insert = hooked, on_discard = hooked)]
#[component(on_remove = hooked, on_despawn = hooked)]
struct Watched(u32);

#[derive(Component, Serialize, Deserialize)]
#[component(save, name = "game.WatchedInSet", storage = "sparse", on_add = hooked, on_insert = hooked)]
#[component(on_discard = hooked, on_remove = hooked, on_despawn = hooked)]
struct WatchedInSet(u32);

// Hazard 71.
#[test]
fn loading_announces_nothing_that_comes_and_a_loader_announces_what_goes() {
    let mut types = SaveRegistry::new();
    types.register::<Watched>().register::<WatchedInSet>();
    let taken = || HOOKED.swap(0, Ordering::Relaxed);
    let mut level = World::new();
    let (a, b) = (level.spawn(Watched(1)).id(), level.spawn((Watched(2), WatchedInSet(2))).id());
    assert_eq!(taken(), 6, "hooks are there");
    let (text, bytes) = (to_json(&level), to_postcard(&level));
    for loaded in [from_json(&text, &types), from_postcard(&bytes, &types)] {
        let mut loaded = loaded.expect("loaded");
        assert_eq!(taken(), 0, "a new world is loaded in silence");
        loaded.insert(b, WatchedInSet(3)).expect("alive");
        assert_eq!(taken(), 2, "and its hooks run afterwards");
    }

    #[derive(Resource, Default)]
    struct Told(Vec<&'static str>);
    let mut world = World::new();
    world.init_resource::<Told>();
    world.add_observer(|_: On<Add<(Watched, WatchedInSet)>>, mut told: ResMut<Told>| told.0.push("add"));
    world.add_observer(|_: On<Insert<Watched>>, mut told: ResMut<Told>| told.0.push("insert"));
    world.add_observer(|_: On<Matched<&Watched>>, mut told: ResMut<Told>| told.0.push("matched"));
    world.add_observer(|_: On<Discard<Watched>>, mut told: ResMut<Told>| told.0.push("discard"));
    world.add_observer(|_: On<Remove<WatchedInSet>>, mut told: ResMut<Told>| told.0.push("remove"));
    world.add_observer(|_: On<Unmatched<&Watched>>, mut told: ResMut<Told>| told.0.push("unmatched"));
    let (mut loader, told) =
        (Loader::new(), |world: &mut World| std::mem::take(&mut world.resource_mut::<Told>().0));
    let mut load = |world: &mut World, level: &World| {
        let bytes = to_postcard(level);
        taken();
        let loaded = loader.load_into(world, &mut postcard::Deserializer::from_bytes(&bytes), &types);
        world.check().expect("valid");
        loaded.expect("loaded")
    };
    assert_eq!(load(&mut world, &level).spawned, 2);
    level.insert(a, (Watched(5), WatchedInSet(5))).expect("alive");
    assert_eq!(load(&mut world, &level).updated, 2);
    assert_eq!((told(&mut world), taken()), (Vec::new(), 0), "neither new values nor replaced ones");
    level.remove::<WatchedInSet>(b).expect("alive");
    load(&mut world, &level);
    assert_eq!((told(&mut world), taken()), (vec!["remove"], 2), "what goes is removed as by a program");
    level.despawn(b);
    assert_eq!(load(&mut world, &level).despawned, 1);
    assert_eq!((told(&mut world), taken()), (vec!["discard", "unmatched"], 3));
}
