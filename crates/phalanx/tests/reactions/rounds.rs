//! Announcements as a whole: what a panic leaves behind, which listeners a run of entities reaches, how deep reactions
//! may go.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::event::{Traversal, Trigger};
use phalanx::prelude::*;

#[derive(Component, Debug, PartialEq, Clone)]
#[component(track = "row")]
struct Health(u32);
#[derive(Component)]
struct Marked;

#[derive(Resource, Default)]
struct Log(Vec<String>);

fn logging() -> World {
    let mut world = World::new();
    world.init_resource::<Log>();
    world
}

fn taken(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.resource_mut::<Log>().0)
}

struct Broken;
impl<E> Traversal<E> for Broken {
    fn traverse(_: &World, _: Entity, _: &E) -> Option<Entity> {
        panic!("no way on")
    }
}
#[derive(EntityEvent)]
#[entity_event(propagate = Broken, auto_propagate)]
struct Passed {
    entity: Entity,
}

#[derive(Default)]
struct BrokenTrigger;
struct Thrown;
impl Event for Thrown {
    type Trigger = BrokenTrigger;
}
impl Trigger<Thrown> for BrokenTrigger {
    fn trigger(&mut self, _: &mut World, _: &mut Thrown) {
        panic!("no observer is called")
    }
}

/// Gives an entity a mark and takes it back, as often as it takes until what is announced is known; then once more.
fn marked_again(world: &mut World, entity: Entity) -> Vec<String> {
    for _ in 0..3 {
        taken(world);
        world.insert(entity, Marked).expect("alive");
        world.remove::<Marked>(entity).expect("alive");
    }
    taken(world)
}

#[test]
fn a_change_that_was_made_before_reaches_the_listeners_of_now() {
    fn first(_: On<Add<Marked>>, mut log: ResMut<Log>) {
        log.0.push("first".into());
    }
    let mut world = logging();
    let (e, other) = (world.spawn(Health(1)).id(), world.spawn(Health(2)).id());
    let added = world.add_observer(first);
    assert_eq!(marked_again(&mut world, e), ["first"]);
    // Observers of other events, before others, of matches and of single entities.
    let removed =
        world.add_observer(|_: On<Remove<Marked>>, mut log: ResMut<Log>| log.0.push("remove".into()));
    assert_eq!(marked_again(&mut world, e), ["first", "remove"]);
    let zeroth = |_: On<Add<Marked>>, mut log: ResMut<Log>| log.0.push("zeroth".into());
    let before = world.add_observer(Observer::new(zeroth).before(first));
    assert_eq!(marked_again(&mut world, e), ["zeroth", "first", "remove"]);
    let matched = |_: On<Matched<&Health, With<Marked>>>, mut log: ResMut<Log>| log.0.push("matched".into());
    let matched = world.add_observer(matched);
    assert_eq!(marked_again(&mut world, e), ["zeroth", "first", "matched", "remove"]);
    world.entity_mut(e).observe(|_: On<Add<Marked>>, mut log: ResMut<Log>| log.0.push("mine".into()));
    assert_eq!(marked_again(&mut world, e), ["zeroth", "first", "mine", "matched", "remove"]);
    assert_eq!(marked_again(&mut world, other), ["zeroth", "first", "matched", "remove"]);
    // Readers and sets.
    let gone = world.register_system(|mut gone: RemovedComponents<Marked>| gone.read().count());
    let set = world.register_system(|mut set: Reactive<Add<Marked>>| set.read().count());
    assert_eq!((world.run_system(gone).unwrap(), world.run_system(set).unwrap()), (0, 0));
    marked_again(&mut world, other);
    assert_eq!((world.run_system(gone).unwrap(), world.run_system(set).unwrap()), (3, 1));
    // A hook, and listeners that went.
    world.register_component_hooks::<Marked>().on_add(|mut world, _| {
        world.resource_mut::<Log>().0.push("hook".into());
    });
    assert_eq!(marked_again(&mut world, other), ["hook", "zeroth", "first", "matched", "remove"]);
    for id in [added, removed, before, matched] {
        assert!(world.remove_observer(id));
    }
    assert_eq!(marked_again(&mut world, other), ["hook"]);
}

// Hazard 69.
#[test]
fn a_traversal_or_trigger_that_panics_leaves_commands_and_later_events_alone() {
    let mut world = logging();
    let e = world.spawn_empty().id();
    world.entity_mut(e).observe(|on: On<Passed>, mut commands: Commands| {
        commands.entity(on.entity).insert(Marked);
    });
    world.add_observer(|_: On<Add<Health>>, mut log: ResMut<Log>| log.0.push("add".into()));
    for round in 0..100 {
        world.commands().spawn(Health(round));
        let passed = catch_unwind(AssertUnwindSafe(|| world.trigger(Passed { entity: e })));
        assert!(passed.is_err(), "the panic is passed on");
        assert!(world.get::<Marked>(e).is_some(), "what observers queued is applied");
        world.remove::<Marked>(e).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| world.trigger(Thrown))).is_err());
        world.flush();
        assert_eq!(taken(&mut world), ["add"], "what waited before is applied and announced");
    }
    assert_eq!(world.query::<&Health>().iter(&world).count(), 100);
    world.check().unwrap();
}

/// The entities that the next batch of a new world consists of.
fn foreseen(count: u32) -> Vec<Entity> {
    World::new().spawn_batch((0..count).map(Health)).collect()
}

fn indices(entities: &[Entity]) -> String {
    let indices: Vec<String> = entities.iter().map(|entity| entity.index().to_string()).collect();
    indices.join(" ")
}

#[test]
fn a_batched_observer_of_entities_gets_those_of_a_run_that_it_observes() {
    let mut world = logging();
    let watched = foreseen(6);
    let watched = [watched[4], watched[1]];
    macro_rules! observe {
        ($($name:literal $pattern:ty),*) => {
            $(
                let system = |on: On<$pattern>, mut log: ResMut<Log>| {
                    assert_eq!(on.entities().first(), Some(&on.entity));
                    log.0.push(format!("{} {}", $name, indices(on.entities())));
                };
                world.add_observer(Observer::new(system).with_entities(watched).batched());
            )*
        };
    }
    observe!("add" Add<Health>, "mutate" Mutate<Health>, "matched" Matched<&Health>);
    let all: Vec<Entity> = world.spawn_batch((0..6).map(Health)).collect();
    assert!(all.contains(&watched[0]) && all.contains(&watched[1]));
    let (low, high) = (watched[1].index(), watched[0].index());
    assert_eq!(
        taken(&mut world),
        [format!("add {low}"), format!("add {high}"), format!("matched {low} {high}")]
    );
    world.flush();
    all.iter().for_each(|&entity| world.get_mut::<Health>(entity).unwrap().0 += 1);
    world.flush();
    assert_eq!(taken(&mut world), [format!("mutate {low} {high}")]);
    all.iter().filter(|entity| !watched.contains(entity)).for_each(|&entity| {
        world.get_mut::<Health>(entity).unwrap().0 += 1;
    });
    world.flush();
    assert!(taken(&mut world).is_empty(), "of others it is told nothing");
}

// Hazard 63.
#[test]
fn an_observer_that_takes_the_slot_of_a_removed_one_is_not_told_in_its_place() {
    let mut world = logging();
    world.set_error_handler(|_: &mut World, error: phalanx::world::SystemError| panic!("{error}"));
    let e = world.spawn(Health(1)).id();
    #[derive(Resource)]
    struct Second(Option<ObserverId>);
    world.insert_resource(Second(None));
    world.add_observer(|_: On<Mutate<Health>>, mut second: ResMut<Second>, mut commands: Commands| {
        if let Some(id) = second.0.take() {
            commands.remove_observer(id);
            commands.add_observer(|_: On<Add<Marked>>, mut log: ResMut<Log>| log.0.push("marked".into()));
        }
    });
    let second =
        world.add_observer(|_: On<Mutate<Health>>, mut log: ResMut<Log>| log.0.push("second".into()));
    world.insert_resource(Second(Some(second)));
    world.flush();
    world.get_mut::<Health>(e).unwrap().0 = 2;
    world.flush();
    assert!(taken(&mut world).is_empty(), "it was removed before its turn");
    world.insert(e, Marked).unwrap();
    assert_eq!(taken(&mut world), ["marked"]);
}

// Hazard 61.
#[test]
fn observers_of_written_values_are_told_of_entities_that_have_the_value_still() {
    for batched in [false, true] {
        let mut world = logging();
        world.add_observer(|on: On<Mutate<Health>>, all: Query<&Health>, mut commands: Commands| {
            match all.get(on.entity).expect("it has the value").0 {
                1 => commands.entity(on.entity).despawn(),
                2 => drop(commands.entity(on.entity).remove::<Health>()),
                _ => {}
            }
        });
        let second = |on: On<Mutate<Health>>, all: Query<&Health>, mut log: ResMut<Log>| {
            let values = on.entities().iter().map(|&entity| all.get(entity).expect("it has the value").0);
            log.0.push(format!("{:?}", values.collect::<Vec<_>>()));
        };
        let second = Observer::new(second);
        world.add_observer(if batched { second.batched() } else { second });
        let set = world.register_system(|mut set: Reactive<Mutate<Health>>| set.read().count());
        assert_eq!(world.run_system(set).unwrap(), 0);
        let all: Vec<Entity> = (0..4).map(|_| world.spawn(Health(0)).id()).collect();
        world.flush();
        for (value, &entity) in (1..).zip(&all) {
            world.get_mut::<Health>(entity).unwrap().0 = value;
        }
        world.flush();
        let expected = if batched { vec!["[3, 4]"] } else { vec!["[3]", "[4]"] };
        assert_eq!(taken(&mut world), expected);
        assert_eq!(world.run_system(set).unwrap(), 2);
    }
}

#[test]
fn all_observers_of_written_values_are_told_though_commands_of_one_panic() {
    let mut world = logging();
    let e = world.spawn(Health(1)).id();
    world.add_observer(|_: On<Mutate<Health>>, mut commands: Commands| {
        commands.queue(|_: &mut World| panic!("the command"));
    });
    world.add_observer(|_: On<Mutate<Health>>, mut log: ResMut<Log>| log.0.push("second".into()));
    world.flush();
    world.get_mut::<Health>(e).unwrap().0 = 2;
    assert!(catch_unwind(AssertUnwindSafe(|| world.flush())).is_err());
    assert_eq!(taken(&mut world), ["second"]);
    world.check().unwrap();
}

#[test]
fn the_depth_of_reactions_can_be_set() {
    #[derive(Event)]
    struct Echo(u32);
    let mut world = logging();
    world.set_error_handler(|world: &mut World, error: phalanx::world::SystemError| {
        world.resource_mut::<Log>().0.push(error.to_string());
    });
    world.add_observer(|on: On<Echo>, mut commands: Commands, mut log: ResMut<Log>| {
        log.0.push(on.0.to_string());
        commands.trigger(Echo(on.0 + 1));
    });
    for limit in [1, 3, 100] {
        world.set_trigger_depth_limit(limit);
        assert_eq!(world.trigger_depth_limit(), limit);
        world.trigger(Echo(1));
        let log = taken(&mut world);
        assert_eq!(log.len(), limit + 1);
        assert_eq!(log[limit - 1], limit.to_string());
        assert!(log[limit].contains(&format!("{} events caused one another", limit + 1)), "{log:?}");
    }
    world.set_trigger_depth_limit(0);
    world.trigger(Echo(1));
    assert_eq!(taken(&mut world).len(), 2, "what is not caused by a reaction is always announced");
}

/// Triggers itself, behind a command that panics.
#[derive(Event)]
struct Relapse(u32);

fn relapsing() -> World {
    let mut world = logging();
    world.set_error_handler(|world: &mut World, error: phalanx::world::SystemError| {
        world.resource_mut::<Log>().0.push(error.to_string());
    });
    world.set_trigger_depth_limit(5);
    world.add_observer(|on: On<Relapse>, mut commands: Commands, mut log: ResMut<Log>| {
        log.0.push(on.0.to_string());
        commands.queue(|_: &mut World| panic!("the command"));
        commands.trigger(Relapse(on.0 + 1));
    });
    world
}

/// Flushes until nothing panics, and says how often something did.
fn flushed(world: &mut World) -> usize {
    let panics = (0..100).take_while(|_| catch_unwind(AssertUnwindSafe(|| world.flush())).is_err()).count();
    assert!(panics < 100, "the chain has no end");
    panics
}

#[test]
fn a_chain_that_panics_at_each_link_comes_to_its_limit() {
    for order in [FlushOrder::Recorded, FlushOrder::Staged] {
        let mut world = relapsing();
        world.set_flush_order(order);
        assert!(catch_unwind(AssertUnwindSafe(|| world.trigger(Relapse(1)))).is_err());
        assert_eq!(flushed(&mut world), 4);
        let log = taken(&mut world);
        assert_eq!((log.len(), log[..5].concat().as_str()), (6, "12345"));
        assert!(log[5].contains("6 events caused one another") && log[5].contains("Relapse"), "{log:?}");
        world.check().unwrap();
    }
}

#[test]
fn what_a_panic_leaves_behind_makes_nothing_else_deeper() {
    let mut world = relapsing();
    for _ in 0..20 {
        // The first command panics: what waits beside it was queued by nobody's reaction.
        world.commands().queue(|_: &mut World| panic!("beside"));
        world.commands().queue(|world: &mut World| world.resource_mut::<Log>().0.push("other".into()));
        assert!(catch_unwind(AssertUnwindSafe(|| world.flush())).is_err());
    }
    world.flush();
    assert_eq!(taken(&mut world).len(), 20);
    // The chain that was left behind came to its end, and the next one begins at its beginning.
    assert!(catch_unwind(AssertUnwindSafe(|| world.trigger(Relapse(1)))).is_err());
    assert_eq!(flushed(&mut world), 4);
    assert_eq!(taken(&mut world).len(), 6);
    assert!(catch_unwind(AssertUnwindSafe(|| world.trigger(Relapse(1)))).is_err());
    assert_eq!(taken(&mut world), ["1"]);
}

/// The end of a chain: a command that panics, and one behind it that is left.
#[derive(Event)]
struct Lapse(u32);
#[derive(Event)]
struct Link(u32);

#[test]
fn what_was_queued_beside_a_chain_that_was_left_behind_is_no_deeper() {
    for order in [FlushOrder::Recorded, FlushOrder::Staged] {
        for fails_again in [false, true] {
            let mut world = logging();
            world.set_flush_order(order);
            world.set_error_handler(|world: &mut World, error: phalanx::world::SystemError| {
                world.resource_mut::<Log>().0.push(error.to_string());
            });
            world.set_trigger_depth_limit(5);
            world.add_observer(move |on: On<Lapse>, mut commands: Commands| match on.0 {
                0 => {
                    commands.queue(|_: &mut World| panic!("the first"));
                    commands.queue(move |_: &mut World| assert!(!fails_again, "the second"));
                }
                left => commands.trigger(Lapse(left - 1)),
            });
            world.add_observer(|on: On<Link>, mut commands: Commands, mut log: ResMut<Log>| {
                log.0.push(on.0.to_string());
                if on.0 < 4 {
                    commands.trigger(Link(on.0 + 1));
                }
            });
            // The first command leaves one behind that is four causes deep, beside the second, which is the cause of four.
            world.commands().trigger(Lapse(3));
            world.commands().queue(|world: &mut World| world.commands().trigger(Link(1)));
            assert_eq!(flushed(&mut world), 1 + usize::from(fails_again));
            assert_eq!(taken(&mut world), ["1", "2", "3", "4"], "{order:?}, again: {fails_again}");
            world.check().expect("valid");
        }
    }
}
