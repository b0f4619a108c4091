//! States that were never added, that are read before they are added, or that were there before that.

use phalanx::state::StateTransitionEvent;
use phalanx::world::SystemError;

use super::*;

#[derive(Resource, Default)]
struct Reports(Vec<String>);

fn reporting() -> App {
    let mut app = app();
    app.init_resource::<Reports>();
    app.set_error_handler(|world: &mut World, error: SystemError| {
        world.resource_mut::<Reports>().0.push(error.to_string());
    });
    app
}

#[test]
fn a_condition_about_a_state_that_was_never_added_says_so_once() {
    let mut app = reporting();
    app.add_systems(Update, say("game").run_if(in_state(Screen::Game)));
    app.add_systems(Update, say("not game").run_if(not(in_state(Screen::Game))));
    app.add_systems(Update, say("changed").run_if(state_changed::<Turn>));
    app.add_systems(Update, say("asked").run_if(state_exists::<Screen>.and_then(in_state(Screen::Game))));
    for _ in 0..3 {
        app.step(0.1);
    }
    let reports = std::mem::take(&mut app.world_mut().resource_mut::<Reports>().0);
    assert_eq!(reports.len(), 3, "{reports:#?}");
    for (report, state) in reports.iter().zip(["Screen", "Screen", "Turn"]) {
        assert!(
            report.contains(&format!("::{state}`: add it with `app.init_state::<{state}>()`")),
            "{report}"
        );
    }
    // What the condition is not is no error, so it is asked for the first time only.
    assert_eq!(log(&mut app), ["not game", "not game"]);
}

#[test]
fn a_condition_about_a_state_that_was_never_added_is_false_and_a_warning() {
    let mut app = app();
    app.init_resource::<Reports>();
    app.set_error_handler(|world: &mut World, error: SystemError| {
        world.resource_mut::<Reports>().0.push(format!("{:?}", error.severity()));
    });
    app.add_systems(Update, say("game").run_if(in_state(Screen::Game)));
    app.step(0.1);
    assert_eq!(app.world().resource::<Reports>().0, ["Warning"]);
    assert!(log(&mut app).is_empty());
}

#[test]
fn a_state_that_a_system_reads_before_it_is_added_changes_all_the_same() {
    let mut app = reporting();
    app.add_systems(
        Last,
        |mut screens: MessageReader<StateTransitionEvent<Screen>>,
         mut turns: MessageReader<StateTransitionEvent<Turn>>,
         mut log: ResMut<Log>| {
            log.0.extend(screens.read().map(|change| format!("screen {:?}", change.entered)));
            log.0.extend(turns.read().map(|change| format!("turn {:?}", change.entered)));
        },
    );
    app.init_state::<Screen>().add_sub_state::<Turn>().add_computed_state::<Playing>();
    listen(&mut app, Turn::Mine);
    app.step(0.1);
    assert_eq!(log(&mut app), ["screen Some(Menu)", "turn None"]);
    set(&mut app, Screen::Game);
    app.step(0.1);
    assert_eq!(log(&mut app), ["enter Mine", "screen Some(Game)", "turn Some(Mine)"]);
    assert_eq!(value(&app), Some(Playing));
    assert!(app.world().resource::<Reports>().0.is_empty());
}

#[test]
fn a_state_whose_value_was_there_before_keeps_it_and_changes() {
    let mut app = reporting();
    app.insert_resource(State::new(Screen::Game));
    app.init_state::<Screen>();
    for screen in [Screen::Menu, Screen::Game, Screen::End] {
        listen(&mut app, screen);
    }
    app.step(0.1);
    assert_eq!(value(&app), Some(Screen::Game));
    assert!(log(&mut app).is_empty(), "it was entered before");
    set(&mut app, Screen::End);
    app.step(0.1);
    assert_eq!(log(&mut app), ["exit Game", "enter End"]);
}

#[test]
fn a_state_that_is_added_again_after_a_restore_from_before_it_changes() {
    let mut app = reporting();
    app.world_mut().skip_resource_in_checkpoints::<Log>();
    app.world_mut().skip_resource_in_checkpoints::<Reports>();
    let before = app.world_mut().checkpoint();
    for round in 0..3 {
        app.init_state::<Screen>().add_sub_state::<Turn>();
        app.step(0.1);
        set(&mut app, Screen::Game);
        app.step(0.1);
        set(&mut app, Turn::Theirs);
        app.step(0.1);
        assert_eq!((value(&app), value(&app)), (Some(Screen::Game), Some(Turn::Theirs)), "round {round}");
        app.world_mut().restore(&before).expect("of this world");
        assert_eq!(value::<Screen>(&app), None);
    }
    assert!(app.world().resource::<Reports>().0.is_empty());
}

#[test]
fn a_command_that_sets_a_state_that_was_never_added_says_how_to_add_it() {
    let mut app = reporting();
    app.add_systems(Update, |mut commands: Commands| commands.set_state(Screen::End));
    app.step(0.1);
    let reports = &app.world().resource::<Reports>().0;
    assert!(reports.len() == 1 && reports[0].contains("app.init_state::<Screen>()"), "{reports:?}");
}

#[test]
fn a_report_about_a_save_does_not_name_which_states_there_are() {
    let mut app = app();
    app.init_state::<Screen>();
    let saved = app.world().save(serde_json::value::Serializer).unwrap();
    assert!(!saved.report.to_string().contains("KnownStates"), "{}", saved.report);
}
