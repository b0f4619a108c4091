//! Errors: what fails, which handler gets it, and that it does so by name.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::error::{Failed, RunSystemError, SystemError, ignore, panic, warn};
use phalanx::prelude::*;
use phalanx::schedule::Schedule;

#[derive(Resource, Default)]
struct Log(Vec<String>);
#[derive(Resource)]
struct Absent(u32);
#[derive(Component)]
struct Unit;

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}
fn listening() -> App {
    let mut app = app();
    app.set_error_handler(|world, error| world.resource_mut::<Log>().0.push(error.to_string()));
    app
}
fn log(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}
fn panic_text(app: &mut App) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| app.step(0.1))).expect_err("it panics");
    *panic.downcast::<String>().expect("a text")
}

fn needs(absent: Res<Absent>) {
    assert_eq!(absent.0, 1);
}
fn needs_mut(mut absent: ResMut<Absent>) {
    absent.0 += 1;
}

const MISSING: &str = "system `needs` failed: its parameter `Res<Absent>` needs the resource `Absent`, which the world \
    lacks: insert it with `insert_resource`, or ask for `Option<Res<Absent>>`";

#[test]
fn a_missing_resource_is_a_panic_that_names_system_and_resource() {
    let mut app = app();
    app.add_systems(Update, needs);
    assert_eq!(panic_text(&mut app), MISSING);
    app.insert_resource(Absent(1));
    app.step(0.1);
}

#[test]
fn a_missing_state_is_a_panic_that_names_the_call_that_adds_it() {
    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct Menu;
    let mut app = app();
    app.add_systems(Update, |mut next: ResMut<NextState<Menu>>| next.set(Menu));
    let text = panic_text(&mut app);
    assert!(
        text.contains("`NextState<Menu>`, which the world lacks: add it with `app.init_state::<Menu>()`"),
        "{text}"
    );
    let read = catch_unwind(AssertUnwindSafe(|| app.world().resource::<State<Menu>>().get().clone()));
    let text = *read.expect_err("it panics").downcast::<String>().expect("a text");
    assert!(text.contains("add it with `app.init_state::<Menu>()`"), "{text}");
}

#[test]
fn a_sub_state_that_does_not_exist_at_the_moment_says_on_what_that_depends() {
    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }
    #[derive(SubStates, Clone, Debug, Default, PartialEq, Eq, Hash)]
    #[source(Screen = Screen::Game)]
    struct Turn;
    let mut app = app();
    app.init_state::<Screen>().add_sub_state::<Turn>();
    app.add_systems(Update, |turn: Res<State<Turn>>| assert_eq!(**turn, Turn));
    let text = panic_text(&mut app);
    assert!(
        text.contains("`Turn` depends on other states, and exists while they have certain values"),
        "{text}"
    );
    assert!(!text.contains("init_state"), "{text}");
    app.world_mut().resource_mut::<NextState<Screen>>().set(Screen::Game);
    app.step(0.1);
}

#[test]
fn a_system_without_its_resource_is_not_run_and_the_handler_hears_of_it() {
    for threads in [Threads::Serial, Threads::N(2)] {
        let mut app = listening();
        app.configure(AppConfig { threads, small_phase: Default::default(), ..Default::default() });
        app.add_systems(Update, (needs, needs_mut, |_: Query<&Unit>| {}));
        app.add_systems(PostUpdate, |mut log: ResMut<Log>| log.0.push("goes on".to_owned()));
        app.step(0.1);
        let heard = log(&mut app);
        assert_eq!((heard.len(), heard[0].as_str(), heard[2].as_str()), (3, MISSING, "goes on"));
        assert!(heard[1].contains("`needs_mut`") && heard[1].contains("`ResMut<Absent>`"), "{}", heard[1]);
        app.insert_resource(Absent(1));
        app.step(0.1);
        assert_eq!(log(&mut app), ["goes on"]);
        assert_eq!(app.world().resource::<Absent>().0, 2);
    }
}

#[test]
fn a_missing_resource_inside_a_set_of_parameters_is_found_before_the_system_runs() {
    let mut app = listening();
    fn late(mut set: ParamSet<(ResMut<Log>, Res<Absent>)>) {
        set.p0().0.push("ran".to_owned());
        assert_eq!(set.p1().0, 1);
    }
    app.add_systems(Update, late);
    app.step(0.1);
    let heard = log(&mut app);
    assert!(heard.len() == 1 && heard[0].contains("`Res<Absent>`"), "{heard:?}");
}

#[test]
fn a_condition_without_its_resource_does_not_hold_and_is_named() {
    fn asks(absent: Res<Absent>) -> bool {
        absent.0 > 0
    }
    let mut app = listening();
    let say = || |mut log: ResMut<Log>| log.0.push("ran".to_owned());
    app.add_systems(Update, (say().run_if(asks), (say(), say()).run_if(asks)));
    app.step(0.1);
    let heard = log(&mut app);
    assert_eq!(heard.len(), 2);
    assert!(heard.iter().all(|text| text.starts_with("condition `asks` failed: ")), "{heard:?}");
}

#[test]
fn an_error_that_a_command_returns_goes_to_the_handler() {
    let mut app = listening();
    app.add_systems(Update, |mut commands: Commands| {
        commands.queue(|_: &mut World| Err("no luck"));
        commands.queue(|world: &mut World| -> Result<(), std::fmt::Error> {
            world.spawn(Unit);
            Ok(())
        });
        commands.spawn(Unit);
    });
    app.step(0.1);
    let heard = log(&mut app);
    assert!(
        heard.len() == 1 && heard[0].starts_with("command `") && heard[0].ends_with("no luck"),
        "{heard:?}"
    );
    // The others took effect.
    assert_eq!(app.world().view::<&Unit>().count(), 2);
    let mut app = self::app();
    app.add_systems(Update, |mut commands: Commands| commands.queue(|_: &mut World| Err("no luck")));
    assert!(panic_text(&mut app).ends_with("no luck"));
}

#[test]
fn a_command_on_a_dead_entity_is_skipped_and_counted() {
    let mut app = listening();
    let dead = app.world_mut().spawn(Unit).id();
    app.world_mut().despawn(dead);
    app.add_systems(Update, move |mut commands: Commands| {
        commands.entity(dead).insert(Unit);
        commands.entity(dead).queue(|_: EntityWorldMut| unreachable!("it is dead"));
    });
    app.step(0.1);
    assert!(log(&mut app).is_empty());
    assert_eq!(app.world().command_stats().skipped, 2);
}

#[test]
fn the_handler_may_hear_of_commands_on_dead_entities_but_not_of_those_that_try() {
    let mut app = listening();
    app.configure(AppConfig { report_dead: true, ..Default::default() });
    let dead = app.world_mut().spawn(Unit).id();
    let dying = app.world_mut().spawn(Unit).id();
    app.world_mut().despawn(dead);
    app.add_systems(Update, move |mut commands: Commands| {
        commands.entity(dead).try_insert(Unit).try_insert_if_new(Unit).try_remove::<Unit>();
        commands.entity(dead).try_despawn();
        commands.entity(dying).despawn();
        commands.entity(dying).try_insert(Unit);
        commands.entity(dead).insert(Unit);
        commands.entity(dying).remove::<Unit>();
        commands.entity(dead).queue(|_: EntityWorldMut| unreachable!("it is dead"));
    });
    app.step(0.1);
    let heard = log(&mut app);
    assert_eq!(heard.len(), 3, "{heard:?}");
    assert!(heard[0].contains(&dead.to_string()) && heard[1].contains(&dying.to_string()), "{heard:?}");
    assert_eq!(app.world().command_stats().skipped, 8);
    // Without a handler it is a panic, when everything was applied.
    let mut app = self::app();
    app.configure(AppConfig { report_dead: true, ..Default::default() });
    app.add_systems(Update, move |mut commands: Commands| {
        commands.entity(dying).insert(Unit);
        commands.spawn(Unit);
    });
    assert!(panic_text(&mut app).contains(&dying.to_string()));
    assert_eq!(app.world().view::<&Unit>().count(), 1);
}

#[test]
fn handlers_are_provided() {
    fn fails() -> Result<(), &'static str> {
        Err("no luck")
    }
    for handler in [warn as fn(&mut World, SystemError), ignore] {
        let mut app = app();
        app.set_error_handler(handler).add_systems(Update, fails);
        app.step(0.1);
    }
    let mut app = app();
    app.set_error_handler(panic).add_systems(Update, fails);
    assert_eq!(panic_text(&mut app), "system `fails` failed: no luck");
}

#[test]
fn a_handler_that_panics_is_there_for_the_next_error() {
    let mut app = app();
    let mut heard = 0;
    app.set_error_handler(move |world, error| {
        heard += 1;
        assert!(heard > 1, "told to panic");
        assert_eq!(error.failed, Failed::System);
        world.resource_mut::<Log>().0.push(heard.to_string());
    });
    app.add_systems(Update, || Err("no luck"));
    assert!(catch_unwind(AssertUnwindSafe(|| app.step(0.1))).is_err());
    app.step(0.1);
    assert_eq!(log(&mut app), ["2"]);
}

#[test]
fn errors_are_handed_over_where_commands_are_applied() {
    fn fails(mut commands: Commands) -> Result<(), &'static str> {
        commands.spawn(Unit);
        Err("no luck")
    }
    let mut app = app();
    app.set_error_handler(|world, _| {
        let units = world.view::<&Unit>().count();
        world.resource_mut::<Log>().0.push(format!("heard with {units}"));
    });
    app.add_systems(Update, (fails, |mut log: ResMut<Log>| log.0.push("next".to_owned())).chain());
    app.step(0.1);
    assert_eq!(log(&mut app), ["heard with 1", "next"]);
}

#[test]
fn a_schedule_alone_and_a_system_run_once_report_too() {
    let mut world = World::new();
    let failed = world.run_system_once(needs).expect_err("the resource is missing");
    assert!(matches!(&failed, RunSystemError::Param { error, .. } if error.param() == "Res<Absent>"));
    assert_eq!(failed.to_string(), MISSING);
    world.init_resource::<Log>();
    world.set_error_handler(|world, error| world.resource_mut::<Log>().0.push(error.to_string()));
    let mut schedule = Schedule::default();
    schedule.add_systems(needs);
    schedule.run(&mut world);
    assert_eq!(world.resource::<Log>().0, [MISSING]);
}

#[test]
fn panics_of_steps_and_of_adding_systems_point_at_the_callers_line() {
    use std::sync::{Arc, Mutex};
    let places = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&places);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let file = info.location().map_or_else(String::new, |place| place.file().to_owned());
        let text = info.payload_as_str().unwrap_or_default().to_owned();
        noted.lock().expect("not poisoned").push((text, file));
    }));
    fn conflicts(_: ResMut<Log>, _: ResMut<Log>) {}
    let mut app = app();
    let adding =
        catch_unwind(AssertUnwindSafe(|| app.add_systems(Update, conflicts).world().entities().len()));
    let stepping = catch_unwind(AssertUnwindSafe(|| app.step(-1.0)));
    std::panic::set_hook(before);
    assert!(adding.is_err() && stepping.is_err());
    let places = places.lock().expect("not poisoned");
    for part in ["both use", "cannot take -1"] {
        let own = places.iter().find(|(text, _)| text.contains(part)).expect("it was noted");
        assert!(own.1.ends_with("errors.rs"), "{own:?}");
    }
}

#[test]
fn a_handler_that_was_handed_out_is_the_same_one() {
    let mut app = app();
    let mut heard = 0;
    app.set_error_handler(move |world, error| {
        heard += 1;
        world.resource_mut::<Log>().0.push(format!("{heard} {}", error.error));
    });
    let (first, second) = (app.get_error_handler(), app.world().fallback_error_handler());
    app.set_error_handler(move |world, error| first.handle(world, error));
    app.add_systems(Update, || -> Result<(), &'static str> { Err("it failed") });
    app.update();
    let fails = |_: &mut World| Err("it failed, too");
    app.world_mut().commands().queue_handled(fails, move |world, error| second.handle(world, error));
    app.update();
    assert_eq!(
        log(&mut app),
        ["1 it failed", "2 it failed, too", "3 it failed"],
        "one handler, and its own state"
    );
}

#[test]
fn without_a_handler_the_one_that_is_handed_out_panics() {
    let mut app = app();
    let handler = app.get_error_handler();
    app.set_error_handler(move |world, error| handler.handle(world, error));
    app.add_systems(Update, || -> Result<(), &'static str> { Err("it failed") });
    assert!(panic_text(&mut app).ends_with("failed: it failed"));
}

#[test]
fn a_handler_is_not_called_inside_itself() {
    let mut app = app();
    app.set_error_handler(|world, _| {
        let handler = world.resource_mut::<Inner>().0.take().expect("it was put there");
        let fails = |_: &mut World| Err("inside");
        world.commands().queue_handled(fails, move |world, error| handler.handle(world, error));
        world.flush();
    });
    let handler = app.get_error_handler();
    app.insert_resource(Inner(Some(handler)));
    app.add_systems(Update, || -> Result<(), &'static str> { Err("outside") });
    assert!(panic_text(&mut app).starts_with("an error inside of an error handler: "));
}

#[derive(Resource)]
struct Inner(Option<phalanx::error::ErrorHandler>);
