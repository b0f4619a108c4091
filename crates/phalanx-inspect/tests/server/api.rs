//! What the JSON interface answers.

use phalanx::prelude::{Get, Own, Without};
use phalanx_inspect::Inspector;

use crate::json::Json;
use crate::world::{Frozen, Health, Position, Running, Serial};

fn total(result: &Json) -> usize {
    result.get("total").and_then(Json::as_usize).expect("a number")
}

/// Repeats a query until its search is complete.
pub fn found(app: &Running, query: &str) -> usize {
    loop {
        let result = app.address.call("world.query", &format!("{{\"query\":{}}}", Json::from(query)));
        if result.get("complete") == Some(&Json::Bool(true)) {
            return total(&result);
        }
    }
}

fn first(app: &Running, query: &str) -> String {
    found(app, query);
    let result = app.address.call("world.query", &format!("{{\"query\":{}}}", Json::from(query)));
    let Some(Json::List(entities)) = result.get("entities") else { panic!("{result}") };
    entities[0].get("entity").and_then(Json::as_text).expect("an entity").to_owned()
}

#[test]
fn queries_find_entities_by_component_field_name_and_id() {
    let app = Running::start(Inspector::default());
    for (query, count) in [
        ("", 14),
        ("Position", 11),
        ("Position, !Frozen", 10),
        ("Frozen", 1),
        ("Frozen, Position", 1),
        ("Frozen, Health", 0),
        ("!Position", 3),
        ("Health.hp < 30", 3),
        ("Health.hp >= 85.5", 1),
        ("Health.armour.1 = 2", 10),
        ("Health.armour.1 != 2", 0),
        ("Position.x > 4, Health.hp <= 60", 2),
        ("Name.0 ~ \"img\"", 1),
        ("\"ONERROR\"", 1),
        ("Frozen | Health", 11),
        ("0", 1),
        ("0v0", 1),
        ("0v7", 0),
        ("999", 0),
        ("0, Frozen", 0),
    ] {
        assert_eq!(found(&app, query), count, "{query}");
    }
}

#[test]
fn wrong_queries_say_what_is_wrong() {
    let app = Running::start(Inspector::default());
    for (query, part) in [
        ("Helth", "did you mean `Health`?"),
        ("Health.mana < 3", "it has hp, armour.0, armour.1"),
        ("Health.hp ~ 3", "`~` is for texts"),
        ("Health.hp < \"a\"", "compare it with a number"),
        ("Name.0 = 3", "a \\\"text\\\""),
        ("Opaque.0 = 3", "its type is not known"),
        ("Position Velocity", "expected `,`"),
    ] {
        let (code, reason) =
            app.address.fails("world.query", &format!("{{\"query\":{}}}", Json::from(query)));
        assert_eq!(code, -32602);
        assert!(reason.contains(&part.replace('\\', "")), "{query}: {reason}");
    }
}

#[test]
fn pages_of_a_list_follow_each_other() {
    let app = Running::with(Inspector::default(), |world| {
        world.spawn_batch((0..5000).map(|n: i16| crate::world::Velocity(n.into(), 0.0))).for_each(drop);
        for _ in 0..10 {
            world.spawn_empty();
        }
    });
    let page = |offset: usize| {
        let result = app.address.call("world.query", &format!("{{\"offset\":{offset},\"limit\":3}}"));
        assert_eq!(total(&result), 5010);
        let Some(Json::List(entities)) = result.get("entities") else { panic!("{result}") };
        entities.iter().map(|entity| entity.get("entity").expect("an id").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(page(0), ["\"0v0\"", "\"1v0\"", "\"2v0\""]);
    assert_eq!(page(4999), ["\"4999v0\"", "\"5000v0\"", "\"5001v0\""]);
    assert_eq!(page(5009).len(), 1);
    assert!(page(9999).is_empty());
}

#[test]
fn a_million_entities_are_listed_in_small_answers_and_searched_piece_by_piece() {
    // Without a budget a search looks at one piece per call, and a frame answers one call.
    let inspector = Inspector::default().budget(std::time::Duration::ZERO);
    let app = Running::with(inspector, |world| {
        world.spawn_batch((0..1_000_000_u32).map(|n| Serial { number: n.into(), offset: 0 })).for_each(drop);
    });
    let number = |json: &Json, key: &str| json.get(key).and_then(Json::as_usize).expect("a number");
    for offset in [0, 500_000, 999_900, 999_950, 2_000_000] {
        let result = app.address.call("world.query", &format!("{{\"offset\":{offset},\"limit\":100}}"));
        assert_eq!(
            (total(&result), result.get("complete")),
            (1_000_000, Some(&Json::Bool(true))),
            "{offset}"
        );
        let Some(Json::List(entities)) = result.get("entities") else { panic!("{result}") };
        assert_eq!(entities.len(), 1_000_000_usize.saturating_sub(offset).min(100), "{offset}");
        assert!(result.to_string().len() < 16 << 10, "a page is small");
    }
    let most = app.address.call("world.query", "{\"limit\":1000000}").to_string();
    assert!(most.len() < 160 << 10, "no page has more than a thousand: {} bytes", most.len());
    // A field has to be asked of each candidate: 64 of them in each piece, however many there are.
    let query = "{\"query\":\"Serial.number >= 999999\"}";
    for piece in 1..=20 {
        let result = app.address.call("world.query", query);
        assert_eq!((number(&result, "scanned"), total(&result)), (64 * piece, 0));
        assert_eq!(number(&result, "parts"), piece);
        assert_eq!(result.get("complete"), Some(&Json::Bool(false)));
    }
    let points =
        app.address.call("world.points", "{\"x\":\"Serial.number\",\"y\":\"Serial.offset\",\"limit\":99999}");
    let Some(Json::List(sample)) = points.get("points") else { panic!("{points}") };
    assert_eq!((total(&points), sample.len()), (1_000_000, 5000), "a map is a sample");
}

#[test]
fn a_search_goes_on_by_itself_while_a_client_waits_for_it() {
    let app = Running::with(Inspector::default(), |world| {
        world.spawn_batch((0..100_000_u32).map(|n| Serial { number: n.into(), offset: 0 })).for_each(drop);
    });
    let look = || {
        let result = app.address.call("world.query", "{\"query\":\"Serial.number >= 99990\"}");
        let number = |key: &str| result.get(key).and_then(Json::as_usize).expect("a number");
        (
            number("parts"),
            number("scanned"),
            total(&result),
            result.get("complete") == Some(&Json::Bool(true)),
        )
    };
    let first = look();
    assert!(first.0 == 1 && first.1 < 100_000, "this world is too large to be searched at once");
    // Frames that hardly work give a small part of their time, once they have paid for the call.
    app.wait_frames(500);
    let mut last = look();
    assert!(last.0 > 2, "{} parts after two calls", last.0);
    while !last.3 {
        let now = look();
        assert!(now.0 > last.0 && now.1 >= last.1 && now.2 >= last.2, "{now:?} after {last:?}");
        last = now;
    }
    assert_eq!((last.1, last.2), (100_000, 10));
}

#[test]
fn calls_that_can_wait_are_answered_as_all_others() {
    let app = Running::start(Inspector::default());
    let ask = |patient: &str| {
        let body = format!(
            "{{\"id\":3,\"method\":\"world.query\",\"params\":{{\"limit\":0}},\"patient\":{patient}}}"
        );
        let text = app.address.post(&body);
        Json::parse(text.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
    };
    let usual = ask("false");
    assert_eq!(usual.get("result").map(total), Some(14));
    // The last of them waits until the one before it is paid for.
    for _ in 0..3 {
        assert_eq!(ask("true"), usual);
    }
    assert_eq!(ask("\"perhaps\""), usual, "what is not true is false");
}

#[test]
fn a_point_is_a_number_of_a_table_or_of_a_set_or_null() {
    let app = Running::with(Inspector::default(), |world| {
        for n in 0..4_u8 {
            let serial = Serial { number: u64::MAX - u64::from(n), offset: -i64::from(n) };
            let position = Position { x: f32::from(n) / 2.0, y: 0.1 };
            let mut entity = world.spawn((position, serial));
            if n % 2 == 0 {
                entity.insert(Health { hp: n.into(), armour: [n, 0] });
            }
            if n == 3 {
                entity.insert(Frozen);
            }
        }
    });
    let points = |params: &str| {
        let found = app.address.call("world.points", params);
        found.get("points").expect("points").to_string()
    };
    assert_eq!(
        points("{\"x\":\"Position.x\",\"y\":\"Position.y\",\"colour\":\"Health.armour.0\"}"),
        "[[0.5,0.1,null],[1.5,0.1,null],[0,0.1,0],[1,0.1,2]]"
    );
    assert_eq!(
        points("{\"x\":\"Serial.number\",\"y\":\"Serial.offset\",\"colour\":\"Frozen\"}"),
        "[[\"18446744073709551614\",-1,false],[\"18446744073709551612\",-3,true],\
         [\"18446744073709551615\",0,false],[\"18446744073709551613\",-2,false]]"
    );
    assert_eq!(
        points("{\"x\":\"Health.hp\",\"y\":\"Health.hp\",\"limit\":1}"),
        "[[0,0,null]]",
        "every second row of two"
    );
}

#[test]
fn an_entity_shows_fields_text_and_what_cannot_be_shown() {
    let app = Running::start(Inspector::default());
    let entity = first(&app, "Health.hp = 30");
    let shown = app.address.call("world.get", &format!("{{\"entity\":\"{entity}\"}}")).to_string();
    assert!(shown.contains("{\"name\":\"hp\",\"type\":\"i32\",\"value\":30,\"editable\":true}"), "{shown}");
    assert!(shown.contains("\"name\":\"armour.1\",\"type\":\"u8\",\"value\":2"), "{shown}");
    let opaque = first(&app, "Opaque");
    let shown = app.address.call("world.get", &format!("{{\"entity\":\"{opaque}\"}}")).to_string();
    assert!(shown.contains("\"value\":null,\"editable\":false"), "{shown}");
    let (code, _) = app.address.fails("world.get", &format!("{{\"entity\":\"{}\"}}", first(&app, "Shy")));
    assert_eq!(code, -32603, "a panicking text is an error, and the app goes on");
    app.wait_frames(3);
    let (_, reason) = app.address.fails("world.get", "{\"entity\":\"77v7\"}");
    assert_eq!(reason, "entity 77v7 is not alive");
}

#[test]
fn nothing_is_changed_unless_that_was_allowed() {
    let app = Running::start(Inspector::default());
    for (method, params) in [
        ("world.set", "{\"entity\":\"0v0\",\"component\":\"Health\",\"field\":\"hp\",\"value\":1}"),
        ("world.spawn", "{}"),
        ("world.despawn", "{\"entity\":\"0v0\"}"),
        ("world.insert", "{\"entity\":\"0v0\",\"component\":\"Frozen\"}"),
        ("world.remove", "{\"entity\":\"0v0\",\"component\":\"Health\"}"),
        ("app.pause", "{}"),
        ("app.step", "{}"),
        ("app.resume", "{}"),
        ("app.rewind", "{}"),
    ] {
        let (code, reason) = app.address.fails(method, params);
        assert_eq!(code, -32001, "{method}");
        assert!(reason.contains("allow_edits"), "{reason}");
    }
    assert_eq!(found(&app, ""), 14);
    app.wait_frames(3);
}

#[test]
fn fields_are_written_and_what_does_not_fit_is_refused() {
    let app = Running::start(Inspector::default().allow_edits());
    let set = |component: &str, field: &str, value: &str| {
        format!(
            "{{\"entity\":\"0v0\",\"component\":\"{component}\",\"field\":\"{field}\",\"value\":{value}}}"
        )
    };
    let done = app.address.call("world.set", &set("Health", "hp", "55"));
    assert_eq!(done.to_string(), "{\"old\":0,\"new\":55}");
    assert_eq!(found(&app, "Health.hp = 55"), 1);
    let done = app.address.call("world.set", &set("Position", "x", "-2.5"));
    assert_eq!(done.to_string(), "{\"old\":0,\"new\":-2.5}");
    for (component, field, value, part) in [
        ("Health", "hp", "\"many\"", "is no i32"),
        ("Health", "armour.0", "256", "256 is no u8"),
        ("Health", "mana", "1", "has no field `mana`"),
        ("Frozen", "x", "1", "no fields"),
        ("Name", "0", "\"a\"", "has no"),
    ] {
        let (code, reason) = app.address.fails("world.set", &set(component, field, value));
        assert_eq!(code, -32602);
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn whole_numbers_of_64_bits_are_exact_on_the_way_out_and_back() {
    let app = Running::with(Inspector::default().allow_edits(), |world| {
        world.spawn(Serial { number: (1 << 53) + 1, offset: i64::MIN });
    });
    let shown = app.address.call("world.get", "{\"entity\":\"0v0\"}").to_string();
    assert!(shown.contains("\"type\":\"u64\",\"value\":\"9007199254740993\""), "{shown}");
    assert!(shown.contains("\"type\":\"i64\",\"value\":\"-9223372036854775808\""), "{shown}");
    let set = |value: &str| {
        let params =
            format!("{{\"entity\":\"0v0\",\"component\":\"Serial\",\"field\":\"number\",\"value\":{value}}}");
        app.address.call("world.set", &params).to_string()
    };
    // As a number, as a text, and back to what was returned as the old value.
    assert_eq!(
        set("18446744073709551615"),
        "{\"old\":\"9007199254740993\",\"new\":\"18446744073709551615\"}"
    );
    assert_eq!(set("\"7\""), "{\"old\":\"18446744073709551615\",\"new\":7}");
    assert_eq!(set("\"9007199254740993\""), "{\"old\":7,\"new\":\"9007199254740993\"}");
    assert_eq!(found(&app, "Serial.number = 9007199254740993, Serial.offset < -9223372036854775807"), 1);
    let wrong = "{\"entity\":\"0v0\",\"component\":\"Serial\",\"field\":\"number\",\"value\":\"18446744073709551616\"}";
    assert!(app.address.fails("world.set", wrong).1.contains("is no u64"));
}

#[test]
fn entities_are_made_changed_and_ended() {
    let app = Running::start(Inspector::default().allow_edits());
    let params = "{\"components\":{\"Health\":{\"hp\":7},\"Frozen\":null,\"Name\":{\"0\":\"orc\"}}}";
    let made = app.address.call("world.spawn", params);
    let entity = made.get("entity").and_then(Json::as_text).expect("an entity").to_owned();
    assert_eq!(found(&app, "Health.hp = 7, Frozen, \"orc\""), 1);
    let of = |component: &str| format!("{{\"entity\":\"{entity}\",\"component\":\"{component}\"}}");
    app.address.call("world.insert", &of("Velocity"));
    app.address.call("world.remove", &of("Frozen"));
    assert_eq!(found(&app, "Velocity, Health.hp = 7, !Frozen"), 1);
    let (_, reason) = app.address.fails("world.insert", &of("Angrier"));
    assert!(reason.contains("did you mean"), "{reason}");
    let (_, reason) = app.address.fails("world.insert", &of("Opaque"));
    assert!(reason.contains("no default value"), "{reason}");
    let before = found(&app, "");
    let (_, reason) = app.address.fails("world.spawn", "{\"components\":{\"Health\":{\"hp\":true}}}");
    assert!(reason.contains("is no i32"), "{reason}");
    let fresh = app.address.call("world.query", "{\"query\":\"\",\"fresh\":true}");
    assert_eq!(total(&fresh), before, "a spawn that fails leaves nothing");
    app.address.call("world.despawn", &format!("{{\"entity\":\"{entity}\"}}"));
    let fresh = app.address.call("world.query", "{\"query\":\"Health.hp = 7\",\"fresh\":true}");
    assert_eq!(total(&fresh), 0);
}

#[test]
fn an_app_is_paused_stepped_and_let_go() {
    let app = Running::start(Inspector::default().allow_edits());
    app.wait_frames(2);
    app.address.call("app.pause", "{}");
    let frame = |app: &Running| {
        app.address.call("world.stats", "{}").get("frame").and_then(Json::as_usize).expect("a number")
    };
    let before = frame(&app);
    assert_eq!(frame(&app), before, "no frame runs");
    app.address.call("app.step", "{\"frames\":3}");
    while frame(&app) < before + 3 {}
    assert_eq!(frame(&app), before + 3, "and no more");
    app.address.call("app.resume", "{}");
    app.wait_frames(5);
}

#[test]
fn why_is_answered_for_entities_systems_and_components() {
    let app = Running::start(Inspector::default());
    app.wait_frames(2);
    let frozen = first(&app, "Frozen");
    let why = |params: String| {
        let answer = app.address.call("why", &params);
        answer.get("text").and_then(Json::as_text).expect("a text").to_owned()
    };
    let text = why(format!("{{\"entity\":\"{frozen}\",\"system\":\"walk\"}}"));
    assert!(text.contains("has no `Velocity`, and has `Frozen`"), "{text}");
    let text = why("{\"entity\":\"0v0\",\"system\":\"Update/walk\"}".to_owned());
    assert!(text.starts_with("`Update/walk` visits 0v0"), "{text}");
    let text = why("{\"entity\":\"3v0\",\"query\":\"Health.hp > 50, !Position\"}".to_owned());
    assert_eq!(text, "3v0 does not match: it has `Health.hp` = 30, and it has `Position`.");
    let text = why("{\"first\":\"heal\",\"second\":\"walk\"}".to_owned());
    assert_eq!(text, "`walk` runs before `heal`, because that was declared.");
    let text = why("{\"component\":\"Position\"}".to_owned());
    assert!(text.contains("written by Update/walk") && text.contains("read by Update/never"), "{text}");
    let text = why("{\"entity\":\"0v0\",\"system\":\"never\"}".to_owned());
    assert!(text.contains("did not run in the last frame: its condition"), "{text}");
    assert!(app.address.fails("why", "{}").1.contains("say what to explain"));
    let all = app.address.call("why", &format!("{{\"entity\":\"{frozen}\"}}"));
    let Some(Json::List(systems)) = all.get("systems") else { panic!("{all}") };
    let told: Vec<String> = systems
        .iter()
        .map(|system| {
            ["system", "visits", "reason"].map(|key| system.get(key).expect("told").to_string()).join(" ")
        })
        .collect();
    assert_eq!(all.get("text").and_then(Json::as_text), Some(format!("No system visits {frozen}.").as_str()));
    assert!(told[0].contains("walk") && told[0].contains("has no `Velocity`, and has `Frozen`"), "{told:?}");
    assert!(told[1].contains("heal") && told[1].contains("has no `Health`"), "{told:?}");
    assert!(
        told[2].contains("never") && told[2].contains("true") && told[2].contains("did not run"),
        "{told:?}"
    );
    assert!(app.address.fails("why", "{\"entity\":\"0v0\",\"system\":\"walked\"}").1.contains("no system"));
}

#[test]
fn tables_systems_timeline_and_trace_are_told() {
    let app = Running::start(Inspector::default());
    // A stream makes the app take times.
    let mut stream = app.address.connect();
    let request = format!("GET /events?token={} HTTP/1.1\r\n{}\r\n", app.address.token, app.address.host());
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it is read");
    app.wait_frames(20);
    let tables = app.address.call("world.tables", "{}").to_string();
    assert!(tables.contains("\"components\":[\"Position\",\"Velocity\",\"Health\"]"), "{tables}");
    assert!(tables.contains("{\"component\":\"Frozen\",\"entities\":1"), "{tables}");
    let schedule = app.address.call("app.schedule", "{}").to_string();
    assert!(
        schedule.contains("\"name\":\"walk\"")
            && schedule.contains("\"writes\":[\"Position.x\",\"Position.y\"]"),
        "{schedule}"
    );
    let components = app.address.call("world.components", "{}").to_string();
    assert!(
        components.contains("\"short\":\"Angry\",\"storage\":\"tag\",\"entities\":0,\"default\":true"),
        "{components}"
    );
    // Times are taken from the first such call on.
    let timeline = loop {
        let timeline = app.address.call("app.timeline", "{\"frames\":5}").to_string();
        if timeline.contains("\"bars\":[[") {
            break timeline;
        }
    };
    assert!(timeline.contains("{\"phase\":\"Update\",\"name\":\"walk\"}"), "{timeline}");
    assert!(
        timeline.contains("\"its condition `at_no_time` did not hold\""),
        "why a system was skipped: {timeline}"
    );
    assert!(
        timeline.contains("\"`heal` waits for `walk`: it was ordered after it\""),
        "and waited: {timeline}"
    );
    let trace = app.address.raw(
        format!("GET /trace.json?token={} HTTP/1.1\r\n{}\r\n", app.address.token, app.address.host())
            .as_bytes(),
    );
    let trace = Json::parse(trace.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    check_trace(&trace);
    let points =
        app.address.call("world.points", "{\"x\":\"Position.x\",\"y\":\"Position.y\",\"colour\":\"Frozen\"}");
    assert_eq!(total(&points), 11);
    let discovered = app.address.call("rpc.discover", "{}").to_string();
    assert!(discovered.contains("\"world.query\"") && discovered.contains("\"edits\":false"), "{discovered}");
}

/// What Perfetto needs of each event: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>
fn check_trace(trace: &Json) {
    let Some(Json::List(events)) = trace.get("traceEvents") else { panic!("{trace}") };
    let number = |event: &Json, key: &str| match event.get(key) {
        Some(Json::Number(number)) => *number,
        Some(Json::Int(number)) => number.to_string().parse().expect("a number"),
        other => panic!("{key} is {other:?} in {event}"),
    };
    let nanos = |event: &Json, key: &str| (number(event, key) * 1e3).round();
    // The processor of Perfetto drops a slice that overlaps another of its line without lying in it.
    let (mut kinds, mut lines) = (Vec::new(), std::collections::BTreeMap::<String, Vec<(f64, f64)>>::new());
    let mut names = Vec::new();
    for event in events {
        let text =
            |key: &str| event.get(key).and_then(Json::as_text).unwrap_or_else(|| panic!("{key} in {event}"));
        assert!(!text("name").is_empty());
        let (pid, tid) = (number(event, "pid"), number(event, "tid"));
        assert!(pid > 0.0 && tid > 0.0, "0 is the idle thread: {event}");
        match text("ph") {
            "X" => {
                assert!(number(event, "ts") >= 0.0 && number(event, "dur") >= 0.0, "{event}");
                let begin = nanos(event, "ts");
                lines.entry(tid.to_string()).or_default().push((begin, begin + nanos(event, "dur")));
            }
            "i" => {
                assert!(number(event, "ts") >= 0.0 && text("s") == "t", "{event}");
                assert!(event.get("args").and_then(|args| args.get("skipped")).is_some(), "{event}");
            }
            "M" => {
                assert!(event.get("args").and_then(|args| args.get("name")).is_some(), "{event}");
                names.push(text("name").to_owned());
            }
            other => panic!("{other} is no kind that is written"),
        }
        kinds.push(text("ph").to_owned());
    }
    assert_eq!(names[..3], ["process_name", "thread_name", "thread_name"]);
    for line in lines.values_mut() {
        line.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut open: Vec<f64> = Vec::new();
        for &(begin, end) in &*line {
            open.retain(|&until| until > begin);
            assert!(open.iter().all(|&until| end <= until), "{begin} to {end} overlaps in {line:?}");
            open.push(end);
        }
    }
    assert!(["X", "i", "M"].iter().all(|kind| kinds.iter().any(|known| known == kind)), "{trace}");
    assert!(trace.to_string().contains("\"args\":{\"waited\":\"`heal` waits for `walk`"), "{trace}");
}

#[test]
fn groups_of_sparse_sets_are_told_with_what_they_order() {
    let app = Running::with(Inspector::default(), |world| {
        world.group::<Own<(Frozen,)>, Get<()>, Without<Health>>().expect("a group");
        world.spawn(Frozen);
        world.spawn((Frozen, Health::default()));
    });
    let tables = app.address.call("world.tables", "{}").to_string();
    let group =
        "\"groups\":[{\"owned\":[\"Frozen\"],\"guaranteed\":[],\"without\":[\"Health\"],\"entities\":1}]";
    assert!(tables.contains(group), "{tables}");
}

#[test]
fn calls_that_are_none_are_refused() {
    let app = Running::start(Inspector::default());
    let reply = |body: &str| app.address.post(body).split_once("\r\n\r\n").expect("a body").1.to_owned();
    assert!(reply("{").contains("-32700"));
    assert!(reply("[]").contains("-32600"));
    assert!(reply("{\"method\":3}").contains("-32600"));
    assert!(reply("{\"method\":\"world.explode\",\"id\":5}").contains("\"id\":5,\"error\":{\"code\":-32601"));
    assert!(reply("{\"method\":\"world.get\"}").contains("-32602"));
}

#[test]
fn an_app_that_keeps_frames_goes_back_to_them() {
    let app = Running::start(Inspector::default().allow_edits().history(20));
    app.wait_frames(30);
    app.address.call("app.pause", "{}");
    let number = |key: &str| {
        app.address.call("world.stats", "{}").get(key).and_then(Json::as_usize).expect("a number")
    };
    let (before, kept) = (number("frame"), number("history"));
    assert!((5..=20).contains(&kept), "{kept} frames are kept");
    app.address
        .call("world.set", "{\"entity\":\"0v0\",\"component\":\"Health\",\"field\":\"hp\",\"value\":55}");
    let back = app.address.call("app.rewind", "{\"frames\":4}");
    assert_eq!(back.get("frame").and_then(Json::as_usize), Some(before - 4));
    assert_eq!(number("frame"), before - 4);
    let fresh = app.address.call("world.query", "{\"query\":\"Health.hp = 55\",\"fresh\":true}");
    assert_eq!(total(&fresh), 0, "what was changed since is gone");
    let (code, reason) = app.address.fails("app.rewind", "{\"frames\":1000}");
    assert_eq!(code, -32602, "{reason}");
    app.address.call("app.step", "{\"frames\":2}");
    while number("frame") < before - 2 {}
    app.address.call("app.resume", "{}");
    app.wait_frames(3);
}
