//! What the interface tells of components made at run time, pools, and schedules.

use phalanx::prelude::*;
use phalanx_inspect::Inspector;

use crate::api::found;
use crate::json::Json;
use crate::world::{Health, Running, count_recruits, recruit, sing};

#[test]
fn fields_of_components_made_at_run_time_are_shown_found_and_written() {
    let app = Running::with(Inspector::default().allow_edits(), |world| {
        let fuel = Schema::new("fuel").field("left", FieldType::F64).field("full", FieldType::Bool);
        let fuel = world.register_dynamic(fuel).expect("a new name");
        let lamp = Schema::new("lamp").field("watts", FieldType::U8).storage(StorageKind::Sparse);
        let lamp = world.register_dynamic(lamp).expect("a new name");
        let car = world.spawn_empty().id();
        world.insert_dynamic(car, fuel, &[("left", 2.5.into()), ("full", false.into())]).expect("it fits");
        world.insert_dynamic(car, lamp, &[("watts", 40_u8.into())]).expect("it fits");
    });
    assert_eq!(found(&app, "fuel.left > 2, lamp.watts = 40, fuel.full = false"), 1);
    let set = |component: &str, field: &str, value: &str| {
        let params = format!(
            "{{\"entity\":\"0v0\",\"component\":\"{component}\",\"field\":\"{field}\",\"value\":{value}}}"
        );
        app.address.call("world.set", &params).to_string()
    };
    assert_eq!(set("fuel", "left", "7.25"), "{\"old\":2.5,\"new\":7.25}");
    assert_eq!(set("lamp", "watts", "60"), "{\"old\":40,\"new\":60}");
    assert_eq!(set("fuel", "full", "true"), "{\"old\":false,\"new\":true}");
    let shown = app.address.call("world.get", "{\"entity\":\"0v0\"}").to_string();
    assert!(
        shown.contains("{\"name\":\"left\",\"type\":\"f64\",\"value\":7.25,\"editable\":true}"),
        "{shown}"
    );
    assert!(shown.contains("\"name\":\"watts\",\"type\":\"u8\",\"value\":60"), "{shown}");
}

#[derive(Component, Clone, Default)]
struct Fangs(#[allow(dead_code, reason = "never read")] u8);

#[derive(Pool)]
struct Wolves {
    #[allow(dead_code, reason = "never read")]
    health: Health,
    #[allow(dead_code, reason = "never read")]
    fangs: Option<Fangs>,
}

#[test]
fn pools_are_told_with_their_tables() {
    let app = Running::with(Inspector::default(), |world| {
        world.spawn_in(Wolves { health: Health::default(), fangs: None });
        world.spawn_in(Wolves { health: Health::default(), fangs: Some(Fangs(3)) });
        world.spawn(Health::default());
    });
    let tables = app.address.call("world.tables", "{}");
    let Some(Json::List(pools)) = tables.get("pools") else { panic!("{tables}") };
    let wolves = pools.iter().find(|pool| pool.get("pool").and_then(Json::as_text) == Some("Wolves"));
    let wolves = wolves.unwrap_or_else(|| panic!("{tables}"));
    assert_eq!(wolves.get("entities").and_then(Json::as_usize), Some(2));
    let Some(Json::List(archetypes)) = tables.get("archetypes") else { panic!("{tables}") };
    let in_pool = |table: &&Json| table.get("pool").and_then(Json::as_text) == Some("Wolves");
    let rows = archetypes.iter().filter(in_pool).map(|table| table.get("rows").and_then(Json::as_usize));
    assert_eq!(rows.sum::<Option<usize>>(), Some(2), "{tables}");
}

#[test]
fn a_schedule_tells_order_sync_points_and_what_may_run_side_by_side() {
    let app = Running::with_app(Inspector::default(), |app| {
        app.add_systems(PostUpdate, (recruit, (count_recruits, sing)).chain());
    });
    let schedule = app.address.call("app.schedule", "{}");
    let Some(Json::List(phases)) = schedule.get("phases") else { panic!("{schedule}") };
    let of = |phase: &str| {
        let found = phases.iter().find(|found| found.get("phase").and_then(Json::as_text) == Some(phase));
        let Some(Json::List(systems)) = found.and_then(|found| found.get("systems")) else {
            panic!("{schedule}")
        };
        let row = |system: &Json| {
            let number = |key: &str| system.get(key).and_then(Json::as_usize).expect("a number");
            let name = system.get("name").and_then(Json::as_text).expect("a name").to_owned();
            (name, number("level"), number("wave"), system.get("after").expect("a list").to_string())
        };
        systems.iter().map(row).collect::<Vec<_>>()
    };
    let row = |name: &str, level, wave, after: &str| (name.to_owned(), level, wave, after.to_owned());
    // A sync point lies between two levels; systems of one wave may run side by side.
    assert_eq!(
        of("PostUpdate"),
        [row("recruit", 0, 0, "[]"), row("count_recruits", 1, 1, "[0]"), row("sing", 1, 1, "[0]")]
    );
    assert_eq!(of("Update")[..2], [row("walk", 0, 0, "[]"), row("heal", 0, 1, "[0]")]);
}
