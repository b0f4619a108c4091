//! `States`, `State`, `NextState` and the conditions and schedules of `bevy_state`.

use phalanx::prelude::*;

#[derive(States, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum GameState {
    #[default]
    Menu,
    Playing,
}

#[derive(SubStates, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[source(GameState = GameState::Playing)]
enum Paused {
    #[default]
    No,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Busy;

impl ComputedStates for Busy {
    type SourceStates = (GameState, Option<Paused>);

    fn compute(sources: Self::SourceStates) -> Option<Self> {
        match sources {
            (GameState::Playing, Some(Paused::No)) => Some(Self),
            _ => None,
        }
    }
}

#[derive(Resource, Default, Debug)]
struct Log(Vec<&'static str>);

#[derive(Component)]
struct Unit;

fn app() -> App {
    let mut app = App::new();
    app.add_plugins(StatesPlugin).init_resource::<Log>().init_state::<GameState>();
    app
}

fn say(entry: &'static str) -> impl FnMut(ResMut<Log>) {
    move |mut log| log.0.push(entry)
}

fn play(mut next: ResMut<NextState<GameState>>) {
    next.set(GameState::Playing);
}

#[test]
fn state_enter_and_exit() {
    let mut app = app();
    app.add_systems(OnEnter(GameState::Menu), say("enter menu"))
        .add_systems(OnExit(GameState::Menu), say("exit menu"))
        .add_systems(
            OnTransition { exited: GameState::Menu, entered: GameState::Playing },
            say("menu to playing"),
        )
        .add_systems(OnEnter(GameState::Playing), say("enter playing"))
        .add_systems(Update, play.run_if(in_state(GameState::Menu)));
    app.update();
    app.update();
    let log = app.world().resource::<Log>();
    assert_eq!(log.0, ["enter menu", "exit menu", "menu to playing", "enter playing"]);
}

#[test]
fn state_get_and_next() {
    let mut app = app();
    app.add_systems(Update, play);
    app.update();
    let next = app.world().resource::<NextState<GameState>>();
    assert!(matches!(next, NextState::Pending(GameState::Playing)));
    app.update();
    let state = app.world().resource::<State<GameState>>();
    assert_eq!(*state.get(), GameState::Playing);
    assert_eq!(**state, GameState::Playing);
    assert_eq!(*app.world().resource::<PreviousState<GameState>>().get(), GameState::Menu);
    assert_eq!(*State::new(GameState::Menu), GameState::Menu);
}

#[test]
fn state_set_again_or_not() {
    let mut app = app();
    app.add_systems(OnEnter(GameState::Menu), say("enter"));
    app.update();
    app.world_mut().resource_mut::<NextState<GameState>>().set(GameState::Menu);
    app.update();
    app.world_mut().resource_mut::<NextState<GameState>>().set_if_different(GameState::Menu);
    app.update();
    let mut next = app.world_mut().resource_mut::<NextState<GameState>>();
    next.set(GameState::Playing);
    next.reset();
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["enter", "enter"]);
}

#[test]
fn state_conditions() {
    let mut app = app();
    app.add_sub_state::<Paused>()
        .add_systems(Update, say("menu").run_if(in_state(GameState::Menu)))
        .add_systems(Update, say("changed").run_if(state_changed::<GameState>))
        .add_systems(Update, say("sub").run_if(state_exists::<Paused>))
        .add_systems(Update, play);
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["menu", "changed", "changed", "sub"]);
}

#[test]
fn state_sub_and_computed() {
    let mut app = app();
    app.insert_state(GameState::Playing).add_sub_state::<Paused>().add_computed_state::<Busy>();
    app.add_systems(OnExit(Busy), say("no longer busy"));
    app.update();
    assert!(app.world().contains_resource::<State<Busy>>());
    app.world_mut().resource_mut::<NextState<Paused>>().set(Paused::Yes);
    app.update();
    assert!(!app.world().contains_resource::<State<Busy>>());
    assert_eq!(app.world().resource::<Log>().0, ["no longer busy"]);
}

#[test]
fn state_scoped_entities() {
    let mut app = app();
    app.world_mut().spawn((Unit, DespawnOnExit(GameState::Menu)));
    app.world_mut().spawn((Unit, DespawnOnEnter(GameState::Playing)));
    app.world_mut().spawn((
        Unit,
        DespawnWhen::new(|change: &StateTransitionEvent<GameState>| {
            change.entered == Some(GameState::Playing)
        }),
    ));
    app.add_systems(Update, play);
    app.update();
    app.update();
    let mut units = app.world_mut().query::<&Unit>();
    assert_eq!(units.iter(app.world()).count(), 0);
}

#[test]
fn state_scoped_disabling() {
    let mut app = app();
    let playing = |change: &StateTransitionEvent<GameState>| change.entered == Some(GameState::Playing);
    app.world_mut().spawn((Unit, DisableOnExit(GameState::Menu)));
    app.world_mut().spawn((Unit, DisableOnEnter(GameState::Playing)));
    app.world_mut().spawn((Unit, DisableWhen::new(playing)));
    app.world_mut().spawn((Unit, Disabled, EnableOnExit(GameState::Menu)));
    app.world_mut().spawn((Unit, Disabled, EnableOnEnter(GameState::Playing)));
    app.world_mut().spawn((Unit, Disabled, EnableWhen::new(playing)));
    app.add_systems(Update, play);
    app.update();
    app.update();
    let mut asleep = app.world_mut().query_filtered::<&Unit, With<Disabled>>();
    assert_eq!(asleep.iter(app.world()).count(), 3);
    let mut awake = app.world_mut().query::<&Unit>();
    assert_eq!(awake.iter(app.world()).count(), 3);
}

#[test]
fn state_messages_and_transition_systems() {
    fn told(transition: In<Option<StateTransitionEvent<GameState>>>, mut log: ResMut<Log>) {
        if transition.0.is_some() {
            log.0.push("told");
        }
    }
    let mut app = app();
    app.add_systems(
        StateTransition,
        last_transition::<GameState>
            .pipe(told)
            .after(ExitSchedules::<GameState>::default())
            .after(TransitionSchedules::<GameState>::default())
            .before(EnterSchedules::<GameState>::default()),
    );
    app.add_systems(OnEnter(GameState::Menu), say("enter"));
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["told", "enter"]);
}

#[test]
fn state_by_commands() {
    let mut app = app();
    app.add_systems(Update, |mut commands: Commands| {
        commands.set_state(GameState::Playing);
        commands.set_state_if_different(GameState::Playing);
    });
    app.update();
    app.update();
    assert_eq!(*app.world().resource::<State<GameState>>().get(), GameState::Playing);
}

#[test]
fn state_clears_messages() {
    #[derive(Message)]
    struct Shot;
    let mut app = app();
    app.clear_messages_on_exit::<Shot>(GameState::Menu).clear_messages_on_enter::<Shot>(GameState::Menu);
    app.world_mut().write_message(Shot);
    app.update();
    app.add_systems(Update, |mut shots: MessageReader<Shot>| assert!(shots.read().next().is_none()));
    app.update();
}
