//! What can happen in a step: one row of [`OPERATIONS`] per kind.
//!
//! An operation does the same to both worlds, compares what the calls return, and tells whether it did
//! anything. To let the model do more, write a function and add a row. Operations with a bundle are generic
//! and end in `_as`; their row draws the bundle's type.

use phalanx::prelude::Entity;

use crate::naive::Existing;
use crate::parts::{Cell, Key, Sample, with_bundle};
use crate::run::Run;

mod bulk;
mod by_id;
mod dead;
pub mod deferred;

pub struct Operation {
    /// How often it is drawn, beside the others.
    pub weight: usize,
    pub name: &'static str,
    pub run: fn(&mut Run) -> bool,
}

const fn op(weight: usize, name: &'static str, run: fn(&mut Run) -> bool) -> Operation {
    Operation { weight, name, run }
}

pub const OPERATIONS: &[Operation] = &[
    op(90, "spawn", |run| with_bundle!(run, spawn_as)),
    op(10, "spawn_empty", spawn_empty),
    op(120, "insert", |run| with_bundle!(run, insert_as)),
    op(40, "insert_if_new", |run| with_bundle!(run, insert_if_new_as)),
    op(80, "remove", |run| with_bundle!(run, remove_as)),
    op(60, "take", |run| with_bundle!(run, take_as)),
    op(20, "retain", |run| with_bundle!(run, retain_as)),
    op(8, "clear", clear),
    op(50, "despawn", despawn),
    op(60, "write", write),
    op(20, "advance the tick", advance_tick),
    op(30, "spawn_batch", |run| with_bundle!(few run, bulk::spawn_batch_as)),
    op(20, "insert_batch", |run| with_bundle!(few run, bulk::insert_batch_as)),
    op(20, "remove_batch", |run| with_bundle!(few run, bulk::remove_batch_as)),
    op(8, "despawn_batch", bulk::despawn_batch),
    op(25, "insert_into_archetype", |run| with_bundle!(run, bulk::insert_into_archetype_as)),
    op(25, "remove_from_archetype", |run| with_bundle!(run, bulk::remove_from_archetype_as)),
    op(1, "clear_entities", bulk::clear_entities),
    op(15, "drop_empty_archetypes", bulk::drop_empty_archetypes),
    op(8, "shrink_to_fit", bulk::shrink_to_fit),
    op(8, "reserve", bulk::reserve),
    op(8, "reserve_rows", |run| with_bundle!(few run, bulk::reserve_rows_as)),
    op(40, "insert_dynamic", by_id::insert_dynamic),
    op(10, "insert_dynamic, wrong", by_id::insert_dynamic_wrong),
    op(30, "set_field", by_id::set_field),
    op(20, "remove_by_id", by_id::remove_by_id),
    op(4, "register again", by_id::register_again),
    op(12, "reserve_entity", deferred::reserve_entity),
    op(20, "flush", deferred::flush),
    op(12, "commands: spawn", |run| with_bundle!(few run, deferred::spawn_as)),
    op(6, "commands: spawn_batch", |run| with_bundle!(few run, deferred::spawn_batch_as)),
    op(16, "commands: insert", |run| with_bundle!(few run, deferred::insert_as)),
    op(16, "commands: remove", |run| with_bundle!(few run, deferred::remove_as)),
    op(8, "commands: despawn", deferred::despawn),
    op(6, "commands: queue", |run| with_bundle!(few run, deferred::queue_as)),
    op(30, "anything to a dead entity", |run| with_bundle!(few run, dead::everything_as)),
];

fn spawn_as<B: Sample>(run: &mut Run) -> bool {
    let bundle = B::random(&mut run.rng);
    let expected = run.naive.spawn(bundle.cells());
    assert_eq!(run.world.spawn(bundle).id(), expected, "the next id");
    true
}

fn spawn_empty(run: &mut Run) -> bool {
    let expected = run.naive.spawn(Vec::new());
    assert_eq!(run.world.spawn_empty().id(), expected, "the next id");
    true
}

fn insert_as<B: Sample>(run: &mut Run) -> bool {
    let Some(entity) = run.any_alive() else { return false };
    let bundle = B::random(&mut run.rng);
    assert!(run.naive.insert(entity, bundle.cells(), Existing::Replace));
    if run.rng.once_in(2) {
        run.world.entity_mut(entity).insert(bundle);
    } else {
        run.world.insert(entity, bundle).expect("the entity is alive");
    }
    true
}

fn insert_if_new_as<B: Sample>(run: &mut Run) -> bool {
    let Some(entity) = run.any_alive() else { return false };
    let bundle = B::random(&mut run.rng);
    assert!(run.naive.insert(entity, bundle.cells(), Existing::Keep));
    run.world.entity_mut(entity).insert_if_new(bundle);
    true
}

fn remove_as<B: Sample>(run: &mut Run) -> bool {
    let Some(entity) = run.any_alive() else { return false };
    let before = run.naive.entities[&entity].len();
    assert!(run.naive.remove(entity, &B::keys()));
    if run.rng.once_in(2) {
        run.world.entity_mut(entity).remove::<B>();
    } else {
        run.world.remove::<B>(entity).expect("the entity is alive");
    }
    run.naive.entities[&entity].len() < before
}

fn take_as<B: Sample>(run: &mut Run) -> bool {
    let Some(entity) = run.any_alive() else { return false };
    let expected = run.naive.take(entity, &B::keys());
    let taken = run.world.entity_mut(entity).take::<B>();
    let cells = taken.map(|bundle| bundle.cells().into_iter().collect());
    // A value that was taken carries no tick.
    let expected = expected.map(|cells| {
        let bare = |(key, cell): (Key, Cell)| (key, cell.stamped(phalanx::tracking::Tick::ZERO));
        cells.into_iter().map(bare).collect()
    });
    assert_eq!(cells, expected, "what was taken from {entity}");
    cells.is_some_and(|cells: crate::naive::Cells| !cells.is_empty())
}

fn retain_as<B: Sample>(run: &mut Run) -> bool {
    let Some(entity) = run.any_alive() else { return false };
    assert!(run.naive.retain(entity, &B::keys()));
    if run.rng.once_in(2) {
        run.world.entity_mut(entity).retain::<B>();
    } else {
        run.world.retain::<B>(entity).expect("the entity is alive");
    }
    true
}

fn clear(run: &mut Run) -> bool {
    let Some(entity) = run.any_alive() else { return false };
    assert!(run.naive.retain(entity, &[]));
    run.world.entity_mut(entity).clear();
    true
}

/// A living entity, or one that is only reserved: the change brings it to life first.
fn despawn(run: &mut Run) -> bool {
    let reserved = run.naive.pending.last().copied().filter(|_| run.rng.once_in(4));
    if let Some(entity) = reserved {
        assert!(run.naive.despawn(entity) && run.world.despawn(entity), "{entity} was reserved");
        return true;
    }
    let Some(entity) = run.any_alive() else { return false };
    assert!(run.naive.despawn(entity));
    match run.rng.below(3) {
        0 => assert!(run.world.despawn(entity)),
        1 => run.world.try_despawn(entity).expect("the entity is alive"),
        _ => run.world.entity_mut(entity).despawn(),
    }
    true
}

/// Makes room when there are too many entities.
pub fn despawn_some(run: &mut Run) {
    let despawned: Vec<Entity> =
        (0..1 + run.naive.entities.len() / 8).filter_map(|_| run.any_alive()).collect();
    for entity in despawned {
        assert_eq!(run.world.despawn(entity), run.naive.despawn(entity));
    }
}

fn write(run: &mut Run) -> bool {
    use crate::parts::{PARTS, Part, with_part};
    fn write_to<P: Part>(run: &mut Run, entity: Entity) -> Option<Cell> {
        P::write(&mut run.world, entity, &mut run.rng)
    }
    let Some(entity) = run.any_alive() else { return false };
    let key = run.any_key(entity, PARTS);
    let written = with_part!(key, write_to(run, entity));
    assert_eq!(written.is_some(), run.naive.entities[&entity].contains_key(&key), "{key:?} of {entity}");
    let Some(cell) = written else { return false };
    if let Cell::Watched(_, changed) = cell {
        assert_eq!(changed, run.naive.now, "a write is stamped");
    }
    run.naive.set(entity, key, cell);
    true
}

fn advance_tick(run: &mut Run) -> bool {
    let before = run.world.increment_change_tick();
    run.naive.now = run.world.read_change_tick();
    assert!(run.naive.now > before);
    true
}
