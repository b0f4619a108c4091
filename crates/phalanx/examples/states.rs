//! States: what a program does at the moment, and what follows when that changes.
//!
//! Run with `cargo run -p phalanx --example states`.

use phalanx::prelude::*;

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game,
    Score,
}

/// Exists only while a game is played.
#[derive(SubStates, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Game)]
enum Turn {
    #[default]
    Mine,
    Theirs,
}

/// Follows from the others: whether the player may click.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Clickable;

impl ComputedStates for Clickable {
    type SourceStates = (Screen, Option<Turn>);

    fn compute((screen, turn): Self::SourceStates) -> Option<Self> {
        (screen == Screen::Menu || turn == Some(Turn::Mine)).then_some(Self)
    }
}

#[derive(Component)]
struct Unit;

#[derive(Resource, Default)]
struct Moves(u32);

fn click_start(mut next: ResMut<NextState<Screen>>) {
    println!("  the player clicks `start`");
    next.set(Screen::Game);
}

fn set_up(mut commands: Commands) {
    // They go with the game, nothing is left to clean up.
    commands.spawn_batch((0..3).map(|_| (Unit, DespawnOnExit(Screen::Game))));
}

fn play(
    turn: Res<State<Turn>>,
    mut next: ResMut<NextState<Turn>>,
    mut moves: ResMut<Moves>,
    mut screen: ResMut<NextState<Screen>>,
) {
    println!("  {:?} turn", turn.get());
    next.set(if *turn == Turn::Mine { Turn::Theirs } else { Turn::Mine });
    moves.0 += 1;
    if moves.0 == 3 {
        screen.set(Screen::Score);
    }
}

fn main() {
    let mut app = App::new();
    app.init_state::<Screen>().add_sub_state::<Turn>().add_computed_state::<Clickable>();
    app.init_resource::<Moves>();
    app.add_systems(OnEnter(Screen::Menu), || println!("  the menu appears"));
    app.add_systems(OnExit(Screen::Menu), || println!("  the menu disappears"));
    app.add_systems(OnEnter(Screen::Game), set_up);
    app.add_systems(OnTransition { exited: Screen::Game, entered: Screen::Score }, || {
        println!("  game over");
    });
    app.add_systems(OnEnter(Clickable), || println!("  the mouse works"));
    app.add_systems(OnExit(Clickable), || println!("  the mouse is off"));
    app.add_systems(Update, click_start.run_if(in_state(Screen::Menu)));
    app.add_systems(Update, play.run_if(state_exists::<Turn>));

    for frame in 1..=6 {
        println!("frame {frame}");
        app.step(1.0 / 60.0);
        let screen = *app.world().resource::<State<Screen>>().get();
        let units = app.world().view::<&Unit>().count();
        println!("  {screen:?}, {units} units");
        assert_eq!(units, if screen == Screen::Game { 3 } else { 0 });
    }
    assert_eq!(*app.world().resource::<State<Screen>>(), Screen::Score);
    assert!(!app.world().contains_resource::<State<Turn>>());
}
