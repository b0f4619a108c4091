//! Frames: phases, fixed steps, time, messages across frames, errors.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::sync::{Arc, Mutex};

use phalanx::app::UpdateError;
use phalanx::prelude::*;

#[derive(Resource, Default)]
struct Log(Vec<String>);
#[derive(Component, Clone, Debug, PartialEq)]
struct Tag(u32);
#[derive(Message, Clone, Debug, PartialEq)]
struct Note(u32);

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Log>();
    app
}

fn log(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

fn say(text: &'static str) -> impl FnMut(ResMut<Log>) {
    move |mut log| log.0.push(text.to_owned())
}

// O-202, O-203, O-205, O-227, O-284.
#[test]
fn phases_run_in_their_order() {
    let mut app = app();
    app.add_systems(PostUpdate, say("post"))
        .add_systems(Update, say("update"))
        .add_systems(PreUpdate, say("pre"));
    app.add_systems(FixedUpdate, say("fixed"));
    app.add_systems(PostStartup, say("post-start")).add_systems(Startup, say("start"));
    app.add_systems(PreStartup, say("pre-start"));
    app.startup();
    assert_eq!(log(&mut app), ["pre-start", "start", "post-start"]);
    app.startup();
    app.step(1.0 / 60.0);
    assert_eq!(log(&mut app), ["fixed", "pre", "update", "post"]);
    assert_eq!(app.phases().count(), 13);
}

#[test]
fn update_starts_the_app_if_it_has_not_started() {
    let mut app = app();
    app.add_systems(Startup, say("start")).add_systems(Update, say("update"));
    (0..2).for_each(|_| app.step(0.0));
    assert_eq!(log(&mut app), ["start", "update", "update"]);
}

#[test]
fn users_add_phases() {
    #[derive(ScheduleLabel, Debug)]
    struct Render;
    #[derive(ScheduleLabel, Debug)]
    struct Input;
    #[derive(ScheduleLabel, Debug)]
    struct OnDemand;
    let mut app = app();
    app.add_phase_after(PostUpdate, Render).add_phase_before(PreUpdate, Input).add_phase(OnDemand);
    app.add_systems(Render, say("render"))
        .add_systems(Input, say("input"))
        .add_systems(Update, say("update"));
    app.add_systems(OnDemand, say("asked"));
    app.step(0.1);
    assert_eq!(log(&mut app), ["input", "update", "render"]);
    app.run_phase(OnDemand);
    assert_eq!(log(&mut app), ["asked"]);
    let twice = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        app.add_phase(OnDemand);
    }));
    assert!(twice.is_err());
}

// O-219 .. O-225: default step, accumulator, cap, alpha.
#[test]
fn fixed_steps_follow_the_accumulator() {
    let mut app = app();
    app.configure(AppConfig { fixed_timestep: 0.25, max_fixed_steps: 4, ..Default::default() });
    app.add_systems(FixedUpdate, |time: Res<Time>, mut log: ResMut<Log>| {
        log.0.push(time.delta_secs().to_string());
    });
    let steps = |app: &mut App, dt| {
        app.step(dt);
        (log(app).len(), app.world().resource::<Time>().alpha())
    };
    assert_eq!(steps(&mut app, 0.125), (0, 0.5));
    assert_eq!(steps(&mut app, 0.125), (1, 0.0));
    assert_eq!(steps(&mut app, 0.5625), (2, 0.25));
    // Ten seconds would be forty steps: four are taken, the rest is lost.
    assert_eq!(steps(&mut app, 10.0), (4, 0.0));
    assert_eq!(steps(&mut app, 0.0), (0, 0.0));
    assert_eq!(app.world().resource::<Time<Fixed>>().steps(), 7);
    assert_eq!(AppConfig::default().fixed_timestep, 1.0 / 60.0);
    assert_eq!(AppConfig::default().max_fixed_steps, 4);
}

#[test]
fn rounding_loses_no_step() {
    let mut app = app();
    app.configure(AppConfig { fixed_timestep: 0.02, ..Default::default() });
    app.add_systems(FixedUpdate, say("fixed"));
    app.step(5.0);
    assert_eq!(log(&mut app).len(), 4);
    (0..10).for_each(|_| app.step(0.1 / 5.0));
    assert_eq!(log(&mut app).len(), 10);
}

// O-226.
#[test]
fn without_fixed_systems_no_time_is_saved_up() {
    let mut app = app();
    app.step(0.016);
    app.add_systems(FixedUpdate, say("fixed"));
    app.step(0.001);
    assert!(log(&mut app).is_empty());
    app.step(0.016);
    assert_eq!(log(&mut app), ["fixed"]);
}

#[test]
fn time_tells_delta_elapsed_and_frames() {
    let mut app = app();
    app.configure(AppConfig { fixed_timestep: 0.5, ..Default::default() });
    app.add_systems(Startup, |time: Res<Time>| assert_eq!((time.frame(), time.delta_secs()), (0, 0.0)));
    app.add_systems(FixedUpdate, |time: Res<Time>| assert_eq!(time.delta_secs(), 0.5));
    app.add_systems(Update, |time: Res<Time>, mut log: ResMut<Log>| {
        log.0.push(format!("{} {} {}", time.frame(), time.delta_secs(), time.elapsed_secs()));
    });
    app.step(1.0);
    app.step(0.25);
    assert_eq!(log(&mut app), ["1 1 1", "2 0.25 1.25"]);
}

#[test]
fn a_frame_of_negative_or_endless_time_is_rejected_before_anything_runs() {
    let mut app = app();
    app.add_systems(Startup, say("start")).add_systems(Update, say("update"));
    for dt in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e20] {
        assert!(matches!(app.try_step(dt), Err(UpdateError::Delta { .. })));
    }
    assert!(log(&mut app).is_empty());
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| app.step(-1.0)));
    let text = *panic.expect_err("rejected").downcast::<String>().expect("a text");
    assert!(text.contains("-1"), "{text}");
    app.step(0.0);
    assert_eq!(log(&mut app), ["start", "update"]);
}

// O-217, O-228, O-245, O-246: every phase, fixed steps included, ends with a flush.
#[test]
fn each_phase_and_each_fixed_step_ends_with_a_flush() {
    let mut app = app();
    app.configure(AppConfig { fixed_timestep: 0.5, ..Default::default() });
    fn spawn(mut commands: Commands, tags: Query<&Tag>, mut log: ResMut<Log>) {
        log.0.push(tags.count().to_string());
        commands.spawn(Tag(0));
    }
    app.add_systems(FixedUpdate, spawn);
    app.add_systems(PreUpdate, (spawn, spawn));
    app.add_systems(Update, spawn);
    app.step(1.0);
    // Two fixed steps, then two systems of one phase that see the same, then one that sees both.
    assert_eq!(log(&mut app), ["0", "1", "2", "2", "4"]);
}

// O-247, O-248, O-257, O-260.
#[test]
fn messages_end_with_the_next_frame_and_those_of_startup_with_the_second() {
    let mut app = app();
    app.add_systems(Startup, |mut notes: MessageWriter<Note>| {
        notes.write(Note(1));
    });
    app.add_systems(PreUpdate, |time: Res<Time>, mut notes: MessageWriter<Note>| {
        notes.write(Note(u32::try_from(time.frame()).expect("few") * 10));
    });
    app.add_systems(PostUpdate, |mut notes: MessageReader<Note>, mut log: ResMut<Log>| {
        log.0.push(format!("{:?}", notes.read().map(|note| note.0).collect::<Vec<_>>()));
    });
    app.startup();
    app.world_mut().write_message(Note(2));
    app.step(0.1);
    app.step(0.1);
    assert_eq!(log(&mut app), ["[1, 2, 10]", "[20]"]);
    let live = app.world().messages::<Note>().expect("written").iter().map(|note| note.0);
    assert_eq!(live.collect::<Vec<_>>(), [20]);
}

#[test]
fn kept_messages_reach_readers_that_do_not_run_in_every_frame() {
    let mut app = app();
    app.world_mut().messages_mut::<Note>().set_keep(3);
    app.add_systems(Update, |time: Res<Time>, mut notes: MessageWriter<Note>| {
        notes.write(Note(u32::try_from(time.frame()).expect("few")));
    });
    fn every_third(time: Res<Time>) -> bool {
        time.frame().is_multiple_of(3)
    }
    app.add_systems(
        PostUpdate,
        (|mut notes: MessageReader<Note>, mut log: ResMut<Log>| {
            log.0.push(format!("{:?}", notes.read().map(|note| note.0).collect::<Vec<_>>()));
        })
        .run_if(every_third),
    );
    (0..6).for_each(|_| app.step(0.1));
    assert_eq!(log(&mut app), ["[1, 2, 3]", "[4, 5, 6]"]);
}

#[test]
fn errors_of_systems_go_to_the_handler_in_order() {
    fn fails(mut log: ResMut<Log>) -> Result<(), String> {
        log.0.push("ran".to_owned());
        Err("no luck".to_owned())
    }
    fn also_fails() -> Result<(), std::num::ParseIntError> {
        "x".parse::<u8>().map(drop)
    }
    fn works() -> Result<(), std::fmt::Error> {
        Ok(())
    }
    fn exclusive(_: &mut World) -> Result<(), &'static str> {
        Err("exclusive")
    }
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let mut app = app();
    app.set_error_handler(move |world, error| {
        // The world is as the phase left it.
        assert_eq!(world.resource::<Log>().0, ["ran"]);
        ears.lock().expect("not poisoned").push(error.to_string());
    });
    app.add_systems(Update, (fails, works, also_fails, exclusive));
    app.step(0.1);
    let heard = heard.lock().expect("not poisoned");
    assert_eq!(heard.len(), 3);
    assert_eq!(heard[0], "system `fails` failed: no luck");
    assert!(heard[1].starts_with("system `also_fails` failed:") && heard[2].contains("exclusive"));
}

#[test]
fn without_a_handler_an_error_is_a_panic_with_the_systems_name() {
    let mut app = app();
    app.add_systems(Update, (|| Err("no luck")).named("unlucky"));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| app.step(0.1)));
    let text = *panic.expect_err("it failed").downcast::<String>().expect("a text");
    assert_eq!(text, "system `unlucky` failed: no luck");
}

// A panic ends neither the app nor the frame: what was left behind is there in the next update.
#[test]
fn after_a_panic_the_next_update_goes_on() {
    let mut app = app();
    app.add_systems(Startup, say("startup"));
    app.add_systems(PreUpdate, |mut notes: MessageWriter<Note>, time: Res<Time>| {
        notes.write(Note(u32::try_from(time.frame()).expect("few")));
    });
    app.add_systems(Update, |time: Res<Time>| assert!(time.frame() != 1, "told to panic"));
    app.add_systems(PostUpdate, |mut notes: MessageReader<Note>, mut log: ResMut<Log>| {
        log.0.push(format!("{:?}", notes.read().map(|note| note.0).collect::<Vec<_>>()));
    });
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| app.step(0.1)));
    assert!(panic.is_err());
    (0..2).for_each(|_| app.step(0.1));
    assert_eq!(log(&mut app), ["startup", "[1, 2]", "[3]"]);
}
