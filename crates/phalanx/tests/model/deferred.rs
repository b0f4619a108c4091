//! Reserved ids, and commands that are recorded in one step and applied in another.
//!
//! Functions divide recorded commands into runs. In a run, entities come in the order in which they were
//! first named, each with all its changes: that is documented, and decides which slots are freed last.

use phalanx::prelude::{Entity, World};

use crate::naive::{Existing, Naive};
use crate::parts::{Cell, Key, Sample};
use crate::run::Run;

pub fn reserve_entity(run: &mut Run) -> bool {
    let expected = run.naive.reserve();
    assert_eq!(run.world.reserve_entity(), expected, "the next id");
    true
}

pub fn flush(run: &mut Run) -> bool {
    let busy = !run.recorded.is_empty() || !run.naive.pending.is_empty();
    run.naive.wake();
    let recorded = std::mem::take(&mut run.recorded);
    let mut named: Vec<Entity> = Vec::new();
    let mut run_of_changes = Vec::new();
    for command in recorded {
        match command.entity {
            Some(entity) => {
                let known = named.iter().position(|&known| known == entity);
                let place = known.unwrap_or(named.len());
                if known.is_none() {
                    named.push(entity);
                }
                run_of_changes.push((place, command.effect));
            }
            None => {
                apply(&mut run.naive, &mut run_of_changes);
                named.clear();
                (command.effect)(&mut run.naive);
            }
        }
    }
    apply(&mut run.naive, &mut run_of_changes);
    for cells in std::mem::take(&mut run.naive.last) {
        run.naive.spawn(cells);
    }
    run.recorded_texts = 0;
    run.world.flush();
    assert!(!run.world.entities().needs_flush());
    busy
}

type Effect = Box<dyn FnOnce(&mut Naive)>;

/// A command that waits for the flush.
pub struct Recorded {
    /// The one that is changed; none, when the command is a function on the world.
    entity: Option<Entity>,
    effect: Effect,
}

fn apply(naive: &mut Naive, changes: &mut Vec<(usize, Effect)>) {
    changes.sort_by_key(|(place, _)| *place);
    for (_, effect) in changes.drain(..) {
        effect(naive);
    }
}

/// Notes down what a command will do, and what it holds until then.
fn record(
    run: &mut Run,
    entity: impl Into<Option<Entity>>,
    holds: &[(Key, Cell)],
    effect: impl FnOnce(&mut Naive) + 'static,
) {
    run.recorded_texts += holds.iter().map(|(_, cell)| cell.texts()).sum::<usize>();
    run.recorded.push(Recorded { entity: entity.into(), effect: Box::new(effect) });
}

/// Alive, reserved or dead.
fn any_entity(run: &mut Run) -> Entity {
    let alive = match run.rng.below(6) {
        0 => None,
        1 => run.naive.pending.last().copied(),
        _ => run.any_alive(),
    };
    alive.unwrap_or_else(|| run.any_dead())
}

pub fn spawn_as<B: Sample>(run: &mut Run) -> bool {
    let bundle = B::random(&mut run.rng);
    let cells = bundle.cells();
    let entity = run.naive.reserve();
    assert_eq!(run.world.commands().spawn(bundle).id(), entity, "the next id");
    record(run, entity, &cells.clone(), move |naive| {
        naive.insert(entity, cells, Existing::Replace);
    });
    true
}

pub fn spawn_batch_as<B: Sample>(run: &mut Run) -> bool {
    let bundles: Vec<B> = (0..run.rng.below(4)).map(|_| B::random(&mut run.rng)).collect();
    let cells: Vec<_> = bundles.iter().map(Sample::cells).collect();
    run.world.commands().spawn_batch(bundles);
    record(run, None, &cells.concat(), move |naive| {
        for cells in cells {
            naive.spawn(cells);
        }
    });
    true
}

pub fn insert_as<B: Sample>(run: &mut Run) -> bool {
    let entity = any_entity(run);
    let bundle = B::random(&mut run.rng);
    let cells = bundle.cells();
    run.world.commands().entity(entity).insert(bundle);
    record(run, entity, &cells.clone(), move |naive| {
        naive.insert(entity, cells, Existing::Replace);
    });
    true
}

pub fn remove_as<B: Sample>(run: &mut Run) -> bool {
    let entity = any_entity(run);
    run.world.commands().entity(entity).remove::<B>();
    record(run, entity, &[], move |naive| {
        naive.remove(entity, &B::keys());
    });
    true
}

pub fn despawn(run: &mut Run) -> bool {
    let entity = any_entity(run);
    run.world.commands().entity(entity).despawn();
    record(run, entity, &[], move |naive| {
        naive.despawn(entity);
    });
    true
}

/// A function on the world, which records a command itself: that one comes last.
pub fn queue_as<B: Sample>(run: &mut Run) -> bool {
    let (first, last) = (B::random(&mut run.rng), B::random(&mut run.rng));
    let cells = (first.cells(), last.cells());
    run.world.commands().queue(move |world: &mut World| {
        world.spawn(first);
        world.commands().queue(move |world: &mut World| {
            world.spawn(last);
        });
    });
    record(run, None, &[cells.0.clone(), cells.1.clone()].concat(), move |naive| {
        naive.spawn(cells.0);
        naive.last.push(cells.1);
    });
    true
}
