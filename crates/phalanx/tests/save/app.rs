//! Apps: clocks and states are saved, loaded without being announced, and refused when they make no sense.

use phalanx::prelude::*;
use phalanx::save::{SaveFilter, SaveRegistry};
use phalanx::state::{ComputedStates, StateSaving};
use serde::{Deserialize, Serialize};

use super::cast::{from_json, from_postcard, from_ron, to_json, to_postcard, to_ron};

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[states(save, name = "game.Screen")]
enum Screen {
    #[default]
    Menu,
    Level(u32),
}

#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[states(save)]
#[source(Screen = Screen::Level(_))]
enum Turn {
    #[default]
    Mine,
    Theirs,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct InGame;

impl ComputedStates for InGame {
    type SourceStates = Screen;

    fn compute(screen: Screen) -> Option<Self> {
        matches!(screen, Screen::Level(_)).then_some(Self)
    }
    fn saving() -> Option<StateSaving> {
        Some(StateSaving::computed::<Self>(|| "game.InGame".into(), 1))
    }
}

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Unsaved {
    #[default]
    Only,
}

#[derive(Resource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[resource(save, name = "game.Log")]
struct Log(Vec<String>);

fn types() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types.register::<Screen>().register::<Turn>().register_computed::<InGame>().register::<Log>();
    types
}

fn game() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app.init_state::<Screen>().add_sub_state::<Turn>().add_computed_state::<InGame>();
    app.add_systems(OnEnter(Screen::Menu), |mut log: ResMut<Log>| log.0.push("menu".into()));
    app.add_systems(OnEnter(Screen::Level(3)), |mut log: ResMut<Log>| log.0.push("level".into()));
    app.add_systems(OnEnter(InGame), |mut log: ResMut<Log>| log.0.push("in game".into()));
    app.add_systems(OnExit(Screen::Level(3)), |mut log: ResMut<Log>| log.0.push("left".into()));
    app.add_systems(FixedUpdate, |mut log: ResMut<Log>, time: Res<Time>| {
        log.0.push(format!("step {:?} {}", time.elapsed(), time.frame()));
    });
    app
}

fn played() -> App {
    let mut app = game();
    app.world_mut().resource_mut::<Time<Fixed>>().set_timestep_seconds(0.02);
    app.world_mut().resource_mut::<Time<Virtual>>().set_relative_speed(0.5);
    app.step(0.1);
    app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Level(3));
    app.step(0.05);
    app.world_mut().resource_mut::<NextState<Turn>>().set(Turn::Theirs);
    app.step(0.05);
    app.world_mut().resource_mut::<NextState<Screen>>().set_if_different(Screen::Menu);
    app
}

#[test]
fn clocks_and_states_are_the_same_in_every_form() {
    let app = played();
    let report = app.world().save_report(&SaveFilter::new());
    assert!(
        report.resources_left_out.iter().all(|name| !name.contains("Time") && !name.contains("State<")),
        "{report}"
    );
    let (saved, types) = (app.world(), types());
    let worlds = [
        from_postcard(&to_postcard(saved), &types),
        from_json(&to_json(saved), &types),
        from_ron(&to_ron(saved), &types),
    ];
    for world in worlds {
        let world = world.expect("what was saved can be loaded");
        assert_eq!(world.resource::<Time>(), saved.resource::<Time>());
        // The instants of the real clock are those of a process; the times are saved.
        let real = |world: &World| world.resource::<Time<Real>>().as_generic();
        assert_eq!(real(&world), real(saved));
        assert_eq!(world.resource::<Time<Virtual>>(), saved.resource::<Time<Virtual>>());
        assert_eq!(world.resource::<Time<Fixed>>(), saved.resource::<Time<Fixed>>());
        assert_eq!(world.resource::<State<Screen>>(), &Screen::Level(3));
        assert_eq!(world.resource::<NextState<Screen>>(), &NextState::PendingIfDifferent(Screen::Menu));
        assert_eq!(world.resource::<PreviousState<Screen>>().get(), &Screen::Menu);
        assert_eq!(world.resource::<State<Turn>>(), &Turn::Theirs);
        assert_eq!(world.resource::<State<InGame>>(), &InGame);
    }
}

#[test]
fn an_app_goes_on_from_its_save_as_it_would_have() {
    let mut first = played();
    // Start-up changes states as well: what is set before it is not waited for until the next frame.
    first.world_mut().resource_mut::<NextState<Screen>>().reset();
    let path = std::env::temp_dir().join(format!("phalanx-save-app-{}", std::process::id()));
    first.world().write_file(&path).expect("written");
    let mut second = game();
    let filled = second.world_mut().fill_from_file(&path, &types());
    let _ = std::fs::remove_file(&path);
    filled.expect("an app has no entities yet");
    let so_far = first.world().resource::<Log>().0.len();
    for round in 0..4 {
        if round == 1 {
            first.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Menu);
            second.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Menu);
        }
        first.step(0.07);
        second.step(0.07);
        assert_eq!(second.world().resource::<Log>(), first.world().resource::<Log>());
        assert_eq!(second.world().resource::<Time>(), first.world().resource::<Time>());
        assert_eq!(second.world().resource::<State<Screen>>(), first.world().resource::<State<Screen>>());
        assert_eq!(second.world().contains_resource::<State<Turn>>(), round == 0);
        assert_eq!(second.world().contains_resource::<State<InGame>>(), round == 0);
    }
    let since = &first.world().resource::<Log>().0[so_far..];
    assert!(since.contains(&"left".to_owned()) && since.contains(&"menu".to_owned()), "{since:?}");
}

#[test]
fn loading_a_state_runs_neither_on_enter_nor_on_exit() {
    let mut saved = game();
    saved.insert_state(Screen::Level(3));
    saved.step(0.001);
    let path = std::env::temp_dir().join(format!("phalanx-save-enter-{}", std::process::id()));
    saved.world().write_file(&path).expect("written");
    let before = saved.world().resource::<Log>().clone();
    assert!(before.0.contains(&"level".to_owned()));
    let mut app = game();
    let filled = app.world_mut().fill_from_file(&path, &types());
    let _ = std::fs::remove_file(&path);
    filled.expect("an app has no entities yet");
    app.step(0.001);
    assert_eq!(app.world().resource::<Log>(), &before, "neither the menu nor the level is entered");
    assert_eq!(app.world().resource::<State<Screen>>(), &Screen::Level(3));
}

#[test]
fn states_that_are_not_saved_are_named() {
    let mut app = App::new();
    app.init_state::<Unsaved>();
    let report = app.world().save_report(&SaveFilter::new());
    assert!(report.resources_left_out.iter().any(|name| name.contains("State<")), "{report}");
}

#[test]
fn an_app_whose_state_is_saved_is_saved_completely() {
    let mut app = App::new();
    app.insert_state(Screen::Level(1)).add_systems(OnEnter(Screen::Menu), || ());
    (0..3).for_each(|_| app.step(0.1));
    let report = app.world().save_report(&SaveFilter::new());
    assert!(report.is_complete(), "{report}");
}

#[test]
fn a_clock_that_was_saved_without_a_period_has_that_of_an_hour() {
    let mut app = played();
    app.world_mut().resource_mut::<Time<Virtual>>().set_wrap_period(std::time::Duration::from_secs(7));
    let text = String::from_utf8(to_json(app.world())).expect("JSON is UTF-8");
    let period = |text: &str| {
        let world = from_json(text.as_bytes(), &types()).expect("it can be loaded");
        world.resource::<Time<Virtual>>().wrap_period().as_secs()
    };
    assert_eq!(period(&text), 7);
    let older = text.replace("\"wrap_period\":[7,0],", "");
    assert_ne!(older, text);
    assert_eq!(period(&older), 3600);
}

#[test]
fn clocks_that_make_no_sense_are_refused() {
    let app = played();
    let text = String::from_utf8(to_json(app.world())).expect("JSON is UTF-8");
    let cases = [
        ("\"speed\":0.5", "\"speed\":-1.0", "speed -1"),
        ("\"speed\":0.5", "\"speed\":\"NaN\"", "`speed`"),
        ("\"timestep\":[0,20000000]", "\"timestep\":[0,0]", "`timestep` is zero"),
        ("\"timestep\":[0,20000000]", "\"timestep\":[0,4000000000]", "`timestep`"),
        ("\"max_delta\":[0,250000000]", "\"max_delta\":[0,0]", "`max_delta` is zero"),
        ("\"wrap_period\":[3600,0]", "\"wrap_period\":[0,0]", "`wrap_period` is zero"),
        ("\"frame\":3", "\"frame\":-3", "`frame`"),
        ("\"alpha\":0.0", "\"alpha\":7.5", "`alpha`"),
    ];
    for (from, to, told) in cases {
        assert!(text.contains(from), "{from} is not in {text}");
        let error = from_json(text.replacen(from, to, 1).as_bytes(), &types()).map(|_| ());
        let error = error.expect_err(to).to_string();
        assert!(error.contains(told) && error.contains("phalanx.Time"), "{to}: {error}");
    }
}

#[test]
fn clocks_and_states_enter_checkpoints_and_digests() {
    let mut app = played();
    let (checkpoint, digest) = (app.checkpoint(), app.world().digest());
    let clocks = |app: &App| {
        let world = app.world();
        (*world.resource::<Time>(), *world.resource::<Time<Virtual>>(), *world.resource::<Time<Fixed>>())
    };
    let before = clocks(&app);
    // Each part alone makes another digest.
    app.world_mut().resource_mut::<Time<Virtual>>().set_relative_speed(0.75);
    assert_ne!(app.world().digest(), digest);
    app.restore(&checkpoint).expect("of this app");
    assert_eq!(app.world().digest(), digest);
    app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Level(9));
    assert_ne!(app.world().digest(), digest);
    app.step(0.1);
    assert_ne!(clocks(&app), before);
    app.restore(&checkpoint).expect("of this app");
    assert_eq!((clocks(&app), app.world().digest()), (before, digest));
    assert_eq!(app.world().resource::<NextState<Screen>>(), &NextState::PendingIfDifferent(Screen::Menu));
    assert_eq!(app.world().resource::<State<Screen>>(), &Screen::Level(3));
    // And so does a loaded world.
    let loaded = from_postcard(&to_postcard(app.world()), &types()).expect("what was saved can be loaded");
    assert_eq!(loaded.resource::<State<Screen>>(), &Screen::Level(3));
}
