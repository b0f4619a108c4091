//! Systems on several threads: what overlaps, what waits, and what happens when one panics.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use phalanx::prelude::*;
use phalanx::schedule::{Schedule, SystemPanic};

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Pos {
    x: f32,
    y: f32,
}
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(u32);
#[derive(Resource, Default)]
struct Log(Vec<&'static str>);

fn app(threads: Threads) -> App {
    let mut app = App::new();
    app.configure(AppConfig { threads, small_phase: Duration::ZERO, ..Default::default() });
    app.init_resource::<Log>();
    app
}

fn panic_text(app: &mut App) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| app.step(0.1))).expect_err("a system panics");
    *panic.downcast::<String>().expect("a text")
}

const ALL: [Threads; 4] = [Threads::Serial, Threads::N(1), Threads::N(2), Threads::N(8)];

// Two systems that write different fields of one component do not conflict.
#[test]
fn systems_that_write_different_fields_run_at_the_same_time() {
    let meeting = Arc::new(Barrier::new(2));
    let (here, there) = (Arc::clone(&meeting), meeting);
    let mut app = app(Threads::N(2));
    let e = app.world_mut().spawn(Pos { x: 0.0, y: 0.0 }).id();
    // Each waits for the other: they get through only together.
    app.add_systems(Update, move |mut xs: Query<&mut pos::x>| {
        here.wait();
        xs.iter_mut().for_each(|x| *x = 1.0);
    });
    app.add_systems(Update, move |mut ys: Query<&mut pos::y>| {
        there.wait();
        ys.iter_mut().for_each(|y| *y = 2.0);
    });
    app.step(0.1);
    assert_eq!(app.world().get::<Pos>(e).map(|p| p.get()), Some(Pos { x: 1.0, y: 2.0 }));
}

#[test]
fn conflicting_systems_keep_their_insertion_order() {
    for threads in ALL {
        let mut app = app(threads);
        app.world_mut().spawn(Health(1));
        app.add_systems(Update, |mut q: Query<&mut Health>| q.iter_mut().for_each(|mut h| h.0 += 1));
        app.add_systems(Update, |mut q: Query<&mut Health>| q.iter_mut().for_each(|mut h| h.0 *= 10));
        app.add_systems(Update, |mut q: Query<&mut Health>| q.iter_mut().for_each(|mut h| h.0 += 3));
        app.step(0.1);
        assert_eq!(app.world().view::<&Health>().single(), Ok(&Health(23)));
    }
}

// Hazard 46.
#[test]
fn a_panic_comes_back_with_the_systems_name_and_the_world_stays_usable() {
    for threads in ALL {
        let mut app = app(threads);
        app.world_mut().spawn(Health(1));
        fn bad(time: Res<Time>, mut query: Query<&mut Health>) {
            query.iter_mut().for_each(|mut health| health.0 += 1);
            assert!(time.frame() > 1, "told to panic");
        }
        fn good(mut log: ResMut<Log>) {
            log.0.push("good");
        }
        app.add_systems(Update, (good, bad, good));
        let text = panic_text(&mut app);
        assert!(text.starts_with("system `bad` panicked: told to panic"), "{text}");
        // No flag is stuck, and the next frame runs everything.
        app.world_mut().resource_mut::<Log>().0.clear();
        app.step(0.1);
        assert_eq!(app.world().resource::<Log>().0, ["good", "good"]);
        assert_eq!(app.world().view::<&Health>().single(), Ok(&Health(3)));
        app.world().check().expect("the world is sound");
    }
}

#[test]
fn commands_of_finished_systems_are_applied_and_those_of_the_panicking_one_forgotten() {
    for threads in ALL {
        let mut app = app(threads);
        fn finishes(mut commands: Commands) {
            commands.spawn(Health(1));
        }
        fn panics(mut commands: Commands) {
            commands.spawn(Health(2));
            assert!(commands.spawn_empty().id().index() > 1000, "told to panic");
        }
        fn never_runs(mut commands: Commands) {
            commands.spawn(Health(3));
        }
        // Beside the chain, so that there is something to overlap, and threads are used.
        fn beside(_: Query<&Pos>) {}
        app.add_systems(Update, ((finishes, panics, never_runs).chain(), beside));
        panic_text(&mut app);
        let healths: Vec<u32> = app.world().view::<&Health>().into_iter().map(|h| h.0).collect();
        assert_eq!(healths, [1], "{threads:?}");
        // Ids that the panicking system was given are valid all the same: two entities without components.
        let bare = app.world().view_filtered::<Entity, Without<Health>>().count();
        assert_eq!((bare, app.world().entities().len()), (2, 3), "{threads:?}");
        app.world().check().expect("the world is sound");
    }
}

// The number of a run must not be mistaken for that of a run before the systems changed.
#[test]
fn commands_of_a_panicking_system_are_forgotten_after_systems_came_and_went() {
    for threads in ALL {
        let mut app = app(threads);
        fn panics(time: Res<Time>, mut commands: Commands) {
            commands.spawn(Health(7));
            assert!(time.frame() < 3, "told to panic");
        }
        fn beside(_: Query<&Pos>) {}
        app.add_systems(Update, (panics, beside));
        (0..2).for_each(|_| app.step(0.1));
        for _ in 0..4 {
            let id = app.add_system(Update, beside);
            panic_text(&mut app);
            app.remove_system(id).expect("it is there");
            (0..2).for_each(|_| drop(panic_text(&mut app)));
            assert_eq!(app.world().view::<&Health>().count(), 2, "{threads:?}");
        }
    }
}

// Of several panics, that of the first system in the order is passed on.
#[test]
fn the_first_panic_in_the_order_of_the_schedule_is_reported() {
    let meeting = Arc::new(Barrier::new(2));
    let mut app = app(Threads::N(2));
    for name in ["one", "two"] {
        let meeting = Arc::clone(&meeting);
        let panics = move |healths: Query<&Health>| {
            // Both are under way before either panics.
            meeting.wait();
            assert!(healths.count() > 0, "told to panic");
        };
        app.add_systems(Update, panics.named(name));
    }
    for _ in 0..20 {
        assert_eq!(panic_text(&mut app), "system `one` panicked: told to panic");
    }
}

#[test]
fn a_panic_that_is_no_text_keeps_what_it_carries() {
    let mut app = app(Threads::Serial);
    app.add_systems(
        Update,
        (|mut log: ResMut<Log>| {
            log.0.push("ran");
            if log.0.len() == 1 {
                std::panic::panic_any(42u8);
            }
        })
        .named("thrower"),
    );
    let panic = catch_unwind(AssertUnwindSafe(|| app.step(0.1))).expect_err("it panics");
    let panic = panic.downcast::<SystemPanic>().expect("its own type");
    assert_eq!((panic.system.as_str(), panic.payload.downcast_ref::<u8>()), ("thrower", Some(&42)));
}

#[test]
fn an_exclusive_system_that_panics_is_named_too() {
    let mut app = app(Threads::N(2));
    fn exclusive(world: &mut World) {
        world.spawn(Health(1));
        assert!(world.entities().len() > 1, "told to panic");
    }
    app.add_systems(Update, exclusive);
    assert!(panic_text(&mut app).starts_with("system `exclusive` panicked"));
    app.step(0.1);
    assert_eq!(app.world().entities().len(), 2);
}

#[test]
fn a_condition_that_panics_is_reported_under_its_system() {
    let mut app = app(Threads::Serial);
    fn idle() {}
    app.add_systems(Update, idle.run_if(|log: Res<Log>| log.0.len().checked_sub(1).expect("told to") > 0));
    assert!(panic_text(&mut app).starts_with("system `idle` panicked"));
}

// Hazard 47.
#[test]
fn a_schedule_run_inside_a_system_does_not_deadlock() {
    for threads in ALL {
        let mut app = app(threads);
        app.world_mut().spawn(Pos { x: 0.0, y: 0.0 });
        let mut inner = Schedule::default();
        inner.set_threads(threads);
        fn x(mut q: Query<&mut pos::x>) {
            q.par_iter_mut().small_below(0).for_each(|x| *x += 1.0);
        }
        fn y(mut q: Query<&mut pos::y>) {
            q.par_iter_mut().small_below(0).for_each(|y| *y += 1.0);
        }
        inner.add_systems((x, y));
        app.add_systems(Update, move |world: &mut World| (0..3).for_each(|_| inner.run(world)));
        app.add_systems(Update, (x, y));
        app.step(0.1);
        let pos = app.world().view::<&Pos>().single().map(|p| p.get());
        assert_eq!(pos, Ok(Pos { x: 4.0, y: 4.0 }));
    }
}

// Hazard 48.
#[test]
fn more_systems_than_threads_each_with_parallel_work_do_not_deadlock() {
    #[derive(Component, Clone, Copy)]
    struct N<const I: usize>(u32);
    fn work<const I: usize>(mut query: Query<&mut N<I>>) {
        query.par_iter_mut().small_below(0).for_each(|mut n| n.0 += 1);
    }
    for threads in ALL {
        let mut app = app(threads);
        app.world_mut()
            .spawn_batch((0..5000).map(|_| (N::<0>(0), N::<1>(0), N::<2>(0), N::<3>(0), N::<4>(0))));
        app.add_systems(Update, (work::<0>, work::<1>, work::<2>, work::<3>, work::<4>));
        (0..10).for_each(|_| app.step(0.1));
        assert!(app.world().view::<(&N<0>, &N<4>)>().into_iter().all(|(a, b)| a.0 == 10 && b.0 == 10));
    }
}

// Hazard 49: exclusive systems run on the thread that runs the app.
#[test]
fn exclusive_systems_stay_on_the_calling_thread() {
    let threads = Arc::new(Mutex::new(Vec::new()));
    let mut app = app(Threads::N(4));
    for _ in 0..3 {
        let threads = Arc::clone(&threads);
        app.add_systems(Update, move |_: &mut World| {
            threads.lock().expect("not poisoned").push(std::thread::current().id());
        });
        app.add_systems(Update, |_: Query<&Health>| {});
    }
    app.step(0.1);
    assert!(threads.lock().expect("not poisoned").iter().all(|id| *id == std::thread::current().id()));
}

// Starting threads would cost more than the systems do.
#[test]
fn a_phase_of_a_hundred_empty_systems_stays_on_the_calling_thread() {
    static ELSEWHERE: AtomicUsize = AtomicUsize::new(0);
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let caller = std::thread::current().id();
    let mut app = App::new();
    app.configure(AppConfig {
        threads: Threads::N(4),
        // What is small does not depend on the machine that runs the test.
        small_phase: Duration::from_secs(1),
        ..Default::default()
    });
    for _ in 0..100 {
        app.add_systems(Update, move || {
            RUNS.fetch_add(1, Ordering::Relaxed);
            ELSEWHERE.fetch_add(usize::from(std::thread::current().id() != caller), Ordering::Relaxed);
        });
    }
    (0..100).for_each(|_| app.step(0.1));
    assert_eq!((RUNS.load(Ordering::Relaxed), ELSEWHERE.load(Ordering::Relaxed)), (10_000, 0));
}

// Hazard 51: systems see archetypes and components that came since they last ran.
#[test]
fn systems_notice_new_archetypes_and_late_registered_components() {
    #[derive(Component)]
    struct Late;
    let mut app = app(Threads::N(2));
    #[derive(Resource, Default)]
    struct Seen(Vec<usize>);
    app.init_resource::<Seen>();
    app.add_systems(Update, |late: Query<&Late>, mut seen: ResMut<Seen>| seen.0.push(late.count()));
    app.step(0.1);
    app.world_mut().spawn(Late);
    app.step(0.1);
    app.world_mut().spawn((Late, Health(1)));
    app.step(0.1);
    app.world_mut().clear_entities();
    app.world_mut().drop_empty_archetypes();
    app.step(0.1);
    app.world_mut().spawn((Late, Health(1)));
    app.step(0.1);
    assert_eq!(app.world().resource::<Seen>().0, [0, 1, 2, 0, 1]);
}

// Hazard 53: no false and no missed change; ticks have 64 bits, so there is no wrap to start near.
#[test]
fn changes_are_seen_once_and_none_is_missed() {
    #[derive(Component)]
    #[component(track = "row")]
    struct Tracked(u32);
    #[derive(Resource, Default)]
    struct Seen(Vec<usize>);
    let mut app = app(Threads::Serial);
    app.init_resource::<Seen>();
    app.world_mut().spawn_batch((0..4).map(Tracked));
    app.add_systems(Update, |q: Query<(), Changed<Tracked>>, mut seen: ResMut<Seen>| seen.0.push(q.count()));
    app.add_systems(Update, |time: Res<Time>, mut q: Query<&mut Tracked>| {
        for mut tracked in q.iter_mut().take(usize::try_from(time.frame()).expect("few")) {
            tracked.0 += 1;
        }
    });
    (0..4).for_each(|_| app.step(0.1));
    // The first look sees what was spawned, each later one what the frame before changed.
    assert_eq!(app.world().resource::<Seen>().0, [4, 1, 2, 3]);
}
