//! States: when they change, what runs then and in which order, and what lives as long as a state.
//!
//! `states/model.rs` compares random histories with a naive list of what should happen.
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::state::StateTransitionSystems;

#[path = "states/known.rs"]
mod known;
#[path = "states/model.rs"]
mod model;

#[derive(Resource, Default, Debug)]
struct Log(Vec<String>);

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}

fn say(entry: &str) -> impl FnMut(ResMut<Log>) + use<> {
    let entry = entry.to_owned();
    move |mut log| log.0.push(entry.clone())
}

fn log(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

fn set<S: phalanx::state::FreelyMutableState>(app: &mut App, state: S) {
    app.world_mut().resource_mut::<NextState<S>>().set(state);
}

fn value<S: States>(app: &App) -> Option<S> {
    app.world().get_resource::<State<S>>().map(|state| state.get().clone())
}

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game,
    End,
}

#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Game)]
enum Turn {
    #[default]
    Mine,
    Theirs,
}

#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Turn = Turn::Mine)]
struct Choosing(bool);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Playing;
impl ComputedStates for Playing {
    type SourceStates = (Option<Screen>, Option<Turn>);
    fn compute((screen, turn): Self::SourceStates) -> Option<Self> {
        (screen == Some(Screen::Game) && turn.is_some()).then_some(Self)
    }
}

/// Logs everything that happens to a value of a state.
fn listen<S: States>(app: &mut App, state: S) {
    app.add_systems(OnEnter(state.clone()), say(&format!("enter {state:?}")));
    app.add_systems(OnExit(state.clone()), say(&format!("exit {state:?}")));
}

fn all() -> App {
    let mut app = app();
    app.init_state::<Screen>().add_sub_state::<Turn>().add_sub_state::<Choosing>();
    app.add_computed_state::<Playing>();
    for state in [Screen::Menu, Screen::Game, Screen::End] {
        listen(&mut app, state);
    }
    for state in [Turn::Mine, Turn::Theirs] {
        listen(&mut app, state);
    }
    for state in [Choosing(false), Choosing(true)] {
        listen(&mut app, state);
    }
    listen(&mut app, Playing);
    app
}

#[test]
fn the_first_value_is_entered_before_anything_runs() {
    let mut app = app();
    app.init_state::<Screen>();
    listen(&mut app, Screen::Menu);
    app.add_systems(PreStartup, say("pre-start")).add_systems(First, say("first"));
    app.startup();
    assert_eq!(log(&mut app), ["enter Menu", "pre-start"]);
    app.step(0.1);
    assert_eq!(log(&mut app), ["first"]);
}

#[test]
fn states_change_between_pre_update_and_update() {
    let mut app = app();
    app.init_state::<Screen>();
    app.add_systems(
        PreUpdate,
        (|mut next: ResMut<NextState<Screen>>| next.set(Screen::Game)).run_if(run_once),
    );
    app.add_systems(PreUpdate, say("pre")).add_systems(Update, say("update"));
    app.add_systems(OnEnter(Screen::Game), say("enter"));
    app.configure(AppConfig { fixed_place: FixedPlace::BeforeUpdate, ..AppConfig::default() });
    app.add_systems(FixedUpdate, say("fixed"));
    app.step(1.0 / 60.0);
    assert_eq!(log(&mut app), ["pre", "enter", "fixed", "update"]);
    assert_eq!(value(&app), Some(Screen::Game));
    assert_eq!(*app.world().resource::<PreviousState<Screen>>().get(), Screen::Menu);
}

#[test]
fn states_that_depend_on_others_exit_first_and_enter_last() {
    let mut app = all();
    app.step(0.1);
    assert_eq!(log(&mut app), ["enter Menu"]);
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert_eq!(
        log(&mut app),
        ["exit Menu", "enter Game", "enter Mine", "enter Choosing(false)", "enter Playing"]
    );
    assert_eq!((value(&app), value(&app)), (Some(Turn::Mine), Some(Choosing(false))));
    set(&mut app, Screen::End);
    app.step(0.1);
    let exits = log(&mut app);
    assert_eq!(exits.last().map(String::as_str), Some("enter End"));
    let at = |entry: &str| exits.iter().position(|known| known == entry).expect("it is exited");
    assert!(at("exit Choosing(false)") < at("exit Mine") && at("exit Mine") < at("exit Game"));
    assert!(at("exit Playing") < at("exit Mine"));
    assert_eq!(value::<Turn>(&app), None);
    assert!(!app.world().contains_resource::<State<Playing>>());
}

#[test]
fn a_transition_runs_between_exit_and_enter() {
    let mut app = all();
    let change = OnTransition { exited: Screen::Menu, entered: Screen::Game };
    app.add_systems(change, say("menu to game"));
    app.add_systems(OnTransition { exited: Screen::Game, entered: Screen::Menu }, say("game to menu"));
    set(&mut app, Screen::Game);
    app.startup();
    let entries = log(&mut app);
    // The first value was never entered, and is exited: only the last change of a frame counts.
    assert_eq!(entries[..3], ["exit Menu", "menu to game", "enter Game"]);
}

// Hazard 89.
#[test]
fn of_several_values_in_a_frame_the_last_one_counts() {
    let mut app = all();
    app.step(0.1);
    log(&mut app);
    set(&mut app, Screen::Game);
    set(&mut app, Screen::End);
    app.step(0.1);
    assert_eq!(log(&mut app), ["exit Menu", "enter End"]);
    set(&mut app, Screen::Game);
    app.world_mut().resource_mut::<NextState<Screen>>().reset();
    app.step(0.1);
    assert_eq!(log(&mut app), [""; 0]);
    let mut next = app.world_mut().resource_mut::<NextState<Screen>>();
    next.set(Screen::End);
    next.set_if_different(Screen::End);
    assert_eq!(*next, NextState::Pending(Screen::End), "a weaker wish does not undo a stronger one");
}

// Hazard 89.
#[test]
fn a_state_set_in_its_own_enter_changes_in_the_next_frame() {
    let mut app = all();
    app.add_systems(OnEnter(Screen::Game), |mut next: ResMut<NextState<Screen>>| next.set(Screen::End));
    app.step(0.1);
    set(&mut app, Screen::Game);
    log(&mut app);
    app.step(0.1);
    assert_eq!(value(&app), Some(Screen::Game));
    assert!(log(&mut app).contains(&"enter Game".to_owned()));
    app.step(0.1);
    assert_eq!(value(&app), Some(Screen::End));
    app.step(0.1);
    assert_eq!(value(&app), Some(Screen::End), "it was set once");
}

// Hazard 89.
#[test]
fn a_state_set_to_itself_is_entered_again_unless_asked_otherwise() {
    let mut app = all();
    app.add_systems(OnTransition { exited: Screen::Menu, entered: Screen::Menu }, say("menu to menu"));
    app.add_systems(Update, say("changed").run_if(state_changed::<Screen>));
    app.step(0.1);
    assert_eq!(log(&mut app), ["enter Menu", "changed"]);
    set(&mut app, Screen::Menu);
    app.step(0.1);
    assert_eq!(log(&mut app), ["exit Menu", "menu to menu", "enter Menu"], "the value did not change");
    app.world_mut().commands().set_state_if_different(Screen::Menu);
    app.world_mut().flush();
    app.step(0.1);
    assert_eq!(log(&mut app), ["menu to menu"], "as in bevy, this one schedule runs");
    app.world_mut().commands().set_state(Screen::Game);
    app.world_mut().flush();
    app.step(0.1);
    assert!(log(&mut app).contains(&"changed".to_owned()));
}

#[test]
fn a_transition_inside_a_transition_is_refused_by_name() {
    let mut app = all();
    app.add_systems(OnEnter(Screen::Game), |world: &mut World| {
        let error = world.try_run_schedule(StateTransition).expect_err("it runs at the moment");
        assert!(error.to_string().contains("`StateTransition`"), "{error}");
        world.resource_mut::<Log>().0.push("refused".into());
    });
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert!(log(&mut app).contains(&"refused".to_owned()));
}

#[test]
fn a_panic_in_a_transition_leaves_the_state_changed_and_the_schedule_usable() {
    let mut app = all();
    app.add_systems(OnEnter(Screen::Game), (|| panic!("told to panic")).run_if(run_once));
    app.step(0.1);
    set(&mut app, Screen::Game);
    let outcome = catch_unwind(AssertUnwindSafe(|| app.step(0.1)));
    let text = outcome.expect_err("it panics").downcast::<String>().expect("with text");
    assert!(text.contains("told to panic"), "{text}");
    assert_eq!(value(&app), Some(Screen::Game));
    set(&mut app, Screen::End);
    log(&mut app);
    app.step(0.1);
    assert_eq!(value(&app), Some(Screen::End));
    assert!(log(&mut app).contains(&"exit Game".to_owned()));
}

#[test]
fn conditions_know_states_that_do_not_exist() {
    let mut app = all();
    app.add_systems(Update, say("menu").run_if(in_state(Screen::Menu)));
    app.add_systems(Update, say("mine").run_if(in_state(Turn::Mine)));
    app.add_systems(Update, say("turns").run_if(state_exists::<Turn>));
    app.add_systems(Update, say("new turn").run_if(state_changed::<Turn>));
    app.startup();
    log(&mut app);
    app.step(0.1);
    assert_eq!(log(&mut app), ["menu"]);
    set(&mut app, Screen::Game);
    app.step(0.1);
    let entries = log(&mut app);
    assert_eq!(entries[entries.len() - 3..], ["mine", "turns", "new turn"]);
    set(&mut app, Turn::Theirs);
    app.step(0.1);
    let entries = log(&mut app);
    assert_eq!(entries[entries.len() - 2..], ["turns", "new turn"]);
}

#[test]
fn a_sub_state_keeps_its_value_while_it_exists_and_starts_anew_later() {
    let mut app = all();
    set(&mut app, Screen::Game);
    app.step(0.1);
    set(&mut app, Turn::Theirs);
    app.step(0.1);
    assert_eq!(value(&app), Some(Turn::Theirs));
    assert_eq!(value::<Choosing>(&app), None);
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert_eq!(value(&app), Some(Turn::Theirs));
    set(&mut app, Screen::Menu);
    app.step(0.1);
    // What is set while it does not exist is forgotten.
    set(&mut app, Turn::Theirs);
    app.step(0.1);
    assert_eq!(value::<Turn>(&app), None);
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert_eq!(value(&app), Some(Turn::Mine));
}

#[derive(Component)]
struct Unit;

#[test]
fn scoped_entities_live_as_long_as_the_state() {
    let mut app = all();
    app.add_systems(OnExit(Screen::Game), |units: Query<&Unit>, mut log: ResMut<Log>| {
        log.0.push(format!("{} units", units.count()));
    });
    app.add_systems(OnEnter(Screen::Menu), |mut commands: Commands| {
        commands.spawn((Unit, DespawnOnEnter(Screen::Menu)));
    });
    let world = app.world_mut();
    let stays = world.spawn(Unit).id();
    let until_exit = world.spawn((Unit, DespawnOnExit(Screen::Game))).id();
    let until_enter = world.spawn((Unit, DespawnOnEnter(Screen::Game))).id();
    let until_end = world
        .spawn((
            Unit,
            DespawnWhen::new(|change: &StateTransitionEvent<Screen>| change.entered == Some(Screen::End)),
        ))
        .id();
    app.step(0.1);
    assert_eq!(app.world_mut().view::<&Unit>().count(), 5, "what was spawned in `OnEnter` stays");
    set(&mut app, Screen::Game);
    app.step(0.1);
    let alive = |app: &App, entity| app.world().contains(entity);
    assert!(alive(&app, until_exit) && !alive(&app, until_enter));
    log(&mut app);
    set(&mut app, Screen::End);
    app.step(0.1);
    assert!(log(&mut app).contains(&"4 units".to_owned()), "`OnExit` still sees them");
    assert!(alive(&app, stays) && !alive(&app, until_exit) && !alive(&app, until_end));
}

#[test]
fn entities_are_disabled_and_enabled_with_a_state() {
    let game = |change: &StateTransitionEvent<Screen>| change.entered == Some(Screen::Game);
    let end = |change: &StateTransitionEvent<Screen>| change.entered == Some(Screen::End);
    let mut app = all();
    app.step(0.1);
    let world = app.world_mut();
    let sleepers = [
        world.spawn((Unit, DisableOnExit(Screen::Menu), EnableOnEnter(Screen::End))).id(),
        world.spawn((Unit, DisableOnEnter(Screen::Game), EnableOnExit(Screen::Game))).id(),
        world.spawn((Unit, DisableWhen::new(game), EnableWhen::new(end))).id(),
    ];
    let child = world.spawn((Unit, ChildOf(sleepers[0]))).id();
    let elsewhere = world.spawn((Unit, DisableOnEnter(Screen::End))).id();
    let asleep = |app: &App| sleepers.map(|entity| app.world().is_disabled(entity));
    let is_disabled = |app: &App, entity| app.world().is_disabled(entity);
    assert_eq!(asleep(&app), [false; 3]);
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert_eq!(asleep(&app), [true; 3]);
    assert!(is_disabled(&app, child) && !is_disabled(&app, elsewhere), "children sleep with their parents");
    assert_eq!(app.world().view::<&Unit>().count(), 1, "no query sees them");
    set(&mut app, Screen::End);
    app.step(0.1);
    assert_eq!(asleep(&app), [false; 3], "they are found though they are disabled");
    assert!(!is_disabled(&app, child) && is_disabled(&app, elsewhere));
    app.world().check().expect("the world is valid");
}

// Hazard: what is hidden is despawned with its state nevertheless.
#[test]
fn disabled_entities_are_despawned_with_a_state() {
    let mut app = all();
    app.step(0.1);
    let world = app.world_mut();
    let parent = world.spawn((Unit, DisabledTree)).id();
    let scoped = [
        world.spawn((Disabled, DespawnOnExit(Screen::Menu))).id(),
        world.spawn((Disabled, DespawnOnEnter(Screen::Game))).id(),
        world.spawn((DisabledTree, DespawnOnExit(Screen::Menu))).id(),
        world.spawn((ChildOf(parent), DespawnOnExit(Screen::Menu))).id(),
    ];
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert_eq!(scoped.map(|entity| app.world().contains(entity)), [false; 4]);
    assert!(app.world().contains(parent));
}

#[test]
fn what_is_done_on_exit_comes_after_it_and_on_enter_before_it() {
    fn count(units: Query<&Unit>, mut log: ResMut<Log>) {
        log.0.push(format!("{} awake", units.count()));
    }
    let mut app = all();
    app.add_systems(OnExit(Screen::Menu), count).add_systems(OnEnter(Screen::Game), count);
    app.step(0.1);
    app.world_mut().spawn((Unit, DisableOnExit(Screen::Menu)));
    app.world_mut().spawn((Unit, Disabled, EnableOnEnter(Screen::Game)));
    app.world_mut().spawn((Unit, Disabled, EnableOnEnter(Screen::Game)));
    log(&mut app);
    set(&mut app, Screen::Game);
    app.step(0.1);
    let counts: Vec<String> = log(&mut app).into_iter().filter(|line| line.ends_with("awake")).collect();
    assert_eq!(counts, ["1 awake", "2 awake"]);
}

#[test]
fn messages_are_cleared_with_a_state() {
    #[derive(Message)]
    struct Shot;
    let mut app = all();
    app.clear_messages_on_exit::<Shot>(Screen::Menu).clear_messages_on_enter::<Shot>(Screen::End);
    app.step(0.1);
    app.world_mut().write_message(Shot);
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert!(app.world().messages::<Shot>().expect("known").is_empty());
}

#[test]
fn every_change_is_told_by_a_message() {
    let mut app = all();
    app.add_systems(
        Update,
        |mut changes: MessageReader<StateTransitionEvent<Screen>>, mut log: ResMut<Log>| {
            for change in changes.read() {
                log.0.push(format!("{:?} to {:?}", change.exited, change.entered));
            }
        },
    );
    app.add_systems(
        StateTransition,
        last_transition::<Screen>
            .pipe(|In(change): In<Option<StateTransitionEvent<Screen>>>, mut log: ResMut<Log>| {
                log.0.extend(change.map(|_| "before all exits".to_owned()));
            })
            .after(StateTransitionSystems::DependentTransitions)
            .before(StateTransitionSystems::ExitSchedules),
    );
    app.step(0.1);
    log(&mut app);
    set(&mut app, Screen::Game);
    app.step(0.1);
    let entries = log(&mut app);
    assert_eq!(entries[..2], ["before all exits", "exit Menu"]);
    assert_eq!(entries.last().map(String::as_str), Some("Some(Menu) to Some(Game)"));
}

#[test]
fn a_state_added_twice_is_one_state() {
    let mut app = app();
    app.add_plugins(StatesPlugin);
    app.init_state::<Screen>().init_state::<Screen>();
    app.add_sub_state::<Turn>().add_sub_state::<Turn>();
    listen(&mut app, Screen::Menu);
    app.insert_state(Screen::Game).insert_state(Screen::End);
    for state in [Screen::Game, Screen::End] {
        listen(&mut app, state);
    }
    app.step(0.1);
    assert_eq!(log(&mut app), ["enter End"], "only what was inserted last");
    app.world_mut().commands().set_state(Choosing(true));
    app.set_error_handler(|world: &mut World, error| world.resource_mut::<Log>().0.push(error.to_string()));
    app.step(0.1);
    let entries = log(&mut app);
    assert!(entries[0].contains("Choosing") && entries[0].contains("app.init_state"), "{entries:?}");
}

#[test]
fn states_with_data_and_generics_are_told_apart_by_their_values() {
    #[derive(States, Clone, Debug, PartialEq, Eq, Hash)]
    enum Level<T: States> {
        Of(T, u32),
    }
    let mut app = app();
    app.insert_state(Level::Of(Screen::Menu, 1));
    listen(&mut app, Level::Of(Screen::Menu, 1));
    listen(&mut app, Level::Of(Screen::Menu, 2));
    app.step(0.1);
    set(&mut app, Level::Of(Screen::Menu, 2));
    app.step(0.1);
    assert_eq!(log(&mut app), ["enter Of(Menu, 1)", "exit Of(Menu, 1)", "enter Of(Menu, 2)"]);
}
