// A game of screens: plugins with parameters, states within states, timers, and entities that go with their screen.

use std::fmt::Write;
use std::marker::PhantomData;
use std::time::Duration;

#[derive(Resource, Default)]
struct Out(String);

#[derive(States, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Splash,
    Menu,
    Game,
}
#[derive(SubStates, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[source(Screen = Screen::Menu)]
enum Page {
    #[default]
    Main,
    Settings,
}

/// Says how many entities of a kind there are, while a screen is shown.
struct Counted<T, S: States> {
    screen: S,
    of: PhantomData<fn() -> T>,
}
impl<T: Component, S: States> Plugin for Counted<T, S> {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PostUpdate,
            count::<T>.run_if(in_state(self.screen.clone()).and_then(any_with_component::<T>)),
        );
    }
    fn name(&self) -> &str {
        "counted"
    }
    fn is_unique(&self) -> bool {
        false
    }
}
fn count<T: Component>(all: Query<(NameOrEntity, &T)>, mut out: ResMut<Out>) {
    let mut names: Vec<String> = all.iter().map(|(name, _)| name.to_string()).collect();
    names.sort();
    writeln!(out.0, "  {} of {}", all.iter().count(), names.join(", ")).unwrap();
}

#[derive(Component)]
struct Image;
#[derive(Component)]
struct Button;
#[derive(Component)]
struct Ball(i32);
#[derive(Resource, Deref, DerefMut)]
struct SplashTimer(Timer);

fn splash(app: &mut App) {
    app.add_systems(OnEnter(Screen::Splash), |mut commands: Commands| {
        commands.spawn((DespawnOnExit(Screen::Splash), Image, Name::new("logo")));
        commands.insert_resource(SplashTimer(Timer::from_seconds(1.0, TimerMode::Once)));
    });
    app.add_systems(Update, leave_splash.run_if(in_state(Screen::Splash)));
    app.add_systems(OnExit(Screen::Splash), |mut commands: Commands| {
        commands.remove_resource::<SplashTimer>()
    });
}
fn leave_splash(time: Res<Time>, mut timer: ResMut<SplashTimer>, mut next: ResMut<NextState<Screen>>) {
    if timer.tick(time.delta()).is_finished() {
        next.set(Screen::Menu);
    }
}

fn menu(app: &mut App) {
    app.add_sub_state::<Page>();
    app.add_systems(OnEnter(Page::Main), |mut commands: Commands| {
        commands.spawn((DespawnOnExit(Page::Main), Name::new("panel"))).with_children(|parent| {
            parent.spawn((Button, Name::new("play")));
            parent.spawn((Button, Name::new("settings")));
        });
    });
    app.add_systems(OnEnter(Page::Settings), |mut commands: Commands| {
        commands.spawn((DespawnOnExit(Page::Settings), Button, Name::new("back")));
    });
    app.add_systems(
        Update,
        (
            click.run_if(in_state(Page::Main).or_else(in_state(Page::Settings))),
            (|mut out: ResMut<Out>| out.0.push_str("  menu only\n"))
                .run_if(in_state(Screen::Menu).and_then(not(in_state(Page::Settings)))),
        )
            .chain(),
    );
}
fn click(
    page: Res<State<Page>>,
    mut clicks: Local<u32>,
    mut page_next: ResMut<NextState<Page>>,
    mut screen_next: ResMut<NextState<Screen>>,
) {
    *clicks += 1;
    match (page.get(), *clicks) {
        (Page::Main, 2) => page_next.set(Page::Settings),
        (Page::Settings, _) => page_next.set(Page::Main),
        (Page::Main, 5..) => screen_next.set(Screen::Game),
        _ => {}
    }
}

fn game(app: &mut App) {
    app.add_systems(OnEnter(Screen::Game), |mut commands: Commands| {
        commands.spawn((DespawnOnExit(Screen::Game), Ball(0), Name::new("ball")));
    });
    app.add_systems(FixedUpdate, (|mut ball: Single<&mut Ball>| ball.0 += 1).run_if(in_state(Screen::Game)));
    app.add_systems(
        Update,
        (
            |ball: Single<&Ball>, mut out: ResMut<Out>| writeln!(out.0, "  ball {}", ball.0).unwrap(),
            (|mut next: ResMut<NextState<Screen>>| next.set(Screen::Splash))
                .run_if(on_timer(Duration::from_millis(1500))),
        )
            .chain()
            .run_if(in_state(Screen::Game)),
    );
}

pub fn program() -> String {
    let mut app = app_with_clocks_and_states();
    app.insert_resource(Time::<Fixed>::from_seconds(0.25));
    app.init_resource::<Out>().init_state::<Screen>();
    app.add_plugins((splash, menu, game));
    app.add_plugins((
        Counted::<Image, _> { screen: Screen::Splash, of: PhantomData },
        Counted::<Button, _> { screen: Screen::Menu, of: PhantomData },
        Counted::<Button, _> { screen: Page::Settings, of: PhantomData },
    ));
    app.add_systems(
        Last,
        |page: Option<Res<State<Page>>>, screen: Res<State<Screen>>, mut out: ResMut<Out>| {
            writeln!(out.0, "{:?} {:?}", screen.get(), page.map(|page| *page.get())).unwrap();
        },
    );
    frame_of(&mut app, Duration::ZERO);
    for _ in 0..36 {
        frame_of(&mut app, Duration::from_millis(200));
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
