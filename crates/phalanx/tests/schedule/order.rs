//! The order of systems: declared, inserted, cyclic, changed at run time.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::sync::{Arc, Mutex};

use phalanx::app::UpdateError;
use phalanx::prelude::*;
use phalanx::schedule::{BuildError, Schedule};

#[derive(Resource, Default)]
struct Log(Vec<&'static str>);

macro_rules! logging {
    ($($name:ident)*) => {$(
        fn $name(mut log: ResMut<Log>) {
            log.0.push(stringify!($name));
        }
    )*};
}
logging!(a b c d e);

#[derive(SystemSet, Debug, Clone, Copy)]
enum Sets {
    First,
    Second,
    Outer,
}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}

fn order(app: &App) -> Vec<String> {
    app.schedule(Update).order().expect("no cycle")
}

fn ran(app: &mut App) -> Vec<&'static str> {
    app.step(0.1);
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

// O-208, O-210.
#[test]
fn without_constraints_insertion_order_holds() {
    let mut app = app();
    app.add_systems(Update, (c, a)).add_systems(Update, b);
    assert_eq!(order(&app), ["c", "a", "b"]);
    assert_eq!(ran(&mut app), ["c", "a", "b"]);
}

// O-206, O-207, O-209.
#[test]
fn before_and_after_are_kept_and_ties_go_by_insertion() {
    let mut app = app();
    app.add_systems(Update, (a.after(c), b, c.after(d), d, e.before(b)));
    assert_eq!(ran(&mut app), ["d", "c", "a", "e", "b"]);
}

#[test]
fn chains_order_their_parts_and_whole_tuples() {
    let mut app = app();
    app.add_systems(Update, (e, (d, (b, c), a).chain()).chain());
    assert_eq!(ran(&mut app), ["e", "d", "b", "c", "a"]);
}

#[test]
fn sets_are_ordered_whenever_their_systems_come() {
    let mut app = app();
    app.configure_sets(Update, (Sets::First, Sets::Second).chain());
    app.add_systems(Update, (a.in_set(Sets::Second), b.in_set(Sets::First)));
    assert_eq!(ran(&mut app), ["b", "a"]);
    app.add_systems(Update, c.in_set(Sets::First));
    assert_eq!(ran(&mut app), ["b", "c", "a"]);
}

#[test]
fn sets_lie_in_sets() {
    let mut app = app();
    app.configure_sets(Update, Sets::First.in_set(Sets::Outer));
    app.add_systems(Update, (a.after(Sets::Outer), b.in_set(Sets::First), c.in_set(Sets::Outer)));
    assert_eq!(ran(&mut app), ["b", "c", "a"]);
}

// Hazard 50: the same thing said twice is no cycle.
#[test]
fn duplicate_edges_are_no_cycle() {
    let mut app = app();
    app.add_systems(Update, (a.after(b).after(b), b.before(a)));
    assert_eq!(ran(&mut app), ["b", "a"]);
}

// Hazard 50, O-218: the same function twice is two systems; constraints name both.
#[test]
fn the_same_function_twice_is_two_systems() {
    let mut app = app();
    app.add_systems(Update, (b.after(a), a, a));
    assert_eq!(ran(&mut app), ["a", "a", "b"]);
    assert_eq!(app.schedule(Update).len(), 3);
}

// O-211, O-212, O-213.
#[test]
fn a_cycle_is_an_error_that_names_the_systems_on_it() {
    let mut app = app();
    app.add_systems(Update, (a.after(c), b.after(a), c.after(b), d, e.after(a)));
    let cycle = app.schedule(Update).order().expect_err("a waits for itself");
    let mut systems = cycle.systems.clone();
    systems.sort();
    assert_eq!(systems, ["a", "b", "c"]);
    assert!(cycle.to_string().contains("`a`"), "{cycle}");
    // Raised when the schedule is built, before anything runs.
    app.add_systems(PreUpdate, e);
    let error = app.try_step(0.1).expect_err("it cannot be built");
    assert!(matches!(&error, UpdateError::Build { phase, error: BuildError::Cycle(_) } if phase == "Update"));
    assert!(app.world().resource::<Log>().0.is_empty());
}

#[test]
fn a_system_ordered_after_itself_or_its_own_set_is_an_error_that_says_so() {
    let mut app = app();
    app.add_systems(Update, a.after(a));
    let cycle = app.schedule(Update).order().expect_err("a waits for itself");
    assert_eq!(
        cycle.to_string(),
        "`a` cannot be ordered: it is ordered before or after itself, or a set that it lies in; remove that constraint"
    );
    let mut app = self::app();
    app.add_systems(Update, (b, a.in_set(Sets::First).before(Sets::First)));
    let cycle = app.schedule(Update).order().expect_err("a waits for its set");
    assert_eq!((cycle.systems.as_slice(), cycle.path.len()), (&["a".to_owned()][..], 2), "{cycle}");
    assert!(cycle.path.contains(&"First".to_owned()), "{cycle}");
}

#[test]
fn order_through_an_empty_set_is_kept() {
    let mut app = app();
    app.configure_sets(Update, (Sets::First, Sets::Second).chain());
    app.add_systems(Update, (c.after(Sets::Second), b.before(Sets::First), a.after(c)));
    assert_eq!(ran(&mut app), ["b", "c", "a"]);
    // Also where the set was not configured, and where it lies in another one.
    let mut app = self::app();
    app.configure_sets(Update, Sets::First.in_set(Sets::Outer));
    app.add_systems(Update, (d.after(Sets::Outer), e.before(Sets::First), a.after(Sets::Second)));
    app.add_systems(Update, b.before(Sets::Second));
    assert_eq!(ran(&mut app), ["e", "d", "b", "a"]);
}

#[test]
fn nested_tuples_of_sets_keep_their_structure_in_a_chain() {
    let mut app = app();
    app.configure_sets(Update, ((Sets::First, Sets::Second), Sets::Outer).chain());
    app.add_systems(Update, (a.in_set(Sets::Outer), b.in_set(Sets::Second), c.in_set(Sets::First)));
    // The first two have no order of their own.
    assert_eq!(ran(&mut app), ["b", "c", "a"]);
}

#[test]
fn order_cycles_among_empty_sets_are_errors_that_name_the_path() {
    let mut app = app();
    app.configure_sets(Update, (Sets::First, Sets::Second, Sets::Outer).chain());
    app.configure_sets(Update, Sets::Outer.before(Sets::First));
    let cycle = app.schedule(Update).order().expect_err("the sets wait for each other");
    let mut path = cycle.path.clone();
    path.sort();
    assert_eq!(path, ["First", "Outer", "Second"]);
    assert!(
        cycle.systems.is_empty() && cycle.to_string().starts_with("these sets cannot be ordered"),
        "{cycle}"
    );
}

#[test]
fn a_cycle_of_sets_names_no_systems_that_are_only_in_them() {
    let mut app = app();
    app.configure_sets(Update, (Sets::First.before(Sets::Second), Sets::Second.before(Sets::First)));
    app.configure_sets(Update, Sets::Outer.in_set(Sets::Second));
    app.add_systems(Update, (a.in_set(Sets::First), b.in_set(Sets::Outer), c.in_set(Sets::Second)));
    let cycle = app.schedule(Update).order().expect_err("the sets wait for each other");
    assert!(cycle.systems.is_empty() && cycle.path.len() == 2, "{cycle}");
    let path = |first: &str, second: &str| format!(": `{first}` -> `{second}` -> `{first}`: remove");
    let message = cycle.to_string();
    assert!(
        message.contains(&path("First", "Second")) || message.contains(&path("Second", "First")),
        "{message}"
    );
}

#[test]
fn sets_that_lie_in_each_other_are_an_error_that_names_the_path() {
    let mut app = app();
    app.configure_sets(Update, (Sets::First.in_set(Sets::Second), Sets::Second.in_set(Sets::Outer)));
    app.configure_sets(Update, Sets::Outer.in_set(Sets::First));
    app.add_systems(Update, a.in_set(Sets::First));
    let error = app.try_step(0.1).expect_err("it cannot be built").to_string();
    assert!(error.contains("lie in each other") && error.contains("`Second` -> "), "{error}");
    assert!(error.contains("`First`") && error.contains("`Outer`") && error.contains("in_set"), "{error}");
}

#[test]
fn sets_that_are_ordered_and_share_a_system_are_an_error() {
    let mut app = app();
    app.configure_sets(Update, Sets::First.before(Sets::Second));
    app.add_systems(Update, a.in_set(Sets::First).in_set(Sets::Second));
    let cycle = app.schedule(Update).order().expect_err("a is in both");
    assert_eq!((cycle.systems.as_slice(), cycle.path.len()), (&["a".to_owned()][..], 3), "{cycle}");
}

#[test]
fn a_chain_keeps_its_order_when_a_part_of_it_goes() {
    let mut app = app();
    app.add_systems(Update, (c, b, a).chain());
    let keys = app.schedule(Update).keys().expect("no cycle");
    app.remove_system(keys[1]).expect("it is there");
    app.add_systems(Update, c.after(a));
    assert!(app.schedule(Update).order().is_ok());
    assert_eq!(order(&app)[..2], ["c", "a"]);
}

// O-199, O-215, O-216.
#[test]
fn systems_come_and_go_at_run_time() {
    let mut app = app();
    let first = app.add_system(Update, a);
    let second = app.add_system(Update, b.before(a));
    assert_eq!(ran(&mut app), ["b", "a"]);
    app.remove_system(second).expect("it is there");
    assert_eq!(ran(&mut app), ["a"]);
    assert_eq!(app.remove_system(second).map_err(|error| error.id), Err(second));
    app.remove_system(first).expect("it is there");
    app.add_system(Update, c);
    assert_eq!(ran(&mut app), ["c"]);
}

// O-214, O-215.
#[test]
fn the_order_is_worked_out_once_per_change() {
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut schedule = Schedule::default();
    schedule.add_systems((a, b));
    (0..3).for_each(|_| schedule.run(&mut world));
    assert_eq!(schedule.times_sorted(), 1);
    schedule.add_systems(c);
    (0..3).for_each(|_| schedule.run(&mut world));
    assert_eq!(schedule.times_sorted(), 2);
}

// O-215.
#[test]
fn a_new_system_concerns_the_order_of_its_phase_only() {
    let mut app = app();
    app.add_systems(Update, (a, b)).add_systems(PostUpdate, b);
    let sorted = |app: &App| [app.schedule(Update).times_sorted(), app.schedule(PostUpdate).times_sorted()];
    ran(&mut app);
    ran(&mut app);
    assert_eq!(sorted(&app), [1, 1]);
    app.add_systems(Update, c);
    assert_eq!(ran(&mut app).len(), 4);
    assert_eq!(sorted(&app), [2, 1], "the other phase keeps its order");
    app.add_systems(PostUpdate, c.before(b));
    assert_eq!(ran(&mut app)[3..], ["c", "b"]);
    assert_eq!(sorted(&app), [2, 2]);
}

#[test]
fn a_constraint_across_phases_is_ignored_with_a_warning() {
    let mut app = app();
    app.add_systems(Update, a.after(b)).add_systems(PostUpdate, b);
    let warnings = app.schedule(Update).warnings();
    assert_eq!((warnings[0].of.as_str(), warnings[0].names.as_str()), ("a", "b"));
    assert_eq!(ran(&mut app), ["a", "b"]);
    app.configure(AppConfig { strict: true, ..Default::default() });
    let error = app.try_step(0.1).expect_err("strict");
    assert!(error.to_string().contains("`a`") && error.to_string().contains("`b`"), "{error}");
}

// O-190, O-191, O-192, O-193, O-196.
#[test]
fn hooks_run_when_systems_come_go_and_end() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let note = |text: &'static str| {
        let log = Arc::clone(&log);
        move |_: &mut World| log.lock().expect("not poisoned").push(text)
    };
    let mut app = app();
    let id = app
        .add_system(Update, a.on_added(note("a added")).on_removed(note("a removed")).on_dispose(note("a")));
    app.add_system(Update, b.on_dispose(note("b disposed")).on_removed(note("b removed")));
    assert_eq!(*log.lock().expect("not poisoned"), ["a added"]);
    app.remove_system(id).expect("it is there");
    app.step(0.1);
    app.dispose();
    app.dispose();
    drop(app);
    assert_eq!(*log.lock().expect("not poisoned"), ["a added", "a removed", "b disposed"]);
}

#[test]
fn dropping_the_app_disposes_it() {
    let log = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&log);
    let mut app = app();
    app.add_systems(Update, a.on_dispose(move |_| *counted.lock().expect("not poisoned") += 1));
    drop(app);
    assert_eq!(*log.lock().expect("not poisoned"), 1);
}

#[test]
fn conflicts_name_pairs_and_columns() {
    #[derive(Component)]
    #[component(layout = "soa")]
    struct Pos {
        x: f32,
        y: f32,
    }
    fn write_x(_: Query<&mut pos::x>) {}
    fn write_y(_: Query<&mut pos::y>) {}
    fn read_both(_: Query<&Pos>) {}
    fn exclusive(_: &mut World) {}
    let mut app = app();
    app.world_mut().register_component::<Pos>();
    app.add_systems(Update, (write_x, write_y, read_both));
    let pairs = app.schedule(Update).conflicts().expect("no cycle");
    let shown: Vec<_> =
        pairs.iter().map(|p| (p.first.as_str(), p.second.as_str(), p.parts.join(","), p.declared)).collect();
    assert_eq!(
        shown,
        [
            ("write_x", "read_both", "Pos.x".to_owned(), false),
            ("write_y", "read_both", "Pos.y".to_owned(), false),
        ]
    );
    app.add_systems(Update, exclusive.after(write_x));
    let pairs = app.schedule(Update).conflicts().expect("no cycle");
    assert!(pairs.iter().any(|p| p.second == "exclusive" && p.parts == ["everything"] && p.declared));
}

// The order of their ids is what two systems with commands share; a system that only reads does not see it.
#[test]
fn systems_with_commands_conflict_on_the_ids_of_new_entities() {
    fn spawn(_: Commands) {}
    fn spawn_more(_: Commands) {}
    fn look(_: &World) {}
    fn look_and_spawn(_: &World, _: Commands) {}
    let mut app = app();
    app.add_systems(Update, (spawn, spawn_more, look, look_and_spawn));
    let pairs = app.schedule(Update).conflicts().expect("no cycle");
    let shown: Vec<_> = pairs.iter().map(|p| (p.first.as_str(), p.second.as_str())).collect();
    assert_eq!(
        shown,
        [("spawn", "spawn_more"), ("spawn", "look_and_spawn"), ("spawn_more", "look_and_spawn")]
    );
    assert!(pairs.iter().all(|pair| pair.parts == ["ids of new entities"] && !pair.declared));
}

#[test]
fn pictures_show_every_system_and_arrow() {
    let mut app = app();
    app.add_systems(Update, (a, b.after(a), c.named("a < \"c\"")));
    let dot = app.schedule(Update).to_dot().expect("no cycle");
    assert!(
        dot.contains("label=\"a\"") && dot.contains("n0 -> n1;") && dot.contains("style=dashed"),
        "{dot}"
    );
    let svg = app.schedule(Update).to_svg().expect("no cycle");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("a &lt; \"c\"") && svg.contains("stroke-dasharray"), "{svg}");
}

#[test]
fn timings_are_taken_when_asked_for() {
    let mut app = app();
    app.add_systems(Update, (a, b));
    app.step(0.1);
    assert!(app.timings().iter().all(|phase| phase.runs == 0));
    app.configure(AppConfig { timings: true, ..Default::default() });
    (0..3).for_each(|_| app.step(0.1));
    let timings = app.timings();
    let update = timings.iter().find(|phase| phase.phase == "Update").expect("it is there");
    assert_eq!((update.runs, update.systems.len(), update.systems[1].runs), (3, 2, 3));
    assert!(update.total >= update.systems.iter().map(|system| system.total).sum());
}

#[test]
fn a_schedule_serves_one_world() {
    let mut schedule = Schedule::default();
    let mut world = World::new();
    world.init_resource::<Log>();
    schedule.add_systems(a);
    schedule.initialize(&mut world).expect("no cycle");
    let other = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| schedule.run(&mut World::new())));
    assert!(other.is_err());
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0, ["a"]);
}
