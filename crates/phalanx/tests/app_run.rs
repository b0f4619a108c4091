//! Running an app to its end: runners, exits, and the phases around those that all apps use.
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use phalanx::prelude::*;

#[cfg(feature = "ctrl_c")]
#[path = "bevy_idioms/ctrl_c.rs"]
mod bevy_ctrl_c;

#[derive(Resource, Default)]
struct Frames(u32);

/// Counts frames, and ends the app after some.
fn end_after(last: u32) -> impl FnMut(ResMut<Frames>, MessageWriter<AppExit>) {
    move |mut frames, mut exit| {
        frames.0 += 1;
        if frames.0 == last {
            exit.write(AppExit::Success);
        }
    }
}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Frames>();
    app
}

/// Counts how often it is dropped.
struct Guard(Arc<AtomicU32>);
impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_app_without_a_runner_runs_one_frame() {
    let seen = Arc::new(AtomicU32::new(0));
    let (frames, dropped) = (Arc::clone(&seen), Arc::new(AtomicU32::new(0)));
    let guard = Guard(Arc::clone(&dropped));
    let mut app = app();
    app.add_systems(Update, move || {
        let _ = &guard;
        frames.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(app.run(), AppExit::Success);
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    assert_eq!(dropped.load(Ordering::Relaxed), 1, "the app ends with its run");
    assert!(app.world().get_resource::<Frames>().is_none(), "what is left is an empty app");
}

#[test]
fn a_loop_ends_after_the_frame_in_which_an_exit_is_written() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (update, last) = (Arc::clone(&log), Arc::clone(&log));
    let push = |log: &Mutex<Vec<&'static str>>, entry| log.lock().expect("not poisoned").push(entry);
    let mut app = app();
    app.add_plugins(ScheduleRunnerPlugin::default());
    app.add_systems(Update, end_after(3));
    app.add_systems(Update, move || push(&update, "update"));
    app.add_systems(Last, move || push(&last, "last"));
    assert!(app.run().is_success());
    assert_eq!(*log.lock().expect("not poisoned"), ["update", "last"].repeat(3));
}

/// Set for the child process that is to run on one CPU.
const ON_ONE_CPU: &str = "PHALANX_ON_ONE_CPU";

/// What must not wait for a CPU that is not there: systems on threads, parallel queries, a loop with a wait, and another
/// thread that waits for answers.
fn run_with_threads() {
    #[derive(Component)]
    struct Number(u64);
    for threads in [Threads::Auto, Threads::N(4)] {
        let mut app = app();
        app.configure(AppConfig { threads, small_phase: Duration::ZERO, ..Default::default() });
        app.add_plugins(ScheduleRunnerPlugin::run_loop(Duration::from_millis(1)));
        app.world_mut().spawn_batch((0..5_000).map(Number));
        app.add_systems(Update, |mut all: Query<&mut Number>| all.par_iter_mut().for_each(|mut n| n.0 += 1));
        app.add_systems(Update, (|| (), || (), || ()));
        app.add_systems(Update, end_after(20));
        let remote = app.world_mut().remote();
        let sender = std::thread::spawn(move || {
            while let Ok(answer) = remote.run(|world| world.entities().len()) {
                if answer.wait().is_err() {
                    break;
                }
            }
        });
        assert!(app.run().is_success());
        sender.join().expect("the world is gone, and its handle says so");
    }
}

// Hazard: a runner on one CPU.
#[test]
fn an_app_on_one_cpu_comes_to_its_end() {
    if std::env::var_os(ON_ONE_CPU).is_some() {
        return run_with_threads();
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = allowed.and_then(|list| list.trim().split([',', '-']).next()).unwrap_or("0");
    let child = std::process::Command::new("taskset")
        .args(["-c", first])
        .arg(std::env::current_exe().expect("a test has a program"))
        .args(["--exact", "an_app_on_one_cpu_comes_to_its_end", "--nocapture"])
        .env(ON_ONE_CPU, "1")
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: there is no `taskset` to keep a process on one CPU");
        return;
    };
    for _ in 0..6_000 {
        if let Some(status) = child.try_wait().expect("it was started") {
            assert!(status.success(), "{status}");
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    panic!("the app does not come to its end");
}

#[test]
fn a_loop_with_a_wait_begins_no_frame_too_early() {
    let begins = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&begins);
    let wait = Duration::from_millis(3);
    let mut app = app();
    app.add_plugins(ScheduleRunnerPlugin::run_loop(wait));
    app.add_systems(Update, (move || noted.lock().expect("not poisoned").push(Instant::now()), end_after(4)));
    app.run();
    let begins = begins.lock().expect("not poisoned");
    let total = begins[3] - begins[0];
    // The first moment of a frame is a little after it began: not each gap, but their sum is long enough.
    assert!(begins.len() == 4 && total + wait / 2 >= wait * 3, "{total:?}");
}

#[test]
fn once_means_one_frame() {
    let mut app = app();
    app.add_plugins(ScheduleRunnerPlugin::run_once());
    app.add_systems(Update, |mut exit: MessageWriter<AppExit>| {
        exit.write(AppExit::from_code(7));
    });
    assert_eq!(app.run(), AppExit::from(7));
}

#[test]
fn an_error_counts_more_than_a_success() {
    let mut app = app();
    assert_eq!(app.should_exit(), None);
    app.world_mut().write_message(AppExit::Success);
    assert_eq!(app.should_exit(), Some(AppExit::Success));
    app.world_mut().write_message(AppExit::error());
    assert_eq!(app.should_exit(), Some(AppExit::error()));
    assert!(AppExit::error().is_error() && AppExit::from_code(0).is_success());
}

#[test]
fn a_runner_of_ones_own_gets_the_app() {
    let mut app = app();
    app.add_systems(Update, |mut frames: ResMut<Frames>| frames.0 += 1);
    app.set_runner(|_| unreachable!("the last one counts"));
    app.set_runner(|mut app| {
        (0..5).for_each(|_| app.step(0.1));
        AppExit::from_code(u8::try_from(app.world().resource::<Frames>().0).expect("few frames"))
    });
    assert_eq!(app.run(), AppExit::from_code(5));
}

#[test]
fn run_inside_a_plugin_is_refused_by_name() {
    struct Impatient;
    impl Plugin for Impatient {
        fn build(&self, app: &mut App) {
            app.run();
        }
        fn name(&self) -> &str {
            "Impatient"
        }
    }
    let mut app = app();
    let refused = catch_unwind(AssertUnwindSafe(|| {
        app.add_plugins(Impatient);
    }));
    let panic = refused.expect_err("it is refused");
    let text = panic.downcast::<String>().expect("with text");
    assert!(text.contains("plugin `Impatient`") && text.contains("run the app then"), "{text}");
}

#[test]
fn a_panic_in_a_frame_leaves_run() {
    let mut app = app();
    app.add_plugins(ScheduleRunnerPlugin::default());
    app.add_systems(Update, || panic!("told to panic"));
    assert!(catch_unwind(AssertUnwindSafe(|| app.run())).is_err());
}

// One CPU: what a loop with a wait does between frames does not keep others from running.
#[test]
fn a_runner_leaves_time_for_other_threads() {
    let stop = Arc::new(AtomicU32::new(0));
    let told = Arc::clone(&stop);
    let mut app = app();
    app.configure(AppConfig { threads: Threads::N(1), ..AppConfig::default() });
    app.add_plugins(ScheduleRunnerPlugin::run_loop(Duration::from_millis(1)));
    app.add_systems(Update, move |mut exit: MessageWriter<AppExit>| {
        if told.load(Ordering::Acquire) > 0 {
            exit.write(AppExit::Success);
        }
    });
    let other = std::thread::spawn(move || stop.store(1, Ordering::Release));
    assert!(app.run().is_success());
    other.join().expect("it does not panic");
}

#[test]
fn first_comes_before_fixed_steps_and_last_after_all() {
    #[derive(Resource, Default)]
    struct Log(Vec<&'static str>);
    fn say(entry: &'static str) -> impl FnMut(ResMut<Log>) {
        move |mut log| log.0.push(entry)
    }
    let mut app = App::new();
    app.init_resource::<Log>();
    app.add_systems(Last, say("last"))
        .add_systems(PostUpdate, say("post"))
        .add_systems(Update, say("update"));
    app.add_systems(PreUpdate, say("pre")).add_systems(First, say("first"));
    app.add_systems(FixedLast, say("fixed last")).add_systems(FixedPostUpdate, say("fixed post"));
    app.add_systems(FixedUpdate, say("fixed")).add_systems(FixedPreUpdate, say("fixed pre"));
    app.add_systems(FixedFirst, say("fixed first"));
    app.step(1.0 / 60.0);
    let fixed = ["fixed first", "fixed pre", "fixed", "fixed post", "fixed last"];
    let expected = [&["first"], &fixed[..], &["pre", "update", "post", "last"]].concat();
    assert_eq!(app.world().resource::<Log>().0, expected);
}

/// Ctrl-C as a shell sends it, to a process of its own.
#[cfg(all(unix, feature = "ctrl_c"))]
mod interrupted {
    use super::*;
    use phalanx::app::TerminalCtrlCHandlerPlugin;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    const CHILD: &str = "PHALANX_TEST_INTERRUPTED";

    #[test]
    fn ctrl_c_ends_the_app_after_its_frame() {
        if std::env::var_os(CHILD).is_some() {
            return run_until_interrupted();
        }
        if interrupts_are_ignored() {
            println!(
                "not tested: the tests were started with SIGINT ignored, as `nohup` and background jobs of scripts do"
            );
            return;
        }
        let own = std::env::current_exe().expect("the test has a file");
        let mut child = Command::new(own)
            .args(["interrupted::ctrl_c_ends_the_app_after_its_frame", "--exact", "--nocapture"])
            .env(CHILD, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test starts again");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut next = |wanted: &str| {
            let line = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(wanted)));
            line.is_some()
        };
        assert!(next("frames run"));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.expect("kill is there").success());
        assert!(next("dropped"), "the world is dropped as usual");
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
    }

    /// Whether this process inherited that SIGINT is ignored. A handler does not change that, and a child inherits it.
    fn interrupts_are_ignored() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
        ignored.is_some_and(|bits| bits & 0b10 != 0)
    }

    fn run_until_interrupted() {
        struct Tells;
        impl Drop for Tells {
            fn drop(&mut self) {
                println!("dropped");
            }
        }
        #[derive(Resource)]
        struct Kept(#[allow(dead_code, reason = "it is dropped")] Tells);
        let mut app = App::new();
        app.add_plugins((
            ScheduleRunnerPlugin::run_loop(Duration::from_millis(1)),
            TerminalCtrlCHandlerPlugin,
        ));
        app.insert_resource(Kept(Tells)).add_systems(Startup, || println!("frames run"));
        let AppExit::Error(code) = app.run() else { panic!("it was interrupted") };
        std::process::exit(i32::from(code.get()));
    }
}
