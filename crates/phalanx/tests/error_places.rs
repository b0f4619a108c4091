//! Where the compiler's runtime says that a panic happened: at the user's line, and with the system's name.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use phalanx::prelude::*;

#[derive(Resource)]
struct Missing;
#[derive(Component)]
struct Part;

fn needs(_: Res<Missing>) {}
fn both(_: ResMut<Missing>, _: Res<Missing>) {}
fn again() {}

thread_local! {
    static LINE: Cell<Option<(bool, u32)>> = const { Cell::new(None) };
}

/// The line in this file on which `f` panics, by what the hook is told.
#[track_caller]
fn line_of(f: impl FnOnce()) -> u32 {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| (place.file().ends_with("error_places.rs"), place.line()));
        LINE.with(|line| line.set(place));
    }));
    let outcome = catch_unwind(AssertUnwindSafe(f));
    std::panic::set_hook(before);
    assert!(outcome.is_err(), "it does not panic");
    let (here, line) = LINE.with(Cell::get).expect("the hook was called");
    assert!(here, "the panic points into the library");
    line
}

// One test: the hook belongs to the process.
#[test]
fn panics_point_at_the_line_that_called() {
    let mut app = App::new();
    app.add_systems(Update, needs);
    assert_eq!(line_of(|| app.step(0.1)), line!());
    assert_eq!(line_of(|| app.update()), line!());
    assert_eq!(line_of(|| app.run_phase(Update)), line!());

    let mut app = App::new();
    app.add_systems(FixedUpdate, needs);
    assert_eq!(line_of(|| app.step(0.1)), line!());
    assert_eq!(line_of(|| App::new().add_systems(PreStartup, needs).startup()), line!());

    let mut app = App::new();
    assert_eq!(line_of(|| _ = app.add_systems(Update, both)), line!());
    assert_eq!(line_of(|| app.step(-1.0)), line!());
    app.add_systems(Update, again.after(again));
    assert_eq!(line_of(|| app.step(0.1)), line!());
    assert_eq!(line_of(|| app.run_phase(Update)), line!());

    let mut app = App::new();
    app.step(0.1);
    assert_eq!(line_of(|| _ = app.add_systems(Startup, again)), line!());

    let mut world = World::new();
    assert_eq!(line_of(|| _ = world.resource::<Missing>()), line!());
    assert_eq!(line_of(|| _ = world.resource_mut::<Missing>()), line!());
    assert_eq!(line_of(|| world.resource_scope(|_, _: Mut<Missing>| ())), line!());
    assert_eq!(line_of(|| _ = world.add_observer(|_: On<Add<Part>>, _: &mut World| {})), line!());
    let mut schedule = Schedule::default();
    schedule.add_systems(needs);
    assert_eq!(line_of(|| schedule.run(&mut world)), line!());
}

#[test]
fn the_name_of_a_system_that_panics_is_printed_from_every_thread() {
    for threads in ["1", "2"] {
        let mut child = Command::new(std::env::current_exe().expect("the test runs"));
        child.args(["--exact", "panicking_child", "--nocapture", "--ignored"]).env("CHILD_THREADS", threads);
        let output = child.output().expect("the test runs again");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("told to panic"), "{text}");
        assert!(text.contains("system `unlucky` panicked"), "{text}");
        assert!(!text.contains("`lucky` panicked"), "{text}");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn panicking_child() {
    fn unlucky(missing: Option<Res<Missing>>) {
        assert!(missing.is_some(), "told to panic");
    }
    fn lucky() {}
    let threads = std::env::var("CHILD_THREADS").map_or(1, |text| text.parse().expect("a number"));
    let mut app = App::new();
    app.configure(AppConfig {
        threads: Threads::N(threads),
        small_phase: std::time::Duration::ZERO,
        ..Default::default()
    });
    app.add_systems(Update, (lucky, unlucky));
    app.step(0.1);
}
