//! Edges of relations of many to many in saves, checkpoints and digests.

use phalanx::prelude::*;
use phalanx::save::{LoadError, Loader, Migration, SaveFilter, SaveRegistry, Unknown};
use phalanx::world::{LinkedBy, Links};
use serde::{Deserialize, Serialize};

use super::cast::*;

fn likes(whom: Entity, amount: f32) -> Likes {
    Likes { whom, amount, introduced_by: None }
}

/// A world whose lists have orders that do not follow from one another.
fn circle() -> (World, [Entity; 4]) {
    let mut world = World::new();
    let all @ [a, b, c, d] = [(); 4].map(|()| world.spawn(Frozen).id());
    for (source, whom) in [(a, b), (a, c), (a, d), (d, b), (c, b), (b, b), (d, a)] {
        world.link(source, likes(whom, source.index() as f32 + 0.5)).expect("alive");
    }
    // The last takes the place of one that goes, in both lists.
    world.unlink::<Likes>(a, b);
    world.link(a, likes(b, 9.0)).expect("alive");
    world.modify_edge::<Likes>(d, a, |likes| likes.introduced_by = Some(c));
    world.link(a, Knows { whom: c, years: 3 }).expect("alive");
    world.link(b, Obeys(a)).expect("alive");
    (world, all)
}

type Through = fn(&World, &SaveRegistry) -> Result<World, LoadError>;

const FORMS: [(&str, Through); 3] = [
    ("JSON", |world, types| from_json(&to_json(world), types)),
    ("postcard", |world, types| from_postcard(&to_postcard(world), types)),
    ("RON", |world, types| from_ron(&to_ron(world), types)),
];

#[test]
fn edges_keep_their_values_and_both_orders() {
    let (world, [a, b, c, d]) = circle();
    assert_eq!(world.related::<Likes>(a).iter().map(|likes| likes.whom).collect::<Vec<_>>(), [d, c, b]);
    assert_eq!(world.relating::<Likes>(b), [b, d, c, a], "another order than that of the sources");
    for (form, through) in FORMS {
        let mut loaded = through(&world, &registry()).expect(form);
        loaded.check().expect(form);
        assert_eq!(loaded.digest(), world.digest(), "{form}: {:?}", world.first_difference(&loaded));
        for entity in [a, b, c, d] {
            assert_eq!(loaded.related::<Likes>(entity), world.related::<Likes>(entity), "{form}");
            assert_eq!(loaded.relating::<Likes>(entity), world.relating::<Likes>(entity), "{form}");
        }
        assert_eq!(
            loaded.edge_between::<Likes>(d, a).and_then(|likes| likes.introduced_by),
            Some(c),
            "{form}"
        );
        assert_eq!(loaded.related::<Knows>(c), [Knows { whom: a, years: 3 }], "{form}");
        assert_eq!(loaded.related::<Obeys>(b), [Obeys(a)], "{form}");
        // Upkeep goes on.
        loaded.despawn(b);
        loaded.unlink::<Knows>(c, a);
        loaded.check().expect(form);
        assert!(loaded.related::<Knows>(a).is_empty() && loaded.relating::<Obeys>(a).is_empty(), "{form}");
        assert_eq!(
            loaded.related::<Likes>(d),
            [Likes { whom: a, amount: 3.5, introduced_by: Some(c) }],
            "{form}"
        );
    }
}

#[test]
fn edges_that_are_not_saved_are_named() {
    let (mut world, [a, b, ..]) = circle();
    assert!(world.save_report(&SaveFilter::new()).is_complete());
    world.link(a, Fears(b)).expect("alive");
    let report = world.save_report(&SaveFilter::new());
    assert_eq!(report.components_left_out, ["game.Fears", "LinkedBy<game.Fears>"]);
    let loaded = from_postcard(&to_postcard(&world), &registry()).expect("loaded without them");
    loaded.check().expect("whole");
    assert!(loaded.related::<Fears>(a).is_empty());
    // A request for edges without their type gets an error, as for components.
    let mut few = SaveRegistry::new();
    few.register::<Frozen>().register::<Knows>().register::<Obeys>();
    for (form, through) in FORMS {
        let error = through(&world, &few).map(|_| ()).expect_err(form);
        assert_eq!(error, LoadError::Unknown { kind: "component", name: "game.Likes".into() }, "{form}");
    }
    few.unknown(Unknown::Keep);
    for (form, through) in FORMS {
        let kept = through(&world, &few).expect(form);
        let again = through(&kept, &registry()).expect(form);
        again.check().expect(form);
        assert_eq!(again.related::<Likes>(a), world.related::<Likes>(a), "{form}");
        assert_eq!(again.relating::<Likes>(b), world.relating::<Likes>(b), "{form}");
    }
}

#[test]
fn migrations_see_each_edge() {
    mod old {
        use super::{Component, Deserialize, Entity, Serialize};

        #[derive(Component, Clone, Serialize, Deserialize)]
        #[component(save, name = "game.Likes")]
        #[relationship(many)]
        pub struct Likes {
            #[target]
            pub whom: Entity,
            pub percent: u32,
        }
    }
    let mut world = World::new();
    let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
    for (source, whom, percent) in [(a, b, 50), (a, c, 25), (b, c, 100)] {
        world.link(source, old::Likes { whom, percent }).expect("alive");
    }
    let mut types = registry();
    for (form, through) in FORMS {
        let error = through(&world, &types).map(|_| ()).expect_err(form);
        assert!(matches!(error, LoadError::Version { saved: 1, current: 2, .. }), "{form}: {error}");
    }
    types.migrate(
        Migration::new("game.Likes", 1..2)
            .rename("percent", "amount")
            .convert("amount", |percent| percent.as_f64().unwrap_or(0.0) / 100.0),
    );
    for (form, through) in FORMS {
        let loaded = through(&world, &types).expect(form);
        loaded.check().expect(form);
        assert_eq!(loaded.related::<Likes>(a), [likes(b, 0.5), likes(c, 0.25)], "{form}");
        assert_eq!(loaded.relating::<Likes>(c), [a, b], "{form}");
    }
}

#[test]
fn ends_that_disagree_are_refused() {
    let (mut world, [a, b, ..]) = {
        let mut world = World::new();
        let all = [(); 3].map(|()| world.spawn(Frozen).id());
        (world, all)
    };
    world.link(a, likes(b, 1.0)).expect("alive");
    world.link(b, Obeys(a)).expect("alive");
    world.link(a, Knows { whom: b, years: 1 }).expect("alive");
    let text = String::from_utf8(to_json(&world)).expect("JSON is UTF-8");
    let edge = r#"{"whom":"1v0","amount":1.0,"introduced_by":null}"#;
    let other = r#"{"whom":"2v0","amount":1.0,"introduced_by":null}"#;
    let dead = r#"{"whom":"7v0","amount":1.0,"introduced_by":null}"#;
    let values = r#""component":"game.Likes","rows":[{"entity":"0v0","value":["#;
    let lists = r#""component":"LinkedBy<game.Likes>","rows":[{"entity":"1v0","value":["#;
    let obeys = r#""component":"game.Obeys","rows":[{"entity":"1v0","value":["0v0"]}]"#;
    let knows = r#"{"whom":"1v0","years":1}"#;
    for (from, to, told) in [
        (format!("[{edge}]"), format!("[{edge},{edge}]"), "twice"),
        (format!("[{edge}]"), "[]".to_owned(), "does not have it"),
        (format!("[{edge}]"), format!("[{other}]"), "does not list it"),
        (format!("[{edge}]"), format!("[{dead}]"), "does not list it"),
        (
            format!("{values}{edge}]}}]"),
            r#""component":"game.Likes","rows":[]"#.to_owned(),
            "does not have it",
        ),
        (format!(r#"{lists}"0v0"]}}]"#), format!(r#"{lists}"0v0","0v0"]}}]"#), "twice"),
        (format!(r#"{lists}"0v0"]}}]"#), format!("{lists}]}}]"), "does not list it"),
        (format!(r#"{lists}"0v0"]}}]"#), format!(r#"{lists}"0v0","2v0"]}}]"#), "does not have it"),
        (obeys.to_owned(), obeys.replace(r#"["0v0"]"#, r#"["0v0","1v0"]"#), "does not list it"),
        (knows.to_owned(), r#"{"whom":"2v0","years":1}"#.to_owned(), "does not list it"),
    ] {
        assert!(text.contains(&from), "{from} is not in {text}");
        let changed = text.replacen(&from, &to, 1);
        let error = from_json(changed.as_bytes(), &registry()).map(|_| ()).expect_err(&to).to_string();
        assert!(error.contains("relations") && error.contains(told), "{to}: {error}");
        let mut world = World::new();
        let own = [(); 2].map(|()| world.spawn(Frozen).id());
        world.link(own[0], likes(own[1], 2.0)).expect("alive");
        let before = world.digest();
        let mut reader = serde_json::Deserializer::from_slice(changed.as_bytes());
        Loader::new().load_into(&mut world, &mut reader, &registry()).expect_err(&to);
        assert_eq!(world.digest(), before, "{to}");
        world.check().expect("whole");
    }
    // Both ends of an edge that may not be alone, or not with others.
    let obeys_two = text.replacen(obeys, &obeys.replace(r#"["0v0"]"#, r#"["0v0","2v0"]"#), 1).replacen(
        r#""component":"LinkedBy<game.Obeys>","rows":["#,
        r#""component":"LinkedBy<game.Obeys>","rows":[{"entity":"2v0","value":["1v0"]},"#,
        1,
    );
    let error = from_json(obeys_two.as_bytes(), &registry()).map(|_| ()).expect_err("exclusive").to_string();
    assert!(error.contains("exclusive"), "{error}");
}

#[test]
fn an_app_is_filled_with_edges_or_left_without_entities() {
    let path = std::env::temp_dir().join(format!("phalanx-edges-{}", std::process::id()));
    let (world, [a, b, ..]) = circle();
    world.write_file(&path).expect("written");
    let mut app = World::new();
    app.fill_from_file(&path, &registry()).expect("filled");
    app.check().expect("whole");
    assert_eq!(app.digest(), world.digest());
    app.despawn(b);
    app.check().expect("whole");
    // A type that reads other edges than it wrote: no place is known for these.
    let mut lying = registry();
    lying.migrate(Migration::new("LinkedBy<game.Likes>", 1..2).becomes("game.Nobody"));
    lying.unknown(Unknown::Keep);
    let mut app = World::new();
    let error = app.fill_from_file(&path, &lying).expect_err("one end is not known").to_string();
    assert!(error.contains("does not list it"), "{error}");
    assert!(app.entities().is_empty() && app.related::<Likes>(a).is_empty());
    app.check().expect("whole");
    let _ = std::fs::remove_file(path);
}

#[test]
fn edges_follow_a_loader_into_a_world_that_has_edges_of_its_own() {
    let (mut level, [a, b, c, d]) = circle();
    let mut world = World::new();
    let [own, friend] = [(); 2].map(|()| world.spawn(Frozen).id());
    world.link(own, likes(friend, 5.0)).expect("alive");
    let mut loader = Loader::new();
    let mut load = |world: &mut World, level: &World| {
        let bytes = to_postcard(level);
        let done = loader.load_into(world, &mut postcard::Deserializer::from_bytes(&bytes), &registry());
        world.check().expect("whole");
        done.expect("loaded");
        [a, b, c, d].map(|saved| loader.get(saved))
    };
    let here = |found: [Option<Entity>; 4]| found.map(|entity| entity.expect("loaded"));
    let [a_here, b_here, c_here, d_here] = here(load(&mut world, &level));
    assert_eq!(
        world.related::<Likes>(a_here).iter().map(|likes| likes.whom).collect::<Vec<_>>(),
        [d_here, c_here, b_here]
    );
    assert_eq!(world.relating::<Likes>(b_here), [b_here, d_here, c_here, a_here]);
    assert_eq!(world.edge_between::<Likes>(d_here, a_here).and_then(|one| one.introduced_by), Some(c_here));
    assert_eq!(world.related::<Likes>(own), [likes(friend, 5.0)]);

    // The world adds edges of its own, and takes one of the save's away.
    world.link(own, likes(b_here, 6.0)).expect("alive");
    world.link(a_here, likes(own, 7.0)).expect("alive");
    world.link(own, Knows { whom: a_here, years: 9 }).expect("alive");
    world.link(d_here, Obeys(own)).expect("alive");
    world.link(own, likes(d_here, 8.0)).expect("alive");
    world.unlink::<Likes>(a_here, d_here);
    // The save gets one, loses one, and changes one.
    level.link(d, Obeys(a)).expect("alive");
    level.unlink::<Likes>(c, b);
    level.modify_edge::<Likes>(a, b, |likes| likes.amount = 1.25);
    for _ in 0..2 {
        assert_eq!(here(load(&mut world, &level)), [a_here, b_here, c_here, d_here]);
        let from_a = [likes(d_here, 0.5), likes(c_here, 0.5), likes(b_here, 1.25), likes(own, 7.0)];
        assert_eq!(world.related::<Likes>(a_here), from_a, "the save's in their order, then the world's");
        assert_eq!(world.relating::<Likes>(b_here), [b_here, d_here, a_here, own]);
        assert_eq!(world.related::<Knows>(a_here).len(), 2);
        assert_eq!(world.edge_between::<Knows>(a_here, own).map(|knows| knows.years), Some(9));
        assert_eq!(world.related::<Obeys>(d_here), [Obeys(a_here)], "the save's own, which is exclusive");
        assert_eq!(world.related::<Likes>(own).len(), 3);
    }
    level.despawn(d);
    let [.., gone] = load(&mut world, &level);
    assert_eq!((gone, world.contains(d_here)), (None, false));
    assert_eq!(world.related::<Likes>(own).len(), 2);
    assert_eq!(world.relating::<Likes>(b_here), [b_here, a_here, own]);
    // No edge is left in the save: the world's own stay.
    for entity in [a, b, c] {
        let _ = level.remove::<(Links<Likes>, Links<Knows>, Links<Obeys>)>(entity);
    }
    load(&mut world, &level);
    assert_eq!(world.related::<Likes>(a_here), [likes(own, 7.0)]);
    assert_eq!(world.relating::<Likes>(b_here), [own]);
}

#[test]
fn edges_are_in_checkpoints_digests_and_differences() {
    let (mut world, [a, b, c, _]) = circle();
    let before = (world.digest(), world.checkpoint());
    world.modify_edge::<Likes>(a, c, |likes| likes.amount = 0.75);
    assert_ne!(world.digest(), before.0);
    let other = from_postcard(&to_postcard(&world), &registry()).expect("loaded");
    world.restore(&before.1).expect("of this world");
    assert_eq!(world.digest(), before.0);
    world.check().expect("whole");
    let difference = world.first_difference(&other).expect("an edge differs");
    assert_eq!(difference.entity, Some(a));
    assert!(difference.part.contains("game.Likes"), "{difference}");
    assert_eq!((&*difference.field, &*difference.left, &*difference.right), ("amount", "0.5", "0.75"));
    // The order of a list is part of it, from both ends.
    let mut turned = from_postcard(&to_postcard(&world), &registry()).expect("loaded");
    turned.unlink::<Likes>(b, b);
    turned.link(b, likes(b, 1.5)).expect("alive");
    let difference = world.first_difference(&turned).expect("the order of the sources");
    assert!(difference.part.contains("LinkedBy<game.Likes>"), "{difference}");
    assert_ne!(world.digest(), turned.digest());
}

#[test]
fn ends_that_a_query_knew_first_are_copied_and_kept_right() {
    let mut world = World::new();
    world.register_component::<LinkedBy<Likes>>();
    world.register_component::<Links<Likes>>();
    let [a, b] = [(); 2].map(|()| world.spawn(Frozen).id());
    world.link(a, likes(b, 1.0)).expect("alive");
    let checkpoint = world.checkpoint();
    world.despawn(b);
    world.restore(&checkpoint).expect("of this world");
    world.check().expect("whole");
    assert_eq!(world.relating::<Likes>(b), [a]);
}
