// States of an app: transitions, states within states, and what runs while they have their values.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);

#[derive(States, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game,
}
#[derive(SubStates, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Game)]
enum Pause {
    #[default]
    Off,
    On,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Running;
impl ComputedStates for Running {
    type SourceStates = (Screen, Option<Pause>);

    fn compute((screen, pause): Self::SourceStates) -> Option<Self> {
        (screen == Screen::Game && pause == Some(Pause::Off)).then_some(Self)
    }
}

#[derive(Component)]
struct Shown;

fn say(text: &'static str) -> impl FnMut(ResMut<Out>) {
    move |mut out| write!(out.0, "{text}, ").unwrap()
}
fn enter_menu(mut commands: Commands, mut out: ResMut<Out>) {
    out.0.push_str("enter menu, ");
    commands.spawn((Shown, DespawnOnExit(Screen::Menu)));
    commands.spawn((Shown, DespawnOnEnter(Screen::Game)));
}
fn report(
    screen: Res<State<Screen>>,
    pause: Option<Res<State<Pause>>>,
    running: Option<Res<State<Running>>>,
    shown: Query<&Shown>,
    mut out: ResMut<Out>,
) {
    let pause = pause.map(|pause| *pause.get());
    let (screen, running, shown) = (screen.get(), running.is_some(), shown.iter().count());
    writeln!(out.0, "{screen:?} {pause:?} {running} {shown}").unwrap();
}

pub fn program() -> String {
    let mut app = app_with_states();
    app.init_resource::<Out>();
    app.init_state::<Screen>().add_sub_state::<Pause>().add_computed_state::<Running>();
    app.add_systems(OnEnter(Screen::Menu), enter_menu);
    app.add_systems(OnExit(Screen::Menu), say("exit menu"));
    app.add_systems(OnEnter(Screen::Game), say("enter game"));
    app.add_systems(OnExit(Screen::Game), say("exit game"));
    app.add_systems(OnTransition { exited: Screen::Menu, entered: Screen::Game }, say("menu to game"));
    app.add_systems(OnEnter(Pause::Off), say("enter off"));
    app.add_systems(OnExit(Pause::Off), say("exit off"));
    app.add_systems(OnEnter(Pause::On), say("enter on"));
    app.add_systems(OnExit(Pause::On), say("exit on"));
    app.add_systems(OnEnter(Running), say("enter running"));
    app.add_systems(OnExit(Running), say("exit running"));
    app.add_systems(Startup, say("startup"));
    app.add_systems(
        Update,
        (
            say("in menu").run_if(in_state(Screen::Menu)),
            say("running").run_if(in_state(Running)),
            say("paused").run_if(state_exists::<Pause>.and_then(in_state(Pause::On))),
            say("changed").run_if(state_changed::<Screen>),
            report,
        )
            .chain(),
    );
    for frame in 0..9 {
        let world = app.world_mut();
        match frame {
            1 | 7 => world.resource_mut::<NextState<Screen>>().set(Screen::Game),
            2 => world.resource_mut::<NextState<Pause>>().set(Pause::On),
            3 => world.resource_mut::<NextState<Screen>>().set_if_different(Screen::Game),
            4 => world.resource_mut::<NextState<Screen>>().set(Screen::Game),
            5 => {
                world.resource_mut::<NextState<Screen>>().set(Screen::Menu);
                world.resource_mut::<NextState<Pause>>().set(Pause::Off);
            }
            6 => {
                world.resource_mut::<NextState<Screen>>().set(Screen::Game);
                world.resource_mut::<NextState<Screen>>().reset();
            }
            _ => {}
        }
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
