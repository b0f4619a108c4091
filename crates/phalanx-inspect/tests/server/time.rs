//! One system after the other, and what became another one since an earlier frame.

use phalanx::prelude::*;
use phalanx_inspect::Inspector;

use crate::json::Json;
use crate::world::{Health, Name, Position, Running, Velocity};

fn text<'j>(json: &'j Json, key: &str) -> Option<&'j str> {
    json.get(key).and_then(Json::as_text)
}

/// A parent that walks, with two children.
fn family() -> Running {
    Running::with(Inspector::default().allow_edits().history(20), |world| {
        let parent = world.spawn((Position::default(), Velocity(1.0, 0.0), Name("mother".to_owned()))).id();
        let child = world.spawn((Health { hp: 5, armour: [0, 0] }, ChildOf(parent))).id();
        world.spawn((Name("little".to_owned()), ChildOf(parent)));
        world.spawn(ChildOf(child));
    })
}

fn x(app: &Running) -> f64 {
    let found = app.address.call("world.get", "{\"entity\":\"0\"}");
    let Some(Json::List(components)) = found.get("components") else { panic!("{found}") };
    let position =
        components.iter().find(|found| text(found, "short") == Some("Position")).expect("Position");
    let Some(Json::List(fields)) = position.get("fields") else { panic!("{position}") };
    match fields[0].get("value") {
        Some(Json::Number(value)) => *value,
        Some(Json::Int(value)) => *value as f64,
        other => panic!("{other:?}"),
    }
}

#[test]
fn systems_run_one_by_one_within_one_frame() {
    let app = family();
    app.address.call("app.pause", "{}");
    let frame = |app: &Running| app.address.call("world.stats", "{}").get("frame").and_then(Json::as_usize);
    let (before, place) = (frame(&app).expect("a frame"), x(&app));
    let mut ran = Vec::new();
    loop {
        let answer = app.address.call("app.step_system", "{}");
        let Some(system) = text(&answer, "system") else { break };
        let stats = app.address.call("world.stats", "{}");
        let phase = text(&answer, "phase").expect("a phase");
        assert_eq!(text(&stats, "system"), Some(format!("{phase}/{system}").as_str()));
        assert_eq!(frame(&app), Some(before + 1), "all of it is one frame");
        ran.push(system.to_owned());
    }
    assert_eq!(ran.iter().map(String::as_str).collect::<Vec<_>>(), ["walk", "heal", "never"]);
    assert!((x(&app) - place - 1.0).abs() < 1e-3, "it walked once");
    // A frame that was begun is run to its end by a step.
    app.address.call("app.step_system", "{}");
    app.address.call("app.step", "{\"frames\":1}");
    while frame(&app) != Some(before + 2)
        || app.address.call("world.stats", "{}").get("system") != Some(&Json::Null)
    {
        std::thread::yield_now();
    }
    assert!((x(&app) - place - 2.0).abs() < 1e-3, "and once in the second frame");
    app.address.call("app.resume", "{}");
    app.wait_frames(3);
}

#[test]
fn a_frame_that_was_begun_goes_on_when_the_app_does_and_rewinds() {
    let app = family();
    app.wait_frames(10);
    app.address.call("app.pause", "{}");
    let place = x(&app);
    app.address.call("app.step_system", "{}");
    assert!((x(&app) - place - 1.0).abs() < 1e-3);
    app.address.call("app.rewind", "{\"frames\":0}");
    assert!((x(&app) - place).abs() < 1e-3, "the frame that was begun is taken back");
    app.address.call("app.step_system", "{}");
    app.address.call("app.resume", "{}");
    app.wait_frames(3);
}

#[test]
fn a_difference_tells_what_an_entity_was_some_frames_ago() {
    let app = family();
    app.wait_frames(10);
    app.address.call("app.pause", "{}");
    let changes = |params: &str| -> Vec<(String, String)> {
        let found = app.address.call("world.difference", params);
        let Some(Json::List(changes)) = found.get("changes") else { panic!("{found}") };
        let name = |change: &Json| {
            (
                format!(
                    "{}.{}",
                    text(change, "short").expect("a name"),
                    text(change, "field").expect("a field")
                ),
                text(change, "what").expect("what").to_owned(),
            )
        };
        changes.iter().map(name).collect()
    };
    let place = x(&app);
    let changed = |name: &str| (name.to_owned(), "changed".to_owned());
    assert_eq!(changes("{\"entity\":\"0\",\"from\":4}"), [changed("Position.x")]);
    let found = app.address.call("world.difference", "{\"entity\":\"0\",\"from\":4,\"to\":1}");
    let number = |key: &str| found.get(key).and_then(Json::as_usize).expect("a number");
    assert_eq!(number("toFrame") - number("fromFrame"), 3, "both frames are named");
    let Some(Json::List(found)) = found.get("changes") else { panic!("{found}") };
    let value = |key: &str| match found[0].get(key) {
        Some(Json::Number(value)) => *value,
        Some(Json::Int(value)) => *value as f64,
        other => panic!("{other:?}"),
    };
    assert!((value("after") - value("before") - 3.0).abs() < 1e-2, "three frames lie between");
    assert!((x(&app) - place).abs() < 1e-6, "looking back changes nothing");
    // What is edited between two frames counts.
    app.address.call("world.remove", "{\"entity\":\"0\",\"component\":\"Velocity\"}");
    app.address.call("world.insert", "{\"entity\":\"0\",\"component\":\"Health\",\"fields\":{\"hp\":3}}");
    let all = changes("{\"entity\":\"0\",\"from\":2}");
    assert!(all.contains(&("Velocity.".to_owned(), "removed".to_owned())), "{all:?}");
    assert!(all.contains(&("Health.".to_owned(), "added".to_owned())), "{all:?}");
    // One that has gone since.
    app.address.call("world.despawn", "{\"entity\":\"3v0\"}");
    let gone = app.address.call("world.difference", "{\"entity\":\"3v0\",\"from\":1}");
    assert_eq!(
        (gone.get("livedBefore"), gone.get("livesAfter")),
        (Some(&Json::Bool(true)), Some(&Json::Bool(false)))
    );
    let (_, reason) = app.address.fails("world.difference", "{\"entity\":\"0\",\"from\":999}");
    assert!(reason.contains("frames are kept"), "{reason}");
}

#[test]
fn parents_tell_how_many_children_each_child_has() {
    let app = family();
    let found = app.address.call("world.get", "{\"entity\":\"0\"}");
    assert_eq!(found.get("childCount").and_then(Json::as_usize), Some(2));
    let Some(Json::List(children)) = found.get("children") else { panic!("{found}") };
    let counts: Vec<usize> = children
        .iter()
        .map(|child| child.get("children").and_then(Json::as_usize).expect("a number"))
        .collect();
    assert_eq!(counts, [1, 0]);
    assert_eq!(text(&children[1], "name"), Some("little"));
}
