//! Component hooks, fact by fact: how they are declared, when they run, and what they may do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use phalanx::prelude::*;
use phalanx::world::SystemError;

#[derive(Resource, Default)]
struct Log(Vec<String>);

impl Log {
    fn take(world: &mut World) -> Vec<String> {
        std::mem::take(&mut world.resource_mut::<Log>().0)
    }
}

fn log(world: &mut DeferredWorld<'_>, line: impl Into<String>) {
    world.resource_mut::<Log>().0.push(line.into());
}

fn logging() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

fn text(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a panic with a text")).to_owned(),
    }
}

#[derive(Component, Debug, PartialEq)]
#[component(on_add, on_insert = inserted, on_discard = Self::discarded, on_remove = |mut world, _| log(&mut world, "remove"))]
#[component(on_despawn = despawned("despawn"))]
struct All(u32);

impl All {
    fn on_add(mut world: DeferredWorld<'_>, _: HookContext) {
        log(&mut world, "add");
    }
    fn discarded(mut world: DeferredWorld<'_>, context: HookContext) {
        let value = world.get::<All>(context.entity).expect("it is there still").0;
        log(&mut world, format!("discard {value}"));
    }
}

fn inserted(mut world: DeferredWorld<'_>, context: HookContext) {
    let value = world.get::<All>(context.entity).expect("it is there").0;
    log(&mut world, format!("insert {value}"));
}

fn despawned(what: &'static str) -> impl Fn(DeferredWorld<'_>, HookContext) {
    move |mut world, _| log(&mut world, what)
}

#[test]
fn a_component_declares_its_hooks_by_name_path_closure_call_or_alone() {
    let mut world = logging();
    let e = world.spawn(All(1)).id();
    assert_eq!(Log::take(&mut world), ["add", "insert 1"]);
    world.insert(e, All(2)).unwrap();
    assert_eq!(Log::take(&mut world), ["discard 1", "insert 2"]);
    world.remove::<All>(e).unwrap();
    assert_eq!(Log::take(&mut world), ["discard 2", "remove"]);
    world.insert(e, All(3)).unwrap();
    Log::take(&mut world);
    world.despawn(e);
    assert_eq!(Log::take(&mut world), ["despawn", "discard 3", "remove"]);
}

#[test]
fn declared_hooks_of_a_component_that_merged_commands_bring_first_are_called() {
    #[derive(Component)]
    #[component(on_add = |mut world, context| { world.commands().entity(context.entity).insert(Heard); })]
    struct Bell;
    #[derive(Component)]
    struct Heard;
    #[derive(Component)]
    struct Other;
    let mut world = World::new();
    let entity = world.commands().spawn(Other).insert(Bell).id();
    world.flush();
    assert!(world.get::<Heard>(entity).is_some());
}

#[test]
fn a_second_hook_for_the_same_event_is_an_error_that_names_both() {
    let mut world = logging();
    let second = catch_unwind(AssertUnwindSafe(|| {
        world.register_component_hooks::<All>().on_insert(|_, _| {});
    }));
    let message = text(second.expect_err("it has one already"));
    assert!(message.contains("All") && message.contains("`Insert`"), "{message}");
    assert!(message.contains("`inserted`") && message.contains("hooks.rs"), "{message}");
    assert!(world.register_component_hooks::<All>().try_on_remove(|_, _| {}).is_none());
    world.spawn(All(1));
    assert_eq!(Log::take(&mut world), ["add", "insert 1"]);
}

#[derive(Component)]
struct Plain(u32);
#[derive(Component, Default)]
struct Other;

#[test]
fn hooks_that_are_registered_late_hear_of_what_comes_after() {
    let mut world = logging();
    let early = world.spawn(Plain(1)).id();
    // The cursor is open, and the edges are known.
    world.spawn(Plain(2));
    world.insert(early, Other).unwrap();
    world.remove::<Plain>(early).unwrap();
    world.insert(early, Plain(3)).unwrap();
    world
        .register_component_hooks::<Plain>()
        .on_add(|mut world, _| log(&mut world, "add"))
        .on_remove(|mut world, _| log(&mut world, "remove"));
    assert!(Log::take(&mut world).is_empty());
    world.spawn(Plain(4));
    world.remove::<Plain>(early).unwrap();
    world.insert(early, Plain(5)).unwrap();
    assert_eq!(Log::take(&mut world), ["add", "remove", "add"]);
}

#[test]
fn a_hook_queues_commands_that_are_applied_when_the_change_is_complete() {
    #[derive(Component)]
    #[component(on_add = attach)]
    struct Ship;
    fn attach(mut world: DeferredWorld<'_>, context: HookContext) {
        assert!(world.get::<Other>(context.entity).is_none());
        world.commands().entity(context.entity).insert(Other);
        let sail = world.commands().spawn(Plain(9)).id();
        assert!(world.get::<Plain>(sail).is_none());
    }
    let mut world = World::new();
    world.commands().spawn(Plain(1));
    let ship = world.spawn(Ship).id();
    assert!(world.get::<Other>(ship).is_some());
    let all: Vec<u32> = world.query::<&Plain>().iter(&world).map(|plain| plain.0).collect();
    assert_eq!(all, [9], "what waited before waits still");
    world.flush();
    assert_eq!(world.query::<&Plain>().iter(&world).count(), 2);
}

#[test]
fn a_hook_that_panics_keeps_no_other_from_running_and_the_change_from_nothing() {
    #[derive(Component)]
    #[component(on_add = |_, _| panic!("no greeting"), on_insert = |mut world, _| log(&mut world, "insert"))]
    struct Grim;
    let mut world = logging();
    let errors = errors(&mut world);
    let grim = world.spawn((Grim, Plain(3))).id();
    assert_eq!(Log::take(&mut world), ["insert"]);
    assert_eq!(world.get::<Plain>(grim).map(|plain| plain.0), Some(3));
    let errors = errors.lock().unwrap();
    assert!(errors[0].contains("hook `Add of ") && errors[0].contains("no greeting"), "{errors:?}");
    world.check().unwrap();
}

fn errors(world: &mut World) -> Arc<Mutex<Vec<String>>> {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let into = errors.clone();
    world.set_error_handler(move |_: &mut World, error: SystemError| {
        into.lock().expect("not poisoned").push(error.to_string());
    });
    errors
}

#[test]
fn without_a_handler_the_panic_of_a_hook_is_passed_on_when_the_change_is_complete() {
    #[derive(Component)]
    #[component(on_remove = |_, _| panic!("it clings"))]
    struct Grim;
    let mut world = World::new();
    let grim = world.spawn((Grim, Plain(1))).id();
    let outcome = catch_unwind(AssertUnwindSafe(|| world.remove::<Grim>(grim)));
    let message = text(outcome.expect_err("the hook panics"));
    assert!(message.contains("it clings") && message.contains("Grim"), "{message}");
    assert!(world.get::<Grim>(grim).is_none());
    world.check().unwrap();
}

#[test]
fn hooks_that_cause_one_another_without_end_are_an_error_that_names_them() {
    #[derive(Component)]
    #[component(on_add = |mut world, context| { world.commands().entity(context.entity).remove::<Ping>().insert(Pong); })]
    struct Ping;
    #[derive(Component)]
    #[component(on_add = |mut world, context| { world.commands().entity(context.entity).remove::<Pong>().insert(Ping); })]
    struct Pong;
    let mut world = World::new();
    let errors = errors(&mut world);
    let e = world.spawn(Ping).id();
    let errors = errors.lock().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].contains("65 events") && errors[0].contains("Ping") && errors[0].contains("Pong"),
        "{errors:?}"
    );
    assert!(world.contains(e));
    world.check().unwrap();
}
