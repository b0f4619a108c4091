//! Apps that are taken back and run again, their history, and runs that should be equal.

use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;
use phalanx::world::RestoreError;

#[derive(Component, Clone, Debug)]
#[component(track = "row")]
struct Health(f32);

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse")]
struct Burning(u32);

#[derive(Resource, Clone, Default, Debug)]
struct Score {
    hits: u32,
    changed: usize,
    once: u32,
}

#[derive(Message, Clone, Debug)]
struct Hit(Entity, f32);

fn spawn(mut commands: Commands, mut seed: Local<u64>) {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    let health = commands.spawn(Health((*seed >> 60) as f32 + 1.0)).id();
    if *seed >> 63 == 0 {
        commands.entity(health).insert(Burning((*seed >> 61) as u32));
    }
}

fn hit(all: Query<Entity, With<Burning>>, mut hits: MessageWriter<Hit>) {
    hits.write_batch(all.iter().map(|entity| Hit(entity, 1.0)));
}

fn suffer(mut hits: MessageReader<Hit>, mut all: Query<&mut Health>, mut score: ResMut<Score>) {
    for hit in hits.read() {
        if let Ok(mut health) = all.get_mut(hit.0) {
            health.0 -= hit.1;
            score.hits += 1;
        }
    }
}

fn die(mut commands: Commands, all: Query<(Entity, &Health)>) {
    for (entity, health) in &all {
        if health.0 <= 0.0 {
            commands.entity(entity).despawn();
        }
    }
}

fn count_changed(all: Query<Entity, Changed<Health>>, mut score: ResMut<Score>) {
    score.changed += all.iter().count();
}

fn once(mut score: ResMut<Score>) {
    score.once += 1;
}

/// What conditions keep is restored, too: also of those that may fail.
fn first(mut asked: Local<bool>) -> Result<bool, std::fmt::Error> {
    Ok(!std::mem::replace(&mut *asked, true))
}

fn game() -> App {
    let mut app = App::new();
    app.init_resource::<Score>();
    app.add_systems(Update, (spawn, hit, suffer, die, count_changed).chain());
    app.add_systems(PostUpdate, once.run_if(run_once).run_if(first));
    app
}

#[test]
fn running_on_from_a_checkpoint_gives_the_same_bit_for_bit() {
    let mut app = game();
    let start = app.checkpoint();
    let mut digests = Vec::new();
    let mut middle = None;
    for frame in 0..60 {
        if frame == 30 {
            middle = Some(app.checkpoint());
        }
        app.step(0.02);
        digests.push(app.world().digest());
    }
    let middle = middle.expect("frame 30 was reached");
    assert!(app.world().resource::<Score>().hits > 10);
    for _ in 0..2 {
        app.restore(&middle).expect("of this app");
        for (frame, digest) in digests.iter().enumerate().skip(30) {
            app.step(0.02);
            assert_eq!(app.world().digest(), *digest, "frame {frame}");
        }
        app.restore(&start).expect("of this app");
        for (frame, digest) in digests.iter().enumerate() {
            app.step(0.02);
            assert_eq!(app.world().digest(), *digest, "frame {frame}");
        }
    }
    assert_eq!(app.world().resource::<Score>().once, 1);
    app.world().check().expect("whole");
}

#[test]
fn a_history_goes_back_frame_by_frame_and_branches() {
    let mut app = game();
    app.keep_history(10);
    let mut digests = Vec::new();
    for _ in 0..40 {
        app.step(0.02);
        digests.push(app.world().digest());
    }
    assert_eq!(app.history_len(), 10);
    assert_eq!(app.rewind(11), Err(RestoreError::NotKept { kept: 10 }));
    app.rewind(0).expect("the present");
    assert_eq!(app.world().digest(), digests[39]);
    app.rewind(4).expect("kept");
    assert_eq!((app.world().digest(), app.history_len()), (digests[35], 6));
    app.step(0.02);
    assert_eq!((app.world().digest(), app.history_len()), (digests[36], 7));
    app.rewind(7).expect("kept");
    assert_eq!(app.world().digest(), digests[29]);
    app.world_mut().resource_mut::<Score>().hits += 1000;
    app.step(0.02);
    assert_ne!(app.world().digest(), digests[30], "another branch");
    app.keep_history(0);
    assert_eq!((app.history_len(), app.rewind(0)), (0, Err(RestoreError::NotKept { kept: 0 })));
}

#[test]
fn a_history_stays_within_its_budget() {
    let mut app = App::new();
    app.world_mut().spawn_batch((0..4096u16).map(|n| Health(f32::from(n)))).for_each(|_| ());
    app.add_systems(Update, |mut all: Query<&mut Health>| {
        all.iter_mut().for_each(|mut health| health.0 += 1.0);
    });
    let frame = 4096 * 4;
    app.keep_history_within(100, 40 * frame);
    for _ in 0..60 {
        app.step(0.02);
        assert!(app.history_bytes() <= 40 * frame);
    }
    let kept = app.history_len();
    assert!(kept > 3 && kept < 40, "{kept} frames are kept");
    app.rewind(kept).expect("all of them can be had");
}

#[test]
fn a_checkpoint_does_not_fit_other_systems() {
    let mut app = game();
    let checkpoint = app.checkpoint();
    app.add_systems(Update, hit);
    assert_eq!(app.restore(&checkpoint), Err(RestoreError::OtherSystems));
}

// Hazard 85, for what systems keep.
#[test]
fn a_local_that_cannot_be_copied_is_named_until_its_type_is_registered() {
    #[derive(Default, Clone)]
    struct Own(u32);
    fn keeps(mut own: Local<Own>, mut score: ResMut<Score>) {
        own.0 += 1;
        score.hits = own.0;
    }
    let mut app = App::new();
    app.init_resource::<Score>();
    app.add_systems(Update, keeps);
    app.step(0.1);
    let error = app.try_checkpoint().expect_err("the type of the local is not known");
    assert!(error.to_string().contains("Own"), "{error}");
    app.register_checkpoint_of_local::<Own>();
    let checkpoint = app.checkpoint();
    app.step(0.1);
    app.step(0.1);
    app.restore(&checkpoint).expect("of this app");
    app.step(0.1);
    assert_eq!(app.world().resource::<Score>().hits, 2);
}

#[test]
fn a_system_that_depends_on_something_else_is_named_with_the_field() {
    let mut app = game();
    assert_eq!(app.check_determinism(10, 0.02), Ok(()));
    static OUTSIDE: AtomicU32 = AtomicU32::new(0);
    fn careless(mut all: Query<&mut Health>) {
        let noise = OUTSIDE.fetch_add(1, Ordering::Relaxed);
        if let Some(mut health) = all.iter_mut().last() {
            health.0 += noise as f32;
        }
    }
    app.add_systems(Update, careless.after(die).before(count_changed));
    let found = app.check_determinism(10, 0.02).expect_err("a counter outside the world");
    assert!(found.system.contains("careless"), "{found}");
    let difference = found.difference.clone().expect("it differs in every run");
    assert!(difference.part.contains("Health") && difference.field == "0", "{found}");
    assert!(found.to_string().contains("careless"));
}

// A state is a resource like others: two programs that are in different states are not equal.
#[test]
fn a_state_is_part_of_the_digest_and_a_difference_names_it() {
    #[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }
    #[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[source(Screen = Screen::Game)]
    struct Turn(u32);
    let app = |screen: Screen, turn: Option<u32>, next: Option<Screen>| {
        let mut app = App::new();
        app.insert_state(screen).add_sub_state::<Turn>();
        app.step(0.1);
        let world = app.world_mut();
        if let Some(turn) = turn {
            world.insert_resource(State::new(Turn(turn)));
        }
        if let Some(next) = next {
            world.resource_mut::<NextState<Screen>>().set(next);
        }
        // What is read and cleared on the way is not what this is about.
        world.clear_entities();
        app
    };
    let game = app(Screen::Game, None, None);
    let others = [
        (app(Screen::Menu, None, None), "State<"),
        (app(Screen::Game, Some(1), None), "State<"),
        (app(Screen::Game, None, Some(Screen::Menu)), "NextState<"),
    ];
    assert_eq!(game.world().digest(), app(Screen::Game, None, None).world().digest());
    for (other, named) in &others {
        assert_ne!(game.world().digest(), other.world().digest(), "{named}");
        let difference = game.world().first_difference(other.world()).expect("they differ");
        assert!(difference.to_string().contains(named), "{difference}");
    }
}

#[test]
fn states_are_restored_and_change_again() {
    #[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }
    let mut app = App::new();
    app.init_resource::<Score>();
    app.init_state::<Screen>();
    app.add_systems(OnEnter(Screen::Game), |mut score: ResMut<Score>| score.hits += 1);
    app.step(0.1);
    let menu = app.checkpoint();
    let enter = |app: &mut App| {
        app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Game);
        app.step(0.1);
        (app.world().resource::<Score>().hits, *app.world().resource::<State<Screen>>().get())
    };
    assert_eq!(enter(&mut app), (1, Screen::Game));
    app.restore(&menu).expect("of this app");
    assert_eq!(*app.world().resource::<State<Screen>>().get(), Screen::Menu);
    assert_eq!(enter(&mut app), (1, Screen::Game));
}

#[derive(Component)]
struct Raw(std::sync::Mutex<u32>);

#[derive(Default)]
struct Odd;

#[test]
fn what_cannot_be_captured_is_named_before_the_first_frame_of_a_history() {
    static RAN: AtomicU32 = AtomicU32::new(0);
    let app = || {
        let mut app = App::new();
        app.add_systems(Startup, || {
            RAN.fetch_add(1, Ordering::Relaxed);
        });
        app.world_mut().register_component::<Raw>();
        app.add_systems(Update, |_: Local<Odd>| ());
        app
    };
    let mut app = app();
    app.keep_history(5);
    let error = app.try_step(0.1).unwrap_err().to_string();
    assert!(error.contains("Raw") && error.contains("Odd"), "{error}");
    assert_eq!(RAN.load(Ordering::Relaxed), 0, "nothing has run");
    // Without a history nothing has to be copied; asking for one later is refused at once.
    app.keep_history(0);
    app.step(0.1);
    let late = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        app.keep_history(5);
    }));
    assert!(late.is_err() && app.history_len() == 0);
    app.step(0.1);
}

#[test]
fn systems_keep_their_own_values_though_schedules_of_the_world_run_in_another_order() {
    #[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
    struct Turn(u32);
    #[derive(Resource, Clone, Default, Debug, Digestible)]
    struct Log(Vec<u32>);

    /// Counts its runs, from a number of its own.
    fn counting(first: u32) -> impl FnMut(Local<u32>, ResMut<Log>) + Clone {
        move |mut runs, mut log| {
            *runs += 1;
            log.0.push(first + *runs);
        }
    }
    let mut app = App::new();
    app.init_resource::<Log>();
    let mut random = 1_u32;
    app.add_systems(Update, move |world: &mut World| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        world.run_schedule(Turn(random >> 30));
    });
    for turn in 0..4 {
        app.add_systems(Turn(turn), counting(100 * turn));
    }
    app.keep_history(20);
    let labels = |app: &mut App| {
        let mut schedules = app.world_mut().resource_mut::<Schedules>();
        schedules.iter().map(|(label, _)| label.to_string()).collect::<Vec<_>>()
    };
    let before = labels(&mut app);
    (0..8).for_each(|_| app.step(0.02));
    app.rewind(5).expect("kept");
    let ran = app.world().resource::<Log>().0.clone();
    (0..4).for_each(|turn| app.world_mut().run_schedule(Turn(turn)));
    let count = |turn: u32| ran.iter().filter(|&&entry| entry / 100 == turn).map(|_| 1).sum::<u32>();
    let next: Vec<u32> = (0..4).map(|turn| 100 * turn + count(turn) + 1).collect();
    assert_eq!(app.world().resource::<Log>().0[ran.len()..], next);
    assert_eq!(labels(&mut app), before, "schedules stand in the order in which they were added");
}

#[test]
fn an_app_with_states_goes_back_to_before_its_first_frame() {
    #[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Digestible)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Digestible)]
    struct InMenu;
    impl ComputedStates for InMenu {
        type SourceStates = Screen;
        fn compute(screen: Screen) -> Option<Self> {
            (screen == Screen::Menu).then_some(Self)
        }
    }
    let mut app = game();
    app.init_state::<Screen>().add_computed_state::<InMenu>();
    app.add_systems(OnExit(InMenu), once);
    app.add_systems(OnEnter(Screen::Game), once);
    app.add_systems(Update, |mut next: ResMut<NextState<Screen>>| next.set(Screen::Game));
    let start = app.checkpoint();
    let run = |app: &mut App| {
        let frames = (0..6).map(|_| {
            app.step(0.02);
            (app.world().digest(), app.world().resource::<Score>().once)
        });
        frames.collect::<Vec<_>>()
    };
    let first = run(&mut app);
    assert_eq!(first[5].1, 7);
    app.restore(&start).expect("all systems were there");
    assert_eq!(run(&mut app), first);
}
