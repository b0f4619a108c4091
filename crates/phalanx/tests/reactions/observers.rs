//! Observers, fact by fact: what they are called for, in which order, and what they may do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use phalanx::event::Traversal;
use phalanx::prelude::*;
use phalanx::world::SystemError;

#[derive(Resource, Default, Debug, PartialEq)]
struct Log(Vec<String>);

impl Log {
    fn take(world: &mut World) -> Vec<String> {
        std::mem::take(&mut world.resource_mut::<Log>().0)
    }
}

#[derive(Component, Debug, PartialEq, Default)]
struct A(u32);
#[derive(Component, Debug, PartialEq, Default)]
struct B(u32);
#[derive(Component, Debug, PartialEq, Default)]
#[component(storage = "sparse")]
struct S(u32);

fn logging() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

fn errors(world: &mut World) -> Arc<Mutex<Vec<String>>> {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let into = errors.clone();
    world.set_error_handler(move |_: &mut World, error: SystemError| {
        into.lock().expect("not poisoned").push(error.to_string());
    });
    errors
}

macro_rules! log {
    ($event:ty, $text:expr) => {
        |_: On<$event>, mut log: ResMut<Log>| log.0.push($text.to_owned())
    };
}

#[test]
fn observers_hear_of_a_component_from_its_first_value_to_its_end() {
    let mut world = logging();
    world.add_observer(log!(Add<A>, "add"));
    world.add_observer(|on: On<Insert<A>>, all: Query<&A>, mut log: ResMut<Log>| {
        log.0.push(format!("insert {}", all.get(on.entity).unwrap().0));
    });
    world.add_observer(|on: On<Discard<A>>, all: Query<&A>, mut log: ResMut<Log>| {
        log.0.push(format!("discard {}", all.get(on.entity).unwrap().0));
    });
    world.add_observer(log!(Remove<A>, "remove"));
    world.add_observer(log!(Despawn<A>, "despawn"));
    let e = world.spawn(A(1)).id();
    world.insert(e, A(2)).unwrap();
    world.remove::<A>(e).unwrap();
    assert_eq!(Log::take(&mut world), ["add", "insert 1", "discard 1", "insert 2", "discard 2", "remove"]);
    world.insert(e, A(3)).unwrap();
    Log::take(&mut world);
    world.despawn(e);
    assert_eq!(Log::take(&mut world), ["despawn", "discard 3", "remove"]);
}

// Hazard 65.
#[test]
fn a_component_is_added_before_it_is_inserted_and_both_see_its_value() {
    let mut world = logging();
    world.add_observer(|on: On<Insert<S>>, all: Query<&S>, mut log: ResMut<Log>| {
        log.0.push(format!("insert {}", all.get(on.entity).unwrap().0));
    });
    world.add_observer(|on: On<Add<S>>, all: Query<&S>, mut log: ResMut<Log>| {
        log.0.push(format!("add {}", all.get(on.entity).unwrap().0));
    });
    world.spawn((A(1), S(7)));
    assert_eq!(Log::take(&mut world), ["add 7", "insert 7"]);
}

// Hazard 66.
#[test]
fn replacing_a_value_discards_the_old_one_once_while_it_can_be_read() {
    let mut world = logging();
    world.add_observer(|on: On<Discard<(A, S)>>, all: Query<(&A, &S)>, mut log: ResMut<Log>| {
        let (a, s) = all.get(on.entity).unwrap();
        log.0.push(format!("{} {} of {}", a.0, s.0, on.trigger().components().count()));
    });
    let e = world.spawn((A(1), S(2))).id();
    world.insert(e, (A(3), S(4))).unwrap();
    world.commands().entity(e).insert(A(5)).insert(S(6));
    world.flush();
    assert_eq!(Log::take(&mut world), ["1 2 of 2", "3 4 of 2"]);
}

#[test]
fn hooks_come_before_observers_on_the_way_in_and_after_them_on_the_way_out() {
    let mut world = logging();
    world.add_observer(log!(Insert<A>, "first"));
    world.add_observer(log!(Insert<A>, "second"));
    world.add_observer(log!(Discard<A>, "first"));
    world.add_observer(log!(Discard<A>, "second"));
    world
        .register_component_hooks::<A>()
        .on_insert(|mut world, _| world.resource_mut::<Log>().0.push("hook".into()))
        .on_discard(|mut world, _| world.resource_mut::<Log>().0.push("hook".into()));
    let e = world.spawn(A(1)).id();
    assert_eq!(Log::take(&mut world), ["hook", "first", "second"]);
    world.despawn(e);
    assert_eq!(Log::take(&mut world), ["second", "first", "hook"]);
}

#[test]
fn one_entity_that_gets_five_components_in_a_flush_is_announced_after_one_move() {
    let mut world = logging();
    world.register_component::<A>();
    world.register_component::<B>();
    world.add_observer(|on: On<Add<(A, B, S)>>, all: Query<(&A, &B, &S)>, mut log: ResMut<Log>| {
        assert!(all.get(on.entity).is_ok(), "everything is there");
        let ids: Vec<_> = on.trigger().components().collect();
        assert!(ids.is_sorted());
        log.0.push(format!("{} at once", ids.len()));
    });
    let e = world.commands().spawn(S(1)).insert(B(2)).insert(A(3)).id();
    world.flush();
    assert_eq!(Log::take(&mut world), ["3 at once"]);
    world.commands().entity(e).remove::<A>().insert(A(4));
    world.flush();
    assert!(Log::take(&mut world).is_empty(), "it was replaced, and not added");
    let gone = world.commands().spawn(A(1)).remove::<A>().id();
    world.flush();
    assert!(world.contains(gone) && Log::take(&mut world).is_empty(), "what cancels out is not announced");
}

#[test]
fn observers_run_in_the_order_of_registration_unless_told_otherwise() {
    fn one(_: On<Add<A>>, mut log: ResMut<Log>) {
        log.0.push("one".into());
    }
    fn two(_: On<Add<A>>, mut log: ResMut<Log>) {
        log.0.push("two".into());
    }
    fn three(_: On<Add<A>>, mut log: ResMut<Log>) {
        log.0.push("three".into());
    }
    let mut world = logging();
    world.add_observer(Observer::new(one).after(three));
    world.add_observer(two);
    world.add_observer(Observer::new(three).before(two));
    world.spawn(A(1));
    assert_eq!(Log::take(&mut world), ["three", "one", "two"]);
    let cycle = catch_unwind(AssertUnwindSafe(|| {
        world.add_observer(Observer::new(|_: On<Add<A>>| {}).before(three).after(one));
    }));
    let message = *cycle.expect_err("it goes in a circle").downcast::<String>().unwrap();
    assert!(message.contains("one") && message.contains("three"), "{message}");
    world.spawn(A(2));
    assert_eq!(Log::take(&mut world), ["three", "one", "two"]);
}

#[test]
fn chained_observers_follow_one_another_wherever_the_first_one_has_to_stand() {
    fn first(_: On<Add<A>>, mut log: ResMut<Log>) {
        log.0.push("first".into());
    }
    let mut world = logging();
    world.add_observers(observers((first, log!(Add<A>, "second"), log!(Add<A>, "third"))).chain());
    // Without the chain, the others would run while the first one waits.
    world.add_observer(Observer::new(log!(Add<A>, "before all")).before(first));
    world.spawn(A(1));
    assert_eq!(Log::take(&mut world), ["before all", "first", "second", "third"]);
}

#[test]
fn an_observer_with_a_condition_runs_when_it_holds() {
    #[derive(Resource)]
    struct Open(bool);
    let mut world = logging();
    world.insert_resource(Open(false));
    world.add_observer(Observer::new(log!(Add<A>, "in")).run_if(|open: Res<Open>| open.0));
    world.spawn(A(1));
    assert!(Log::take(&mut world).is_empty());
    world.resource_mut::<Open>().0 = true;
    world.spawn(A(1));
    assert_eq!(Log::take(&mut world), ["in"]);
}

#[test]
fn an_observer_of_an_entity_hears_of_no_other_and_goes_with_it() {
    let mut world = logging();
    let mine = world.spawn(A(1)).observe(log!(Remove<A>, "mine")).id();
    let other = world.spawn(A(2)).id();
    assert_eq!(world.observer_count(), 1);
    world.remove::<A>(other).unwrap();
    assert!(Log::take(&mut world).is_empty());
    world.insert(other, A(2)).unwrap();
    world.despawn(mine);
    assert_eq!(Log::take(&mut world), ["mine"]);
    assert_eq!(world.observer_count(), 0);
    let both = Observer::new(log!(Remove<A>, "both")).with_entities([other, mine]);
    world.add_observer(both);
    world.despawn(other);
    assert_eq!(Log::take(&mut world), ["both"]);
}

#[test]
fn run_time_components_are_observed_by_their_id_and_all_components_by_none() {
    let mut world = logging();
    let mana = world.register_dynamic(Schema::new("mana").field("amount", FieldType::F32)).unwrap();
    world.add_observer(Observer::new(log!(Add<()>, "mana")).with_component(mana));
    let all = world.add_observer(log!(Add<()>, "any"));
    let e = world.spawn(A(1)).id();
    assert_eq!(Log::take(&mut world), ["any"]);
    world.insert_dynamic(e, mana, &[]).unwrap();
    assert_eq!(Log::take(&mut world), ["mana", "any"]);
    #[derive(Component)]
    struct New;
    world.insert(e, New).unwrap();
    assert_eq!(Log::take(&mut world), ["any"]);
    assert!(world.remove_observer(all) && !world.remove_observer(all));
    world.spawn((A(1), New));
    assert!(Log::take(&mut world).is_empty());
}

#[test]
fn an_observer_of_several_components_is_called_once_for_a_change_of_many() {
    let mut world = logging();
    world.add_observer(log!(Add<(A, B)>, "any of both"));
    let e = world.spawn((A(1), B(2))).id();
    assert_eq!(Log::take(&mut world), ["any of both"]);
    world.remove::<(A, B)>(e).unwrap();
    world.insert(e, B(1)).unwrap();
    assert_eq!(Log::take(&mut world), ["any of both"]);
}

#[derive(Event, Debug)]
struct Dawn {
    bright: u32,
}

#[derive(EntityEvent)]
struct Opened {
    #[event_target]
    door: Entity,
}

#[test]
fn a_triggered_event_reaches_its_observers_and_may_be_written_on_the_way() {
    let mut world = logging();
    world.add_observer(|mut on: On<Dawn>| on.bright += 1);
    world.add_observer(|on: On<Dawn>, mut log: ResMut<Log>| log.0.push(format!("{}", on.event().bright)));
    world.trigger(Dawn { bright: 1 });
    assert_eq!(Log::take(&mut world), ["2"]);
    let mut event = Dawn { bright: 5 };
    world.trigger_ref(&mut event);
    assert_eq!(event.bright, 6);
    world.commands().trigger(Dawn { bright: 8 });
    world.flush();
    assert_eq!(Log::take(&mut world), ["6", "9"]);
}

#[test]
fn an_event_of_an_entity_reaches_observers_of_all_and_of_that_entity() {
    let mut world = logging();
    let door = world.spawn_empty().id();
    world.commands().entity(door).observe(log!(Opened, "this door"));
    world.flush();
    world.add_observer(log!(Opened, "a door"));
    let other = world.spawn_empty().id();
    world.trigger(Opened { door: other });
    world.entity_mut(door).trigger(|door| Opened { door });
    world.commands().entity(door).trigger(|door| Opened { door });
    world.flush();
    let heard = ["a door", "this door", "a door", "this door", "a door"];
    assert_eq!(Log::take(&mut world), heard);
}

#[derive(Component)]
struct Owner(Entity);
struct ToOwner;
impl<E> Traversal<E> for ToOwner {
    fn traverse(world: &World, from: Entity, _: &E) -> Option<Entity> {
        world.get::<Owner>(from).map(|owner| owner.0)
    }
}
#[derive(EntityEvent)]
#[entity_event(propagate = ToOwner)]
struct Called {
    entity: Entity,
}
#[derive(EntityEvent)]
#[entity_event(propagate = ToOwner, auto_propagate)]
struct Passed(Entity);

#[test]
fn an_event_propagates_as_far_as_observers_let_it() {
    let mut world = logging();
    let top = world.spawn_empty().id();
    let middle = world.spawn(Owner(top)).id();
    let low = world.spawn(Owner(middle)).id();
    world.add_observer(move |mut on: On<Called>, mut log: ResMut<Log>| {
        assert_eq!(on.original_event_target(), low);
        log.0.push(format!("{}", on.entity == low));
        let goes_on = on.entity == low;
        on.propagate(goes_on);
        assert_eq!(on.get_propagate(), goes_on);
    });
    world.trigger(Called { entity: low });
    assert_eq!(Log::take(&mut world), ["true", "false"]);
    world.entity_mut(top).observe(log!(Passed, "arrived"));
    world.trigger(Passed(low));
    assert_eq!(Log::take(&mut world), ["arrived"]);
}

// Hazard 68.
#[test]
fn propagation_goes_along_the_relation_as_it_was_and_a_circle_is_an_error() {
    let mut world = logging();
    let errors = errors(&mut world);
    let top = world.spawn_empty().id();
    let low = world.spawn(Owner(top)).id();
    world.entity_mut(low).observe(move |on: On<Passed>, mut commands: Commands, mut log: ResMut<Log>| {
        log.0.push("low".into());
        commands.entity(on.0).remove::<Owner>();
        commands.entity(top).despawn();
    });
    world.entity_mut(top).observe(log!(Passed, "top"));
    world.trigger(Passed(low));
    assert_eq!(Log::take(&mut world), ["low", "top"]);
    assert!(!world.contains(top));
    let (a, b) = (world.spawn_empty().id(), world.spawn_empty().id());
    world.insert(a, Owner(b)).unwrap();
    world.insert(b, Owner(a)).unwrap();
    world.trigger(Passed(a));
    let errors = errors.lock().unwrap();
    assert!(errors.len() == 1 && errors[0].contains("circle"), "{errors:?}");
}

// Hazard 61.
#[test]
fn all_observers_of_a_change_run_though_the_first_one_despawns_the_target() {
    let mut world = logging();
    world.add_observer(|on: On<Add<A>>, mut commands: Commands, mut log: ResMut<Log>| {
        log.0.push("first".into());
        commands.entity(on.entity).despawn();
    });
    world.add_observer(|on: On<Add<A>>, all: Query<&A>, mut log: ResMut<Log>| {
        log.0.push(format!("second {}", all.get(on.entity).is_ok()));
    });
    world.add_observer(|on: On<Insert<A>>, mut commands: Commands, mut log: ResMut<Log>| {
        log.0.push("third".into());
        commands.entity(on.entity).insert(B(1));
    });
    let e = world.spawn(A(1)).id();
    assert_eq!(Log::take(&mut world), ["first", "second true", "third"]);
    assert!(!world.contains(e));
    world.check().unwrap();
}

// Hazard 62.
#[test]
fn an_observer_of_a_batch_may_spawn_into_the_same_table() {
    let mut world = logging();
    world.add_observer(|on: On<Add<A>>, all: Query<&A>, mut commands: Commands| {
        let n = all.get(on.entity).unwrap().0;
        if n > 0 {
            commands.spawn(A(n - 1));
        }
    });
    let spawned: Vec<Entity> = world.spawn_batch((0..4).map(A)).collect();
    assert_eq!(spawned.len(), 4);
    assert_eq!(world.query::<&A>().iter(&world).count(), 4 + 3 + 2 + 1);
    let found = spawned.iter().map(|&entity| world.get::<A>(entity).unwrap().0);
    assert_eq!(found.collect::<Vec<_>>(), [0, 1, 2, 3]);
    world.check().unwrap();
}

#[test]
fn a_batched_observer_is_called_once_for_a_run_and_sees_all_of_it() {
    let mut world = logging();
    world.add_observer(
        Observer::new(|on: On<Insert<A>>, all: Query<&A>, mut log: ResMut<Log>| {
            let sum: u32 = on.entities().iter().map(|&entity| all.get(entity).unwrap().0).sum();
            log.0.push(format!("{} with {sum}", on.entities().len()));
        })
        .batched(),
    );
    world.add_observer(|on: On<Add<A>>, mut log: ResMut<Log>| {
        log.0.push(format!("one of {}", on.entities().len()));
    });
    world.spawn_batch((1..4).map(A));
    assert_eq!(Log::take(&mut world), ["one of 1", "one of 1", "one of 1", "3 with 6"]);
    world.spawn_batch([A(9)]);
    world.spawn_batch((1..3).map(|n| (A(n), S(n))));
    assert_eq!(Log::take(&mut world), ["one of 1", "1 with 9", "one of 1", "one of 1", "2 with 3"]);
}

// Hazard 63.
#[test]
fn an_observer_may_end_itself_or_the_component_it_hears_of() {
    let mut world = logging();
    world.add_observer(|on: On<Add<A>>, mut commands: Commands, mut log: ResMut<Log>| {
        log.0.push("once".into());
        commands.remove_observer(on.observer());
        commands.entity(on.entity).remove::<A>();
    });
    let e = world.spawn(A(1)).id();
    assert!(world.get::<A>(e).is_none());
    assert_eq!(world.observer_count(), 0);
    world.insert(e, A(2)).unwrap();
    assert_eq!(world.get::<A>(e), Some(&A(2)));
    assert_eq!(Log::take(&mut world), ["once"]);
}

// Hazard 67.
#[test]
fn events_that_trigger_one_another_without_end_are_an_error_that_names_them() {
    #[derive(Event)]
    struct Ping;
    #[derive(Event)]
    struct Pong;
    let mut world = logging();
    let errors = errors(&mut world);
    world.add_observer(|_: On<Ping>, mut commands: Commands| commands.trigger(Pong));
    world.add_observer(|_: On<Pong>, mut commands: Commands| commands.trigger(Ping));
    world.trigger(Ping);
    let errors = errors.lock().unwrap();
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].contains("Ping") && errors[0].contains("Pong") && errors[0].contains("65"),
        "{errors:?}"
    );
}

// Hazard 69.
#[test]
fn an_observer_that_panics_keeps_no_other_from_running_and_is_named() {
    fn grim(_: On<Add<A>>, mut commands: Commands) {
        commands.spawn(B(1));
        panic!("no");
    }
    let mut world = logging();
    let errors = errors(&mut world);
    world.add_observer(grim);
    world.add_observer(log!(Add<A>, "second"));
    let e = world.spawn(A(1)).id();
    assert_eq!(Log::take(&mut world), ["second"]);
    assert_eq!(world.get::<A>(e), Some(&A(1)));
    assert_eq!(world.query::<&B>().iter(&world).count(), 0, "what it queued is forgotten");
    world.spawn(A(2));
    assert_eq!(Log::take(&mut world), ["second"]);
    let errors = errors.lock().unwrap();
    assert_eq!(errors.len(), 2);
    assert!(
        errors[0].contains("observer `") && errors[0].contains("grim") && errors[0].contains("no"),
        "{errors:?}"
    );
    world.check().unwrap();
}

#[test]
fn an_observer_that_returns_an_error_or_lacks_a_parameter_is_named() {
    #[derive(Resource)]
    struct Missing;
    let mut world = logging();
    let errors = errors(&mut world);
    world.add_observer(|_: On<Dawn>| -> Result<(), &'static str> { Err("too dark") });
    world.add_observer(|_: On<Dawn>, _: Res<Missing>| {});
    world.trigger(Dawn { bright: 0 });
    let errors = errors.lock().unwrap();
    assert!(errors[0].contains("too dark") && errors[1].contains("Missing"), "{errors:?}");
}

#[test]
fn a_function_that_takes_the_whole_world_is_refused() {
    let mut world = World::new();
    let refused = catch_unwind(AssertUnwindSafe(|| {
        world.add_observer(|_: On<Dawn>, _: Query<&mut A>, _: Query<&mut A>| {});
    }));
    let message = *refused.expect_err("the queries conflict").downcast::<String>().unwrap();
    assert!(message.contains("A"), "{message}");
}

// Hazard 70.
#[test]
fn a_component_gets_its_first_listener_between_commands_that_spawn_it() {
    let mut world = logging();
    world.spawn(A(0));
    world.spawn(A(0));
    let mut commands = world.commands();
    commands.spawn_batch((0..3).map(A));
    commands.spawn(A(3)).insert(B(1));
    commands.queue(|world: &mut World| {
        world.add_observer(log!(Add<A>, "add"));
    });
    commands.spawn_batch((0..2).map(A));
    commands.spawn(A(4));
    commands.spawn(A(5)).insert(B(2));
    world.flush();
    assert_eq!(Log::take(&mut world).len(), 4);
    assert_eq!(world.query::<&A>().iter(&world).count(), 2 + 3 + 1 + 4);
    world.check().unwrap();
}

#[test]
fn commands_of_observers_are_applied_before_the_next_change_of_the_same_flush() {
    let mut world = logging();
    world.add_observer(|on: On<Add<A>>, mut commands: Commands| {
        commands.entity(on.entity).insert(B(7));
    });
    world.add_observer(|on: On<Add<S>>, all: Query<&B>, mut log: ResMut<Log>| {
        let _ = on;
        log.0.push(format!("{} have B", all.iter().count()));
    });
    let mut commands = world.commands();
    commands.spawn(A(1));
    commands.spawn(S(1));
    commands.spawn(A(2));
    commands.spawn(S(2));
    world.flush();
    assert_eq!(Log::take(&mut world), ["1 have B", "2 have B"]);
}

#[test]
fn a_hook_triggers_an_event_at_once() {
    #[derive(Component)]
    #[component(on_add = |mut world, _| {
        world.trigger(Dawn { bright: 3 });
        world.resource_mut::<Log>().0.push("hook".into());
    })]
    struct Sun;
    let mut world = logging();
    world.add_observer(|on: On<Dawn>, mut commands: Commands, mut log: ResMut<Log>| {
        log.0.push(format!("dawn {}", on.bright));
        commands.spawn(A(1));
    });
    world.add_observer(|_: On<Insert<Sun>>, all: Query<&A>, mut log: ResMut<Log>| {
        log.0.push(format!("{} before the change is complete", all.iter().count()));
    });
    world.spawn(Sun);
    assert_eq!(Log::take(&mut world), ["dawn 3", "hook", "0 before the change is complete"]);
    assert_eq!(world.query::<&A>().iter(&world).count(), 1);
}

#[test]
fn an_observer_that_is_called_inside_itself_is_an_error() {
    #[derive(Component)]
    #[component(on_add = |mut world, _| world.trigger(Dawn { bright: 0 }))]
    struct Sun;
    let mut world = logging();
    world.add_observer(|_: On<Dawn>, mut commands: Commands, all: Query<&Sun>| {
        if all.iter().count() < 3 {
            commands.spawn(Sun);
        }
    });
    world.spawn(Sun);
    assert_eq!(world.query::<&Sun>().iter(&world).count(), 3);
}

#[test]
fn an_event_by_its_key_is_heard_as_one_by_its_type() {
    use phalanx::event::{EntityComponentsTrigger, EntityTrigger, EventKey, GlobalTrigger};
    use phalanx::lifecycle::AddEvent;

    #[derive(Event)]
    struct Bell;
    #[derive(EntityEvent)]
    struct Knock {
        entity: Entity,
    }
    let mut world = World::new();
    world.init_resource::<Log>();
    let say = |text: &'static str| move |log: &mut Log| log.0.push(text.to_owned());
    let (all, one, other) = (say("all"), say("one"), say("other"));
    world.add_observer(move |_: On<Knock>, mut log: ResMut<Log>| all(&mut log));
    let [a, b] = [world.spawn(A(1)).id(), world.spawn(A(2)).id()];
    world.entity_mut(a).observe(move |_: On<Knock>, mut log: ResMut<Log>, mut commands: Commands| {
        one(&mut log);
        commands.spawn(B(7));
    });
    world.entity_mut(b).observe(move |_: On<Knock>, mut log: ResMut<Log>| other(&mut log));
    let key = EventKey::of::<Knock>();
    world.trigger_dynamic_targets(key, a, &mut Knock { entity: a }, &mut EntityTrigger).unwrap();
    assert_eq!(Log::take(&mut world), ["all", "one"]);
    assert_eq!(world.query::<&B>().iter(&world).count(), 1, "what observers queue is applied");
    world.trigger_dynamic(key, &mut Knock { entity: a }, &mut EntityTrigger).unwrap();
    assert_eq!(Log::take(&mut world), ["all"], "observers of entities hear nothing");

    let error = world.trigger_dynamic(key, &mut Bell, &mut GlobalTrigger).unwrap_err();
    assert!(!error.is_trigger && error.to_string().ends_with("Knock`, for which the key stands"), "{error}");
    let error = world.trigger_dynamic(key, &mut Knock { entity: a }, &mut GlobalTrigger).unwrap_err();
    assert!(error.is_trigger && error.to_string().starts_with("the trigger is not that of `"), "{error}");
    assert_eq!(Log::take(&mut world), [""; 0], "no observer is called for another type");

    let (of_a, of_b, any) = (say("A"), say("B"), say("any"));
    world.add_observer(move |_: On<Add<A>>, mut log: ResMut<Log>| of_a(&mut log));
    world.add_observer(move |_: On<Add<B>>, mut log: ResMut<Log>| of_b(&mut log));
    world.add_observer(move |on: On<Add<()>>, mut log: ResMut<Log>| {
        assert_eq!(on.trigger().entities().len(), 1);
        any(&mut log);
    });
    let (key, id) = (EventKey::of::<AddEvent>(), world.component_id::<A>().unwrap());
    let mut trigger = EntityComponentsTrigger::new(a, &[id]);
    let mut event = AddEvent { entity: a };
    world.trigger_dynamic_targets_components(key, a, &[id], &mut event, &mut trigger).unwrap();
    assert_eq!(Log::take(&mut world), ["A", "any"]);
    world.trigger_dynamic_targets(key, a, &mut event, &mut trigger).unwrap();
    assert_eq!(Log::take(&mut world), ["any"], "no component is named");
}

#[test]
fn the_list_of_observers_tells_what_each_observes() {
    let mut world = World::new();
    let entity = world.spawn(A(1)).id();
    let first = world.add_observer(Observer::new(|_: On<Add<A>>| {}));
    let gone = world.add_observer(Observer::new(|_: On<Add<B>>| {}));
    world.remove_observer(gone);
    let second = world.add_observer(Observer::new(|_: On<Called>| {}).with_entity(entity));
    let told: Vec<_> = world.observers().collect();
    assert_eq!(told.iter().map(phalanx::observer::ObserverInfo::id).collect::<Vec<_>>(), [first, second]);
    assert_eq!(told[0].components().collect::<Vec<_>>(), [world.component_id::<A>().unwrap()]);
    assert!(told[0].entities().is_empty() && told[1].components().next().is_none());
    assert_eq!(told[1].entities(), [entity]);
    assert_eq!(told[1].event_key(), phalanx::event::EventKey::of::<Called>());
    assert!(told[1].event_key().name().ends_with("Called") && !told[1].name().is_empty());
}

#[test]
fn observers_of_all_components_hear_only_of_what_happens() {
    let mut world = logging();
    macro_rules! log_all {
        ($($event:ident)*) => {$(
            world.add_observer(|on: On<$event<()>>, mut log: ResMut<Log>| {
                log.0.push(format!("{} {}", stringify!($event), on.trigger().components().count()));
            });
        )*};
    }
    log_all!(Add Insert Discard Remove Despawn);
    // Each change twice: what it announces is kept from the first time on.
    for _ in 0..2 {
        let e = world.spawn(A(1)).id();
        assert_eq!(Log::take(&mut world), ["Add 1", "Insert 1"]);
        world.insert(e, A(2)).unwrap();
        assert_eq!(Log::take(&mut world), ["Discard 1", "Insert 1"]);
        world.entity_mut(e).insert_if_new(A(3));
        world.remove::<B>(e).unwrap();
        assert_eq!(Log::take(&mut world), <[String; 0]>::default(), "nothing came or went");
        world.insert(e, (A(4), B(1))).unwrap();
        assert_eq!(Log::take(&mut world), ["Discard 1", "Add 1", "Insert 2"]);
        world.remove::<B>(e).unwrap();
        assert_eq!(Log::take(&mut world), ["Discard 1", "Remove 1"]);
        world.despawn(e);
        assert_eq!(Log::take(&mut world), ["Despawn 1", "Discard 1", "Remove 1"]);
    }
}
