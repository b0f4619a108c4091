//! Commands against a model: what a flush leaves is what direct application would leave, in both orders:
//! the entities, their components, and the ids that come next. The same with sync points in between.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::common::random::Random;
use phalanx::prelude::*;
use phalanx::schedule::Schedule;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct A(u32);
#[derive(Component, Clone, Debug, PartialEq)]
struct B(String);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa", track = "row")]
struct C {
    x: u32,
    y: u64,
}
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
struct Tag;
#[derive(Component, Clone, Debug, PartialEq)]
#[require(Base(7), Tag)]
struct Needy(u32);
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
struct Base(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Sp(String);

#[derive(Clone, Debug)]
enum Step {
    Sparse(usize, u32),
    NewSparse(usize, u32),
    RemoveSparse(usize),
    Spawn(u32),
    A(usize, u32),
    AB(usize, u32),
    BC(usize, u32),
    NewAC(usize, u32),
    Needy(usize, u32),
    Tag(usize),
    RemoveA(usize),
    RemoveBC(usize),
    RemoveBase(usize),
    RemoveAll(usize),
    Despawn(usize),
    Call(usize, u32),
}

type All = (A, B, C, Tag, Needy, Base, Sp);

fn b(n: u32) -> B {
    B(format!("b{n}"))
}
fn sp(n: u32) -> Sp {
    Sp(format!("sp{n}"))
}
fn c(n: u32) -> C {
    C { x: n, y: u64::from(n) + 1 }
}

fn steps(random: &mut Random, entities: usize, count: usize) -> Vec<Step> {
    let mut known = entities;
    (0..count)
        .map(|at| {
            let n = u32::try_from(at).expect("few");
            let e = random.below(known);
            match random.below(17) {
                0 => {
                    known += 1;
                    Step::Spawn(n)
                }
                1 | 2 => Step::A(e, n),
                3 => Step::AB(e, n),
                4 => Step::BC(e, n),
                5 => Step::NewAC(e, n),
                6 => Step::Needy(e, n),
                7 => Step::Tag(e),
                8 => Step::RemoveA(e),
                9 => Step::RemoveBC(e),
                10 => Step::RemoveBase(e),
                11 => Step::RemoveAll(e),
                12 if random.chance(2) => Step::Despawn(e),
                12 => Step::A(e, n),
                13 => Step::Sparse(e, n),
                14 => Step::NewSparse(e, n),
                15 => Step::RemoveSparse(e),
                _ => Step::Call(e, n),
            }
        })
        .collect()
}

/// The number of the stage in which a step takes effect under `FlushOrder::Staged`.
fn stage(step: &Step) -> usize {
    match step {
        Step::RemoveA(_)
        | Step::RemoveBC(_)
        | Step::RemoveBase(_)
        | Step::RemoveAll(_)
        | Step::RemoveSparse(_) => 1,
        Step::Despawn(_) => 2,
        Step::Call(..) => 3,
        _ => 0,
    }
}

fn record(commands: &mut Commands, ids: &mut Vec<Entity>, step: &Step) {
    match *step {
        Step::Spawn(n) => ids.push(commands.spawn((A(n), b(n))).id()),
        Step::A(e, n) => {
            commands.entity(ids[e]).insert(A(n));
        }
        Step::AB(e, n) => {
            commands.entity(ids[e]).insert((A(n), b(n)));
        }
        Step::BC(e, n) => {
            commands.entity(ids[e]).insert((b(n), c(n)));
        }
        Step::NewAC(e, n) => {
            commands.entity(ids[e]).insert_if_new((A(n), c(n)));
        }
        Step::Needy(e, n) => {
            commands.entity(ids[e]).insert(Needy(n));
        }
        Step::Tag(e) => {
            commands.entity(ids[e]).insert(Tag);
        }
        Step::RemoveA(e) => {
            commands.entity(ids[e]).remove::<A>();
        }
        Step::RemoveBC(e) => {
            commands.entity(ids[e]).remove::<(B, C)>();
        }
        Step::RemoveBase(e) => {
            commands.entity(ids[e]).remove::<Base>();
        }
        Step::RemoveAll(e) => {
            commands.entity(ids[e]).remove::<All>();
        }
        Step::Sparse(e, n) => {
            commands.entity(ids[e]).insert((sp(n), A(n)));
        }
        Step::NewSparse(e, n) => {
            commands.entity(ids[e]).insert_if_new(sp(n));
        }
        Step::RemoveSparse(e) => {
            commands.entity(ids[e]).remove::<Sp>();
        }
        Step::Despawn(e) => commands.entity(ids[e]).despawn(),
        Step::Call(e, n) => {
            let id = ids[e];
            commands.queue(move |world: &mut World| {
                if let Some(mut a) = world.get_mut::<A>(id) {
                    a.0 += n;
                }
            });
        }
    }
}

fn direct(world: &mut World, ids: &[Entity], step: &Step) {
    match *step {
        // Its place in `ids` was given when the steps were recorded.
        Step::Spawn(_) => unreachable!("spawns are told apart by the caller"),
        Step::A(e, n) => {
            let _ = world.insert(ids[e], A(n));
        }
        Step::AB(e, n) => {
            let _ = world.insert(ids[e], (A(n), b(n)));
        }
        Step::BC(e, n) => {
            let _ = world.insert(ids[e], (b(n), c(n)));
        }
        Step::NewAC(e, n) => {
            if let Ok(mut entity) = world.get_entity_mut(ids[e]) {
                entity.insert_if_new((A(n), c(n)));
            }
        }
        Step::Needy(e, n) => {
            let _ = world.insert(ids[e], Needy(n));
        }
        Step::Tag(e) => {
            let _ = world.insert(ids[e], Tag);
        }
        Step::RemoveA(e) => {
            let _ = world.remove::<A>(ids[e]);
        }
        Step::RemoveBC(e) => {
            let _ = world.remove::<(B, C)>(ids[e]);
        }
        Step::RemoveBase(e) => {
            let _ = world.remove::<Base>(ids[e]);
        }
        Step::RemoveAll(e) => {
            let _ = world.remove::<All>(ids[e]);
        }
        Step::Sparse(e, n) => {
            let _ = world.insert(ids[e], (sp(n), A(n)));
        }
        Step::NewSparse(e, n) => {
            if let Ok(mut entity) = world.get_entity_mut(ids[e]) {
                entity.insert_if_new(sp(n));
            }
        }
        Step::RemoveSparse(e) => {
            let _ = world.remove::<Sp>(ids[e]);
        }
        Step::Despawn(e) => {
            let _ = world.try_despawn(ids[e]);
        }
        Step::Call(e, n) => {
            if let Some(mut a) = world.get_mut::<A>(ids[e]) {
                a.0 += n;
            }
        }
    }
}

/// Everything an entity has, ticks of rows included where it counts whether they are new.
fn contents(world: &World) -> BTreeMap<u64, String> {
    let rows = world.view::<(
        Entity,
        Option<&A>,
        Option<&B>,
        Option<&C>,
        Has<Tag>,
        Option<&Needy>,
        Option<&Base>,
        Option<&Sp>,
    )>();
    rows.into_iter()
        .map(|(e, a, b, c, tag, needy, base, sp)| {
            (e.to_bits(), format!("{a:?} {b:?} {:?} {tag} {needy:?} {base:?} {sp:?}", c.map(|c| c.get())))
        })
        .collect()
}

fn added(world: &World) -> Vec<u64> {
    let mut added: Vec<u64> =
        world.view_filtered::<Entity, Added<C>>().into_iter().map(Entity::to_bits).collect();
    added.sort_unstable();
    added
}

fn prepared() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let mut ids: Vec<Entity> = Vec::new();
    for n in 0..6 {
        ids.push(match n % 3 {
            0 => world.spawn((A(n), b(n), c(n))).id(),
            1 => world.spawn((c(n), Needy(n))).id(),
            _ => world.spawn_empty().id(),
        });
    }
    // One that is dead already.
    world.despawn(ids[4]);
    world.clear_trackers();
    (world, ids)
}

fn compare(order: FlushOrder, seed: u64) {
    let mut random = Random::new(seed);
    let (mut flushed, mut ids) = prepared();
    let (mut model, _) = prepared();
    flushed.set_flush_order(order);
    let (entities, count) = (ids.len(), 1 + random.below(40));
    let steps = steps(&mut random, entities, count);
    {
        let mut commands = flushed.commands();
        steps.iter().for_each(|step| record(&mut commands, &mut ids, step));
    }
    flushed.flush();
    // Ids are reserved when recorded, so spawned entities exist from the start.
    let mut spawned = ids[entities..].iter();
    for _ in 0..ids.len() - entities {
        let id = model.spawn_empty().id();
        assert!(ids.contains(&id));
    }
    let mut ordered: Vec<(usize, Step)> = steps.iter().cloned().enumerate().collect();
    let mut spawn_ids = BTreeMap::new();
    for (at, step) in &ordered {
        if let Step::Spawn(_) = step {
            spawn_ids.insert(*at, *spawned.next().expect("one id per spawn"));
        }
    }
    if order == FlushOrder::Staged {
        ordered.sort_by_key(|(at, step)| (stage(step), *at));
    }
    for (at, step) in &ordered {
        if let Step::Spawn(n) = step {
            model.insert(spawn_ids[at], (A(*n), b(*n))).expect("spawned above");
        } else {
            direct(&mut model, &ids, step);
        }
    }
    assert_eq!(contents(&flushed), contents(&model), "seed {seed}, {order:?}: {steps:?}");
    assert_eq!(added(&flushed), added(&model), "seed {seed}, {order:?}: {steps:?}");
    // Ids that were freed come again in the same order.
    let next = |world: &mut World| (0..12).map(|_| world.spawn_empty().id()).collect::<Vec<_>>();
    assert_eq!(next(&mut flushed), next(&mut model), "seed {seed}, {order:?}: {steps:?}");
    flushed.check().expect("the world is sound");
    let stats = flushed.command_stats();
    assert_eq!(
        stats.applied + stats.skipped,
        steps.len() as u64,
        "seed {seed}: every command is accounted for"
    );
}

/// Parts of the commands recorded by systems in a line: each part is applied before the next is recorded.
fn compare_chained(order: FlushOrder, threads: Threads, seed: u64) {
    #[derive(SystemSet, Debug, Clone, Copy)]
    struct Part(#[allow(dead_code, reason = "told apart by what it prints")] usize);
    let mut random = Random::new(seed);
    let (mut world, ids) = prepared();
    let (mut model, _) = prepared();
    world.set_flush_order(order);
    let (entities, count) = (ids.len(), 4 + random.below(40));
    let steps = steps(&mut random, entities, count);
    let parts: Vec<Vec<Step>> = steps.chunks(1 + random.below(count)).map(<[Step]>::to_vec).collect();
    let ids = Arc::new(Mutex::new(ids));
    let mut schedule = Schedule::default();
    schedule.set_threads(threads);
    // Added in an order that is not theirs.
    for (at, part) in parts.iter().cloned().enumerate().rev() {
        let ids = Arc::clone(&ids);
        let system = move |mut commands: Commands| {
            let mut ids = ids.lock().expect("not poisoned");
            part.iter().for_each(|step| record(&mut commands, &mut ids, step));
        };
        let system = system.in_set(Part(at));
        let system = if at > 0 { system.after(Part(at - 1)) } else { system };
        schedule.add_systems(system);
    }
    schedule.initialize(&mut world).expect("nothing conflicts");
    assert_eq!(schedule.view(&world).sync_points(), Ok(parts.len() - 1));
    schedule.run(&mut world);
    let ids = ids.lock().expect("not poisoned");
    let mut spawned = ids[entities..].iter();
    for part in &parts {
        let mut ordered: Vec<(usize, Step, Option<Entity>)> = Vec::new();
        for (at, step) in part.iter().enumerate() {
            let own = matches!(step, Step::Spawn(_)).then(|| *spawned.next().expect("one id per spawn"));
            if own.is_some() {
                model.spawn_empty();
            }
            ordered.push((at, step.clone(), own));
        }
        if order == FlushOrder::Staged {
            ordered.sort_by_key(|(at, step, _)| (stage(step), *at));
        }
        for (_, step, own) in &ordered {
            match (step, own) {
                (Step::Spawn(n), Some(own)) => model.insert(*own, (A(*n), b(*n))).expect("spawned above"),
                _ => direct(&mut model, &ids, step),
            }
        }
    }
    assert_eq!(contents(&world), contents(&model), "seed {seed}, {order:?}: {parts:?}");
    let next = |world: &mut World| (0..12).map(|_| world.spawn_empty().id()).collect::<Vec<_>>();
    assert_eq!(next(&mut world), next(&mut model), "seed {seed}, {order:?}: {parts:?}");
    world.check().expect("the world is sound");
}

#[test]
fn systems_in_a_line_equal_direct_application_part_by_part() {
    for seed in 0..80 {
        compare_chained(FlushOrder::Recorded, Threads::Serial, seed);
        compare_chained(FlushOrder::Staged, Threads::Serial, seed);
    }
    (0..10).for_each(|seed| compare_chained(FlushOrder::Recorded, Threads::N(2), seed));
}

#[test]
fn recorded_order_equals_direct_application() {
    (0..600).for_each(|seed| compare(FlushOrder::Recorded, seed));
}

// O-240, O-241, O-242.
#[test]
fn staged_order_equals_inserts_then_removes_then_despawns() {
    (0..600).for_each(|seed| compare(FlushOrder::Staged, seed));
}
