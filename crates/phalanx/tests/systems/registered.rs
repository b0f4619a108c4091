//! Registered systems: what they remember, and what happens when they cannot run.

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::system::RegisteredSystemError;

#[derive(Component)]
struct Unit;
#[derive(Resource, Default)]
struct Count(u32);
#[derive(Resource)]
struct Own(SystemId);

fn count_runs(mut runs: Local<u32>) -> u32 {
    *runs += 1;
    *runs
}

#[test]
fn a_registered_system_remembers_from_run_to_run_and_twins_apart() {
    let mut world = World::new();
    let (first, second) = (world.register_system(count_runs), world.register_system(count_runs));
    assert_ne!(first, second);
    let runs = [first, first, second].map(|id| world.run_system(id).expect("it is there"));
    assert_eq!(runs, [1, 2, 1]);
}

#[test]
fn a_function_asked_for_by_itself_is_registered_once() {
    let mut world = World::new();
    assert_eq!(world.run_system_cached(count_runs).expect("it runs"), 1);
    assert_eq!(world.run_system_cached(count_runs).expect("it runs"), 2);
    let id = world.register_system_cached(count_runs);
    assert_eq!(world.run_system(id).expect("it is there"), 3);
    world.unregister_system_cached(count_runs).expect("it is there");
    assert_eq!(world.run_system_cached(count_runs).expect("it runs"), 1);
    assert!(world.run_system(id).is_err());
}

#[test]
fn commands_of_a_registered_system_are_applied_before_the_call_returns() {
    let mut world = World::new();
    let id = world.register_system(|In(count): In<usize>, mut commands: Commands| {
        commands.spawn_batch((0..count).map(|_| Unit));
    });
    world.run_system_with(id, 3).expect("it is there");
    assert_eq!(world.entities().len(), 3);
}

#[test]
fn a_system_cannot_run_inside_itself_and_runs_again_afterwards() {
    let mut world = World::new();
    let id = world.register_system(|world: &mut World| {
        let own = world.resource::<Own>().0;
        let error = world.run_system(own).expect_err("it runs at the moment");
        assert!(matches!(error, RegisteredSystemError::Recursive { .. }));
        let text = error.to_string();
        assert!(text.contains("a_system_cannot_run_inside_itself"), "it names the system: {text}");
        assert!(text.contains("runs at the moment: a system cannot run inside itself"), "{text}");
        assert!(matches!(world.unregister_system(own), Err(RegisteredSystemError::Recursive { .. })));
    });
    world.insert_resource(Own(id));
    world.run_system(id).expect("it is there");
    world.run_system(id).expect("it is there");
}

// As in bevy: commands are applied when the system is back in its place.
#[test]
fn commands_of_a_system_may_run_and_unregister_it() {
    fn count_down(In(left): In<u32>, own: Res<Downwards>, mut count: ResMut<Count>, mut commands: Commands) {
        count.0 += 1;
        match left {
            0 => commands.unregister_system(own.0),
            _ => commands.run_system_with(own.0, left - 1),
        }
    }
    #[derive(Resource)]
    struct Downwards(SystemId<In<u32>>);
    let mut world = World::new();
    world.init_resource::<Count>();
    let id = world.register_system(count_down);
    world.insert_resource(Downwards(id));
    world.run_system_with(id, 3).expect("it is there");
    assert_eq!(world.resource::<Count>().0, 4);
    assert!(matches!(world.run_system_with(id, 0), Err(RegisteredSystemError::NotRegistered { .. })));
}

#[test]
fn what_a_system_recorded_before_it_panicked_is_forgotten() {
    let mut world = World::new();
    let id = world.register_system(|In(panics): In<bool>, mut commands: Commands| {
        commands.spawn(Unit);
        assert!(!panics, "told to");
    });
    assert!(catch_unwind(AssertUnwindSafe(|| world.run_system_with(id, true))).is_err());
    world.run_system_with(id, false).expect("it is there");
    assert_eq!(world.view::<&Unit>().count(), 1);
}

// User code runs last: a system whose captures panic when dropped is gone nevertheless.
#[test]
fn a_system_whose_drop_panics_is_unregistered() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("told to");
        }
    }
    let mut world = World::new();
    let loud = Loud;
    let id = world.register_system(move || {
        let _ = &loud;
    });
    assert!(catch_unwind(AssertUnwindSafe(|| world.unregister_system(id))).is_err());
    assert!(matches!(world.run_system(id), Err(RegisteredSystemError::NotRegistered { .. })));
}

#[test]
fn what_is_unregistered_is_an_error_that_says_so() {
    let mut world = World::new();
    let id = world.register_system(|| ());
    world.unregister_system(id).expect("it is there");
    let error = world.run_system(id).expect_err("it is gone");
    assert!(error.to_string().contains("it was unregistered, or belongs to another world"), "{error}");
    let other = World::new().register_system(|| ());
    assert!(matches!(world.run_system(other), Err(RegisteredSystemError::NotRegistered { .. })));
}

#[test]
fn a_system_that_fails_or_panics_is_kept() {
    let mut world = World::new();
    let id = world.register_system(|mut count: ResMut<Count>| {
        count.0 += 1;
        assert!(count.0 != 1, "once");
    });
    let error = world.run_system(id).expect_err("the resource is missing");
    assert!(error.to_string().contains("Count"), "{error}");
    world.init_resource::<Count>();
    assert!(catch_unwind(AssertUnwindSafe(|| world.run_system(id))).is_err());
    world.run_system(id).expect("it is there");
    assert_eq!(world.resource::<Count>().0, 2);
}

#[test]
fn conflicting_parameters_are_an_error_each_time() {
    let mut world = World::new();
    world.init_resource::<Count>();
    let id = world.register_system(|_: Res<Count>, _: ResMut<Count>| ());
    for _ in 0..2 {
        assert!(matches!(world.run_system(id), Err(RegisteredSystemError::Failed(_))));
    }
}

#[test]
fn commands_register_run_and_unregister() {
    let mut world = World::new();
    world.init_resource::<Count>();
    let mut commands = world.commands();
    let id = commands.register_system(|In(by): In<u32>, mut count: ResMut<Count>| count.0 += by);
    commands.run_system_with(id, 2);
    commands.run_system_with(id, 3);
    commands.run_system_cached(|mut count: ResMut<Count>| count.0 += 10);
    commands.unregister_system(id);
    world.flush();
    assert_eq!(world.resource::<Count>().0, 15);
    assert!(world.run_system_with(id, 1).is_err());
}

#[test]
fn a_tracked_system_goes_with_its_last_handle_also_while_it_runs() {
    #[derive(Resource)]
    struct Holder(Option<SystemHandle>);
    let mut world = World::new();
    world.init_resource::<Count>();
    let handle = world.register_tracked_system(|mut holder: ResMut<Holder>, mut count: ResMut<Count>| {
        holder.0 = None;
        count.0 += 1;
    });
    let id = handle.id();
    world.insert_resource(Holder(Some(handle)));
    world.run_system(id).expect("it is held");
    assert!(matches!(world.run_system(id), Err(RegisteredSystemError::NotRegistered { .. })));
    assert_eq!(world.resource::<Count>().0, 1);
    // A handle may outlive its world.
    let handle = World::new().register_tracked_system(|| ());
    drop(handle);
}
