//! The page in a real browser: Chromium, headless, driven through its DevTools protocol.
//!
//! Where no Chromium is found, the test says so and passes; `.ci/run browser` installs one, and sets
//! `PHALANX_BROWSER=required`. `PHALANX_PICTURES` names a directory for the pictures of the guide.
#![forbid(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::path::PathBuf;

use phalanx::prelude::*;
use phalanx_inspect::Inspector;

use devtools::Browser;
use json::Json;
use world::{Frozen, Health, Name, Position, Running, Serial, Velocity, count_recruits, recruit, sing};

#[allow(dead_code, reason = "the test uses a part")]
#[path = "server/client.rs"]
mod client;
#[path = "browser/devtools.rs"]
mod devtools;
#[allow(dead_code, reason = "the test uses a part")]
#[path = "../src/json.rs"]
mod json;
#[allow(dead_code, reason = "the test uses a part")]
#[path = "server/world.rs"]
mod world;

/// 2^53 + 1, which a browser's own numbers round to 2^53.
const ROUNDED: u64 = 9_007_199_254_740_993;

/// Two thousand that walk in circles, some frozen, one with a name that is markup, and a castle of three.
fn people(world: &mut World) {
    for n in 0..2000_u16 {
        let angle = f32::from(n) * 0.37;
        let far = f32::from(n % 97);
        let at = Position { x: angle.cos() * far, y: angle.sin() * far };
        let health = Health { hp: i32::from(n % 100), armour: [1, 2] };
        let mut entity = world.spawn((at, health));
        if n % 5 != 0 {
            entity.insert(Velocity(0.001 * angle.sin(), 0.001));
        }
        if n % 50 == 7 {
            entity.insert(Frozen);
        }
    }
    world.spawn((Position::default(), Frozen, Name("<img src=x onerror=alert(1)>".to_owned())));
    let serial = Serial { number: ROUNDED, offset: 0 };
    world.spawn((
        Position { x: 3.0, y: 4.0 },
        Health { hp: 31, armour: [0, 0] },
        Name("statue".to_owned()),
        serial,
    ));
    let castle = world.spawn(Name("castle".to_owned())).id();
    let tower = world.spawn((Name("tower".to_owned()), ChildOf(castle))).id();
    world.spawn((Name("bell".to_owned()), ChildOf(tower)));
}

fn pictures() -> PathBuf {
    let dir = std::env::var_os("PHALANX_PICTURES").map(PathBuf::from);
    let dir = dir.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("inspector"));
    std::fs::create_dir_all(&dir).expect("a directory for pictures");
    dir
}

/// How many entities match, by the interface and not by the page.
fn matching(app: &Running, query: &str) -> usize {
    // The first call forgets what an earlier search found.
    for fresh in std::iter::once(true).chain(std::iter::repeat(false)) {
        let params = format!("{{\"query\":{},\"fresh\":{fresh}}}", Json::from(query));
        let result = app.address.call("world.query", &params);
        if result.get("complete") == Some(&Json::Bool(true)) {
            return result.get("total").and_then(Json::as_usize).expect("a number");
        }
    }
    unreachable!("a search ends")
}

fn stat(app: &Running, key: &str) -> Json {
    app.address.call("world.stats", "{}").get(key).expect("a statistic").clone()
}

#[test]
fn a_person_finds_edits_pauses_steps_and_asks_why() {
    let Some(program) = devtools::find() else {
        assert!(std::env::var_os("PHALANX_BROWSER").is_none(), "no Chromium was found");
        eprintln!("skipped: no Chromium was found; install the package `chromium` to run this test");
        return;
    };
    let inspector = Inspector::default().allow_edits().map("Position.x", "Position.y", "Frozen").history(30);
    let app = Running::with_app(inspector, |app| {
        people(app.world_mut());
        app.add_systems(PostUpdate, (recruit, (count_recruits, sing)).chain());
    });
    let url = format!("http://127.0.0.1:{}/?token={}", app.address.port, app.address.token);
    let mut page = Browser::start(&program).open(&url);
    page.size(1280, 800);

    // All entities are in the list, of which only what is in sight was made.
    page.wait("document.querySelector('#query-note').textContent.startsWith('2,005 ')");
    page.wait("document.querySelectorAll('#list .row[data-entity]').length > 5");
    assert_eq!(page.eval("document.querySelectorAll('#list .row').length < 100"), Json::Bool(true));
    assert_eq!(page.eval("location.search"), Json::from(""), "the token left the address");

    // A name that is markup is text.
    page.fill("#query", "\"onerror\"");
    page.wait("document.querySelector('#list .who')?.textContent === '<img src=x onerror=alert(1)>'");
    assert_eq!(page.eval("document.images.length"), Json::Int(0));

    // What is wrong with a query is told in words that are seen whole.
    page.fill("#query", "Positon, !Frozen");
    page.wait("document.querySelector('#query-note').textContent.includes('did you mean `Position`?')");
    page.wait("(() => { const note = document.querySelector('#query-note'); return note.scrollWidth <= note.clientWidth; })()");

    // Find an entity, edit a field, and see the world change.
    page.fill("#query", "Health.hp = 31, !Velocity, \"statue\"");
    page.wait("document.querySelector('#list .who')?.textContent === 'statue'");
    page.click("#list .row[data-entity]");
    page.wait("document.querySelector('[data-field=\"Health.hp\"]')?.value === '31'");
    page.wait("document.querySelector('#query-note').textContent === '1 entity'");
    page.picture(&pictures().join("find-1280.png"));
    page.fill("[data-field=\"Health.hp\"]", "77");
    page.key("Enter");
    page.wait("!document.querySelector('#undo').disabled");
    assert_eq!(matching(&app, "Health.hp = 77, \"statue\""), 1, "the world has changed");
    page.click("#undo");
    page.wait("document.querySelector('[data-field=\"Health.hp\"]').value === '31'");
    page.fill("[data-field=\"Health.hp\"]", "many");
    page.key("Enter");
    page.wait("document.querySelector('#toast').textContent.includes('is no i32')");

    // A number beyond 2^53 is shown as it is, taken as it is, and undone to what it was.
    page.wait(&format!("document.querySelector('[data-field=\"Serial.number\"]').value === '{ROUNDED}'"));
    page.fill("[data-field=\"Serial.number\"]", "18446744073709551615");
    page.key("Enter");
    page.wait("!document.querySelector('#undo').disabled");
    assert_eq!(matching(&app, "Serial.number = 18446744073709551615"), 1, "nothing was rounded");
    page.click("#undo");
    page.wait(&format!("document.querySelector('[data-field=\"Serial.number\"]').value === '{ROUNDED}'"));
    assert_eq!(matching(&app, &format!("Serial.number = {ROUNDED}")), 1, "the old value is back");

    // Why is it not moved? The steps of the guide.
    page.click("#detail .head button");
    page.wait("!document.querySelector('#why').hidden");
    // Every system is there with its reason; a click on one asks about it.
    page.wait("document.querySelector('#visitors')?.textContent.includes('has no `Velocity`')");
    page.click("#visitors button");
    page.wait("document.querySelector('#why .answer').textContent.includes('has no `Velocity`')");
    assert_eq!(
        page.eval("document.querySelector('#why input[aria-label=System]').value"),
        Json::from("Update/walk")
    );
    page.picture(&pictures().join("why-1280.png"));

    // Give it what it lacks.
    page.click("[data-tab=entities]");
    page.eval("{ const s = document.querySelector('#detail select'); s.value = [...s.options].find((o) => o.text === 'Velocity').value; s.dispatchEvent(new Event('change')); }");
    page.wait("document.querySelector('[data-component=Velocity]') !== null");
    let frozen_in_place = matching(&app, "\"statue\", Velocity");
    assert_eq!(frozen_in_place, 1);

    // Pause: no frame runs. Step: one does.
    page.click("#pause");
    page.wait("document.querySelector('#pause').textContent === 'Resume'");
    assert_eq!(stat(&app, "paused"), Json::Bool(true));
    let before = stat(&app, "frame").as_usize().expect("a number");
    assert_eq!(stat(&app, "frame").as_usize(), Some(before));
    page.click("#step");
    page.wait(&format!(
        "document.querySelector('#s-frame').textContent.replaceAll(',', '') === '{}'",
        before + 1
    ));
    assert_eq!(stat(&app, "frame").as_usize(), Some(before + 1));
    // One system of the next frame, then the rest of it.
    page.click("#step-system");
    page.wait("document.querySelector('#s-link').textContent === 'after Update/walk'");
    assert_eq!(stat(&app, "frame").as_usize(), Some(before + 2));
    page.click("#step");
    page.wait("document.querySelector('#s-link').textContent === 'paused'");
    assert_eq!(stat(&app, "frame").as_usize(), Some(before + 2));
    // What changed since some frames: it has a velocity now, but was not given one that moves it.
    page.fill("[data-field=\"Velocity.0\"]", "2.5");
    page.key("Enter");
    page.wait("!document.querySelector('#undo').disabled");
    while matching(&app, "Velocity.0 = 2.5") == 0 {
        page.settle();
    }
    page.click("#compare");
    page.wait("document.querySelector('#changes').textContent.includes('Velocity')");
    page.eval("document.querySelector('#changes').scrollIntoView({block: 'end'})");
    page.wait("!document.querySelector('#toast').classList.contains('shown')");
    page.settle();
    page.picture(&pictures().join("compare-1280.png"));
    // Two frames of the past: the present is not one of them, so what was edited since is not a change.
    page.fill("#compare-from", "1");
    page.fill("#compare-to", "4");
    page.key("Enter");
    page.wait("document.querySelector('#compare-from').value === '4' && document.querySelector('#compare-to').value === '1'");
    page.wait(&format!(
        "document.querySelector('#changes').textContent.replaceAll(',', '').includes('frame {}')",
        before + 2 - 4
    ));
    assert_eq!(
        page.eval("document.querySelector('#changes').textContent.includes('(now)')"),
        Json::Bool(false),
        "neither of them is now"
    );
    // Rewind: the app is where it was.
    page.wait("!document.querySelector('#rewind-box').hidden");
    page.eval("{ const r = document.querySelector('#rewind'); r.value = String(Number(r.max) - 5); r.dispatchEvent(new Event('change')); }");
    page.wait(&format!(
        "document.querySelector('#s-frame').textContent.replaceAll(',', '') === '{}'",
        before - 3
    ));
    assert_eq!(stat(&app, "frame").as_usize(), Some(before - 3));
    // The entity is what it was then, too.
    page.wait("document.querySelector('[data-field=\"Velocity.0\"]')?.value !== '2.5'");
    page.wait("!document.querySelector('#toast').classList.contains('shown')");
    page.eval("document.querySelector('#detail').scrollTop = 0");
    page.settle();
    page.picture(&pictures().join("paused-1280.png"));
    page.click("#pause");
    page.wait("document.querySelector('#pause').textContent === 'Pause'");
    app.wait_frames(5);

    // Parents and children as a tree, and an entity that is brought back.
    page.fill("#query", "");
    page.click("#as-tree");
    page.wait("document.querySelector('#tree .who')?.textContent === 'castle'");
    page.click("#tree .open");
    page.wait("document.querySelectorAll('#tree .who')[1]?.textContent === 'tower'");
    page.click("#tree [role=group] .open");
    page.wait("document.querySelectorAll('#tree .who')[2]?.textContent === 'bell'");
    page.click("#tree [role=group] [role=group] .branch");
    page.wait("document.querySelector('#detail b')?.textContent === 'bell'");
    page.picture(&pictures().join("tree-1280.png"));
    page.click("#despawn");
    page.wait("document.querySelector('#detail').textContent.includes('is not alive')");
    assert_eq!(matching(&app, "\"bell\""), 0);
    page.click("#undo");
    page.wait("document.querySelector('#detail b')?.textContent === 'bell'");
    assert_eq!(matching(&app, "\"bell\""), 1);
    page.click("#as-list");

    // Every tab, wide and narrow, light and dark.
    page.fill("#query", "Position, !Frozen, Health.hp < 50");
    page.wait("document.querySelector('#query-note').textContent === '981 entities'");
    for (width, height) in [(1280, 800), (390, 844)] {
        page.size(width, height);
        for tab in ["entities", "tables", "systems", "why", "map"] {
            page.click(&format!("[data-tab={tab}]"));
            page.wait(match tab {
                "tables" => "document.querySelector('#tables .memory') !== null",
                // Between systems with commands and those after them is a sync point.
                "systems" => {
                    "document.querySelector('#systems .sync')?.previousElementSibling.textContent.includes('recruit') \
                     && document.querySelector('#systems .sync').nextElementSibling.querySelectorAll('.system').length === 2 \
                     && document.querySelector('#systems canvas[data-frames]')?.dataset.frames > 0"
                }
                "map" => "document.querySelector('#map .note').textContent.includes('entities')",
                _ => "true",
            });
            page.settle();
            let overflow = page.eval(&format!("document.documentElement.scrollWidth > {width}"));
            assert_eq!(overflow, Json::Bool(false), "{tab} is wider than {width} points");
            if tab == "why" {
                let cut = "[...document.querySelectorAll('#why .scroll')].some((e) => e.scrollWidth > e.clientWidth)";
                assert_eq!(page.eval(cut), Json::Bool(false), "no reason is cut off at {width} points");
            }
            page.picture(&pictures().join(format!("{tab}-{width}.png")));
            page.dark(true);
            page.settle();
            page.picture(&pictures().join(format!("{tab}-{width}-dark.png")));
            page.dark(false);
        }
    }
    assert_eq!(page.eval("JSON.stringify(window.phalanxErrors)"), Json::from("[]"), "no error in the page");
}

#[test]
fn a_list_of_a_million_entities_has_only_what_is_in_sight_and_reaches_its_end() {
    let Some(program) = devtools::find() else {
        assert!(std::env::var_os("PHALANX_BROWSER").is_none(), "no Chromium was found");
        eprintln!("skipped: no Chromium was found; install the package `chromium` to run this test");
        return;
    };
    let app = Running::with(Inspector::default(), |world| {
        world.spawn_batch((0..1_000_000).map(|_| Velocity(0.0, 0.0))).for_each(drop);
    });
    let url = format!("http://127.0.0.1:{}/?token={}", app.address.port, app.address.token);
    let mut page = Browser::start(&program).open(&url);
    page.size(1280, 800);
    page.wait("document.querySelector('#query-note').textContent === '1,000,000 entities'");
    for (part, first) in [("0", "0v0"), ("1", "999999v0")] {
        page.eval(&format!(
            "{{ const l = document.querySelector('#list'); l.scrollTop = {part} * l.scrollHeight; }}"
        ));
        page.wait(&format!("document.querySelector('#list [data-entity=\"{first}\"]') !== null"));
        assert_eq!(page.eval("document.querySelectorAll('#list .row').length < 100"), Json::Bool(true));
    }
    // The last row is in sight, whole.
    page.wait(
        "(() => { const row = document.querySelector('#list [data-entity=\"999999v0\"]').getBoundingClientRect(); \
         const list = document.querySelector('#list').getBoundingClientRect(); \
         return row.top >= list.top && row.bottom <= list.bottom + 1; })()",
    );
    page.click("#list [data-entity=\"999999v0\"]");
    page.wait("document.querySelector('#detail h3')?.textContent === '999999v0'");
    assert_eq!(page.eval("JSON.stringify(window.phalanxErrors)"), Json::from("[]"), "no error in the page");
}
