//! Random steps in which values, handlers and commands panic: after each of them the world is whole, what was announced
//! agrees with what is there, and in the end each value was dropped once.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::world::{Checkpoint, ignore};

use crate::random::Random;
use crate::steps::model_steps;

thread_local! {
    /// How many clones or drops there are until one panics; none panics at zero.
    static LEFT: Cell<usize> = const { Cell::new(0) };
    /// How many frail values there are.
    static ALIVE: Cell<i64> = const { Cell::new(0) };
}

fn count_down(what: &str) {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    assert!(left != 1 || std::thread::panicking(), "{what}");
}

/// A value that panics now and then when it is copied or dropped.
struct Value(Box<u32>);
impl Value {
    fn new(value: u32) -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self(Box::new(value))
    }
}
impl Clone for Value {
    fn clone(&self) -> Self {
        count_down("no clone");
        Self::new(*self.0)
    }
}
impl Drop for Value {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
        count_down("no drop");
    }
}

#[derive(Component, Clone)]
struct A(u32);
#[derive(Component, Clone)]
#[component(track = "row")]
struct Health(u32);
#[derive(Component, Clone)]
#[component(storage = "sparse")]
struct Apart(u32);
#[derive(Component, Clone)]
struct Frail(#[allow(dead_code)] Value);
#[derive(Component, Clone)]
#[component(storage = "sparse")]
struct FrailApart(#[allow(dead_code)] Value);

fn frail(value: u32) -> (Frail, FrailApart) {
    (Frail(Value::new(value)), FrailApart(Value::new(value)))
}

/// How many of each component an entity has got more than it has lost, as hooks were told.
#[derive(Resource, Clone, Default)]
struct Told(BTreeMap<Entity, [i32; 5]>);

macro_rules! each {
    ($macro:ident) => {
        $macro!(A 0, Health 1, Apart 2, Frail 3, FrailApart 4)
    };
}

/// A world with handlers that change what they hear of, and panic.
fn world(seed: u64) -> World {
    let mut world = World::new();
    world.init_resource::<Told>();
    if seed.is_multiple_of(2) {
        world.set_error_handler(ignore);
    }
    if seed.is_multiple_of(3) {
        world.set_flush_order(FlushOrder::Staged);
    }
    macro_rules! told {
        ($($component:ident $at:literal),*) => {$(
            world
                .register_component_hooks::<$component>()
                .on_add(|mut world, on| world.resource_mut::<Told>().0.entry(on.entity).or_default()[$at] += 1)
                .on_remove(|mut world, on| world.resource_mut::<Told>().0.entry(on.entity).or_default()[$at] -= 1);
        )*};
    }
    each!(told);
    world.add_observer(|on: On<Add<A>>, all: Query<&A>, mut commands: Commands| {
        let value = all.get(on.entity).expect("it came").0;
        if value.is_multiple_of(4) {
            commands.entity(on.entity).insert(Apart(value));
        }
        if value.is_multiple_of(5) {
            commands.entity(on.entity).despawn();
        }
        if value % 11 == 1 {
            commands.queue(|_: &mut World| panic!("a command"));
            commands.spawn(A(value + 1));
        }
        assert!(value % 7 != 3, "a handler");
    });
    world.add_observer(|on: On<Remove<Apart>>, all: Query<&Apart>, mut commands: Commands| {
        let value = all.get(on.entity).expect("it goes").0;
        if value.is_multiple_of(3) {
            commands.entity(on.entity).insert(Apart(value + 1));
        }
        if value % 5 == 1 {
            commands.spawn((A(value + 1), ChildOf(on.entity)));
        }
    });
    world.add_observer(|on: On<Insert<ChildOf>>, all: Query<&ChildOf>, mut commands: Commands| {
        let parent = all.get(on.entity).expect("it came").parent();
        if parent.index().is_multiple_of(3) {
            commands.entity(parent).insert(Health(1));
        }
        if parent.index() % 7 == 5 {
            commands.entity(on.entity).remove::<ChildOf>();
        }
    });
    world.add_observer(|on: On<Mutate<Health>>, mut commands: Commands| {
        commands.entity(on.entity).insert(A(on.entity.index()));
    });
    world.add_observer(|on: On<Matched<(&A, &Health)>>, mut commands: Commands| {
        if on.entity.index() % 4 == 1 {
            commands.entity(on.entity).remove::<Health>();
        }
    });
    world.add_observer(|_: On<ArchetypeCreated>, mut commands: Commands| {
        commands.spawn_empty();
    });
    world
}

type Saved = Vec<(Checkpoint, Digest)>;

fn step(world: &mut World, random: &mut Random, all: &mut Vec<Entity>, saved: &mut Saved) {
    let mut any = || all.get(random.below(all.len().max(1))).copied().unwrap_or(Entity::PLACEHOLDER);
    let (e, f) = (any(), any());
    let value = u32::try_from(random.below(40)).expect("a small number");
    // Refused where the entity is dead by now.
    match random.below(19) {
        0 | 1 => all.push(world.spawn((A(value), Health(value))).id()),
        2 => all.extend(world.spawn_batch((0..4).map(|n| (A(value + n), Apart(n))))),
        3 => all.extend(world.spawn_batch((0..3).map(|n| (frail(n), Health(n))))),
        4 => drop(world.insert(e, A(value))),
        5 => drop(world.insert(e, (Apart(value), Health(value)))),
        6 => drop(world.insert(e, (frail(value), A(value)))),
        7 => drop(world.insert(e, (Frail(Value::new(value)), A(value)))),
        8 => drop(world.remove::<(A, Frail)>(e)),
        9 => drop(world.remove::<(Apart, Health, FrailApart)>(e)),
        10 => drop(world.despawn(e)),
        11 => drop(world.insert(e, ChildOf(f))),
        12 => {
            let mut commands = world.commands();
            commands.entity(e).insert(A(value)).insert(Apart(value));
            commands.entity(f).remove::<A>();
            commands.entity(e).despawn();
            commands.spawn((A(value), ChildOf(f)));
        }
        13 => {
            let mut commands = world.commands();
            commands.entity(e).insert((frail(value), Apart(value))).remove::<Frail>();
            commands.entity(f).insert(frail(1)).insert(frail(2));
            commands.spawn((frail(value), A(value)));
        }
        14 => {
            if let Some(mut health) = world.get_mut::<Health>(e) {
                health.0 += 1;
            }
        }
        15 if world.contains(e) => all.extend(world.spawn_clones(e, 2)),
        16 => drop(world.insert(e, DisabledTree)),
        17 => drop(world.remove::<DisabledTree>(e)),
        _ => {
            let checkpoint = world.checkpoint();
            LEFT.set(0);
            saved.push((checkpoint, world.digest()));
        }
    }
}

/// Takes the world back, if need be once more after a value has panicked.
fn restore(world: &mut World, random: &mut Random, saved: &Saved) {
    let Some((checkpoint, digest)) = saved.get(random.below(saved.len().max(1))) else { return };
    let restored = catch_unwind(AssertUnwindSafe(|| world.restore(checkpoint)));
    LEFT.set(0);
    if restored.is_err() {
        world.restore(checkpoint).expect("of this world");
    }
    assert_eq!(world.digest(), *digest);
}

fn expect_told(world: &World) {
    macro_rules! there {
        ($($component:ident $at:literal),*) => {
            |entity| [$(i32::from(world.get::<$component>(entity).is_some())),*]
        };
    }
    let (there, told) = (each!(there), &world.resource::<Told>().0);
    told.iter().for_each(|(&entity, told)| assert_eq!(there(entity), *told, "{entity}"));
    let untold = world.entities().iter().filter(|entity| !told.contains_key(entity));
    untold.for_each(|entity| assert_eq!(there(entity), [0; 5], "{entity} was not told of"));
}

// Hazards 10, 58 and 69.
#[test]
fn whatever_panics_is_announced_as_it_is_and_dropped_once() {
    // Each seed counts as 20 steps of those that tests may take.
    for seed in 1..=model_steps(800, 8_000) as u64 / 20 {
        let (mut world, mut random) = (world(seed), Random::new(seed));
        let (mut all, mut saved) = (Vec::new(), Vec::new());
        for at in 0..60 {
            LEFT.set(if random.below(3) == 0 { 1 + random.below(6) } else { 0 });
            if random.chance(15) {
                restore(&mut world, &mut random, &saved);
            } else {
                let taken = AssertUnwindSafe(|| step(&mut world, &mut random, &mut all, &mut saved));
                let _ = catch_unwind(taken);
            }
            let mut flushes = 0;
            while catch_unwind(AssertUnwindSafe(|| world.flush())).is_err() {
                flushes += 1;
                assert!(flushes < 100, "seed {seed}, step {at}: commands panic without end");
            }
            LEFT.set(0);
            world.check().unwrap_or_else(|error| panic!("seed {seed}, step {at}: {error}"));
            expect_told(&world);
            all.retain(|&entity| world.contains(entity));
        }
        for left in [1 + random.below(5), 0] {
            LEFT.set(left);
            let _ = catch_unwind(AssertUnwindSafe(|| drop(std::mem::take(&mut world))));
            let _ = catch_unwind(AssertUnwindSafe(|| saved.clear()));
        }
        assert_eq!(ALIVE.get(), 0, "seed {seed}");
    }
}
