//! Tools beside an app: frames that are held back, times and threads of systems, systems one by one, unmet conditions.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use phalanx::app::{FrameAction, FrameTool};
use phalanx::prelude::*;

#[derive(Component)]
struct Position(f32);
#[derive(Component)]
struct Velocity(f32);
#[derive(Component)]
#[component(storage = "sparse")]
struct Frozen;
#[derive(Resource, Default)]
struct Frames(u32);

fn walk(mut all: Query<(&mut Position, &Velocity), Without<Frozen>>) {
    for (mut position, velocity) in &mut all {
        position.0 += velocity.0;
    }
}

fn count(mut frames: ResMut<Frames>) {
    frames.0 += 1;
}

struct Script {
    actions: Vec<FrameAction>,
    ended: Arc<AtomicU32>,
}

impl FrameTool for Script {
    fn before_frame(&mut self, _: &mut App) -> FrameAction {
        self.actions.pop().unwrap_or_default()
    }
    fn after_frame(&mut self, app: &mut App) {
        assert!(app.world().resource::<Frames>().0 > 0);
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

fn app_with(actions: Vec<FrameAction>) -> (App, Arc<AtomicU32>) {
    let mut app = App::new();
    app.init_resource::<Frames>();
    app.add_systems(Update, (walk, count));
    let ended = Arc::new(AtomicU32::new(0));
    app.add_frame_tool(Script { actions, ended: Arc::clone(&ended) });
    (app, ended)
}

#[test]
fn a_frame_that_is_skipped_runs_nothing_and_moves_no_clock() {
    let (mut app, ended) = app_with(vec![FrameAction::Run, FrameAction::Skip, FrameAction::Skip]);
    app.step(0.5);
    app.update();
    assert_eq!(app.world().resource::<Time>().frame(), 0);
    assert_eq!((app.world().resource::<Frames>().0, ended.load(Ordering::Relaxed)), (0, 0));
    app.step(0.5);
    assert_eq!(app.world().resource::<Time>().elapsed(), Duration::from_millis(500));
    assert_eq!((app.world().resource::<Frames>().0, ended.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn a_tool_may_say_how_long_the_next_update_is() {
    let (mut app, _) = app_with(vec![FrameAction::RunFor(Duration::from_millis(20))]);
    app.update();
    assert_eq!(app.world().resource::<Time>().elapsed(), Duration::from_millis(20));
}

#[test]
fn one_tool_that_skips_is_enough_and_all_are_asked() {
    struct Asked(Arc<AtomicU32>);
    impl FrameTool for Asked {
        fn before_frame(&mut self, _: &mut App) -> FrameAction {
            self.0.fetch_add(1, Ordering::Relaxed);
            FrameAction::RunFor(Duration::from_secs(1))
        }
    }
    let (mut app, ended) = app_with(vec![FrameAction::Skip]);
    let asked = Arc::new(AtomicU32::new(0));
    app.add_frame_tool(Asked(Arc::clone(&asked)));
    app.update();
    assert_eq!((asked.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (1, 0));
}

#[test]
fn a_tool_can_add_a_tool() {
    struct Late(Arc<Mutex<Vec<&'static str>>>);
    impl FrameTool for Late {
        fn after_frame(&mut self, _: &mut App) {
            self.0.lock().expect("not poisoned").push("late");
        }
    }
    struct First(Arc<Mutex<Vec<&'static str>>>, bool);
    impl FrameTool for First {
        fn after_frame(&mut self, app: &mut App) {
            self.0.lock().expect("not poisoned").push("first");
            if !std::mem::replace(&mut self.1, true) {
                app.add_frame_tool(Late(Arc::clone(&self.0)));
            }
        }
    }
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut app = App::new();
    app.add_frame_tool(First(Arc::clone(&told), false));
    app.step(0.1);
    app.step(0.1);
    assert_eq!(*told.lock().expect("not poisoned"), ["first", "first", "late"]);
}

#[test]
fn timings_tell_when_a_system_began_and_whether_it_was_skipped() {
    let mut app = App::new();
    app.init_resource::<Frames>();
    app.add_systems(Update, (count, walk.run_if(|| false)));
    app.step(0.1);
    let update =
        |app: &App| app.timings().into_iter().find(|phase| phase.phase == "Update").expect("a phase");
    assert_eq!(update(&app).systems[0].started, None, "nothing is timed unless it is asked for");
    app.set_timings(true);
    app.step(0.1);
    let timings = update(&app);
    assert!(timings.systems[0].started.is_some() && !timings.systems[0].skipped);
    assert!(timings.systems[1].skipped);
    app.set_timings(false);
    app.step(0.1);
    assert_eq!(update(&app).systems[0].runs, 1);
}

#[test]
fn systems_tell_what_they_use_and_whom_they_wait_for() {
    let mut app = App::new();
    app.init_resource::<Frames>();
    app.add_systems(Update, (count, walk.after(count).run_if(|| true), |_: &mut World| ()).chain());
    app.step(0.1);
    let (_, view) = app.phase_views().find(|(label, _)| label.to_string() == "Update").expect("a phase");
    let systems = view.system_views().expect("no cycle");
    assert_eq!(systems.len(), 3);
    assert_eq!((systems[0].name.as_str(), &systems[0].writes), ("count", &vec!["Frames".to_owned()]));
    assert_eq!(systems[1].after, [0]);
    assert_eq!(
        (systems[1].reads.as_slice(), systems[1].writes.as_slice()),
        (["Velocity".to_owned()].as_slice(), ["Position".to_owned()].as_slice())
    );
    assert_eq!(systems[1].conditions.len(), 1);
    assert_eq!(systems[1].queries.len(), 1, "the condition has no query");
    assert!(systems[2].exclusive && !systems[1].exclusive);
}

#[test]
fn every_part_of_a_condition_that_an_entity_fails_is_named() {
    let mut app = App::new();
    app.add_systems(Update, walk);
    let world = app.world_mut();
    let moving = world.spawn((Position(0.0), Velocity(1.0))).id();
    let frozen = world.spawn((Position(0.0), Frozen)).id();
    let dead = world.spawn(Position(0.0)).id();
    world.despawn(dead);
    app.step(0.1);
    let (_, view) = app.phase_views().find(|(label, _)| label.to_string() == "Update").expect("a phase");
    let system = view.system_views().expect("no cycle").remove(0);
    let unmet = |entity| {
        let unmet = app.world().unmet(&system.queries[0], entity);
        unmet.map(|parts| parts.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(unmet(moving), Some(Vec::new()));
    assert_eq!(unmet(frozen), Some(vec!["with Velocity".to_owned(), "without Frozen".to_owned()]));
    assert_eq!(unmet(dead), None);
}

#[test]
fn a_tool_that_panics_keeps_no_other_from_the_frame_and_stays() {
    struct Counts(Arc<AtomicU32>, bool);
    impl FrameTool for Counts {
        fn after_frame(&mut self, _: &mut App) {
            self.0.fetch_add(1, Ordering::Relaxed);
            assert!(!std::mem::take(&mut self.1), "the tool");
        }
    }
    let count = Arc::new(AtomicU32::new(0));
    let mut app = App::new();
    app.add_frame_tool(Counts(Arc::clone(&count), true)).add_frame_tool(Counts(Arc::clone(&count), false));
    catch_unwind(AssertUnwindSafe(|| app.step(0.1))).expect_err("the panic is passed on");
    assert_eq!(count.load(Ordering::Relaxed), 2);
    app.step(0.1);
    assert_eq!(count.load(Ordering::Relaxed), 4);
}
