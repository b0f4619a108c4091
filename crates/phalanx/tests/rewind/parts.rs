//! Frames that run system by system, and looks at frames that have passed.

use phalanx::prelude::*;
use phalanx::world::RestoreError;

#[derive(Component, Clone, Debug)]
struct Place(f64);
#[derive(Resource, Clone, Default, Debug)]
struct Seen(Vec<u64>);
#[derive(Message, Clone, Debug)]
struct Moved(u64);

fn go(time: Res<Time>, mut all: Query<&mut Place>, mut moved: MessageWriter<Moved>) {
    for mut place in &mut all {
        place.0 += time.delta_secs_f64();
    }
    moved.write(Moved(time.frame()));
}

fn hear(mut moved: MessageReader<Moved>, mut seen: ResMut<Seen>) {
    seen.0.extend(moved.read().map(|moved| moved.0));
}

fn fixed(time: Res<Time>, mut seen: ResMut<Seen>) {
    seen.0.push(1000 + u64::from(time.delta().subsec_millis()));
}

fn born(mut commands: Commands, time: Res<Time>) {
    if time.frame() % 3 == 0 {
        commands.spawn(Place(0.5));
    }
}

/// Fixed steps, messages from phase to phase, commands and conditions.
fn game() -> App {
    let mut app = App::new();
    app.init_resource::<Seen>();
    app.insert_resource(Time::<Fixed>::from_seconds(0.03));
    app.add_systems(PreUpdate, (go, born).chain());
    app.add_systems(FixedUpdate, (fixed, hear).chain());
    app.add_systems(Update, (hear, fixed.run_if(|time: Res<Time>| time.frame() % 2 == 0)).chain());
    app.add_systems(PostUpdate, (hear, go).chain());
    app.world_mut().spawn(Place(0.0));
    app
}

/// What a run leaves behind, but for moments of change.
fn result(app: &mut App) -> (Vec<u64>, Vec<String>, u64) {
    let mut all = app.world_mut().query::<&Place>();
    let places = all.iter(app.world()).map(|place| format!("{:.9}", place.0)).collect();
    (app.world().resource::<Seen>().0.clone(), places, app.world().resource::<Time>().frame())
}

#[test]
fn a_frame_in_parts_does_what_a_whole_frame_does() {
    let (mut whole, mut parts) = (game(), game());
    for frame in 0..40 {
        whole.step(0.02);
        let mut systems = 0;
        while let Some((_, name)) = parts.step_system(0.02).expect("it can run") {
            assert!(parts.is_in_frame() && !name.is_empty());
            systems += 1;
            // Sometimes the rest runs at once, by one of the ways to do it.
            if systems == frame % 9 {
                if frame % 2 == 0 {
                    parts.finish_frame();
                } else {
                    parts.step(0.5);
                }
                break;
            }
        }
        assert!(!parts.is_in_frame());
        assert_eq!(result(&mut parts), result(&mut whole), "frame {frame}");
    }
    assert!(result(&mut whole).0.len() > 100, "there is something to compare");
    parts.world().check().expect("whole");
}

#[test]
fn systems_are_named_in_their_order_with_their_phases() {
    let mut app = game();
    let mut names = Vec::new();
    while let Some((phase, name)) = app.step_system(0.02).expect("it can run") {
        names.push(format!("{phase}/{name}"));
    }
    assert_eq!(
        names,
        ["PreUpdate/go", "PreUpdate/born", "Update/hear", "Update/fixed", "PostUpdate/hear", "PostUpdate/go"]
    );
    assert!(app.step_system(f64::NAN).is_err() && !app.is_in_frame());
}

#[test]
fn a_system_that_panics_does_not_end_the_frame() {
    let mut app = App::new();
    app.init_resource::<Seen>();
    app.add_systems(Update, ((|| panic!("no")), |mut seen: ResMut<Seen>| seen.0.push(1)).chain());
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| app.step_system(0.1)));
    assert!(outcome.is_err() && app.is_in_frame());
    assert!(app.step_system(0.1).expect("it can run").is_some());
    assert_eq!(app.world().resource::<Seen>().0, [1]);
    assert!(app.step_system(0.1).expect("it can run").is_none());
}

#[test]
fn looking_back_shows_what_was_and_changes_nothing() {
    let mut app = game();
    app.keep_history(10);
    let mut results = Vec::new();
    for _ in 0..30 {
        app.step(0.02);
        results.push(app.world().resource::<Seen>().0.clone());
    }
    // Something is edited, and a frame is begun.
    app.world_mut().resource_mut::<Seen>().0.push(7);
    app.step_system(0.02).expect("it can run");
    let (digest, len) = (app.world().digest(), app.history_len());
    for frames in 0..=10 {
        let seen = app.look_back(frames, |world| world.resource::<Seen>().0.clone()).expect("it is kept");
        assert_eq!(seen, results[29 - frames], "{frames} frames ago");
        assert_eq!((app.world().digest(), app.history_len(), app.is_in_frame()), (digest, len, true));
    }
    assert_eq!(app.look_back(11, |_| ()), Err(RestoreError::NotKept { kept: 10 }));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        app.look_back(3, |_| panic!("not this one")).expect("it is kept");
    }));
    assert!(outcome.is_err());
    assert_eq!((app.world().digest(), app.history_len()), (digest, len));
    app.finish_frame();
    app.rewind(0).expect("a frame is taken back that was begun");
    app.world().check().expect("whole");
}
