//! Several changes of one entity as one move.
//!
//! The steps are folded first, without touching the entity: bundles are taken apart into cells, one per
//! column, where a later value replaces an earlier one; removing empties cells. What is left says which
//! archetype the entity belongs to. It moves there once, along an edge whose missing columns are filled from
//! the cells; cells of columns that it had already are written in place. Sparse parts, which move nothing, go
//! into their sets step by step. Values that are not kept are dropped at the end, when the entity is what the
//! steps make of it.
//!
//! A component that is removed and comes again counts as new: its ticks are those of the flush.
//! This file does not know the order of steps: `flush` decides it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hashbrown::HashMap;
use phalanx_store::{AnyColId, Edge, Entity, Existing, Init, TableId};

use super::queue::{Queue, What};
use crate::archetype::ArchetypeId;
use crate::bundles::BundleId;
use crate::component::{Boxed, Cells, Copier};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::steps;
use crate::world::World;
use crate::world::reactions::{Changes, Foreseen};

/// Which columns an edge between two archetypes fills from cells.
#[derive(Clone, Hash, Eq)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "equal as derived, and counted")]
struct EdgeKey {
    from: ArchetypeId,
    to: ArchetypeId,
    filled: Vec<AnyColId>,
}

impl PartialEq for EdgeKey {
    fn eq(&self, other: &Self) -> bool {
        steps::count();
        self.from == other.from && self.to == other.to && self.filled == other.filled
    }
}

/// The edges found so far, and cells to be used again.
#[derive(Default)]
pub(crate) struct Merge {
    cells: Cells,
    /// The positions of edges.
    edges: HashMap<EdgeKey, usize>,
    found: Vec<Edge>,
    /// The move that was made last: most entities are like the one before.
    last: Option<Last>,
    /// How often the world had forgotten its edges when these were found.
    cleared: u64,
}

/// A move of an entity with nothing that is required.
struct Last {
    key: EdgeKey,
    /// The components at its end.
    signature: Signature,
    edge: usize,
}

/// What the steps so far make of an entity.
struct Folded {
    entity: Entity,
    source: ArchetypeId,
    signature: Signature,
    /// Components that came because others require them.
    required: Vec<(ComponentId, Init)>,
}

impl Merge {
    /// Forgets the edges, which end when tables are dropped.
    pub(crate) fn forget_edges(&mut self) {
        self.edges.clear();
        self.found.clear();
        self.last = None;
    }
}

/// Carries out inserts and removes of one entity as one move, and announces it. False, and nothing happens, when it is
/// dead.
pub(crate) fn apply(
    world: &mut World,
    merge: &mut Merge,
    queue: &mut Queue,
    entity: Entity,
    steps: &[usize],
) -> bool {
    if !world.contains(entity) {
        return false;
    }
    match if world.reactions.is_active() { foresee(world, queue, entity, steps) } else { None } {
        None => move_once(world, merge, queue, entity, steps),
        Some(changes) => {
            world.announced(entity, &changes, |world| move_once(world, merge, queue, entity, steps));
        }
    }
    true
}

/// What the steps do to components that have listeners.
#[cold]
fn foresee(world: &mut World, queue: &Queue, entity: Entity, steps: &[usize]) -> Option<Changes> {
    let mut heard = Signature::empty();
    for &at in steps {
        if let What::Insert { kind, .. } | What::Remove { kind } = queue.steps[at].what {
            let bundle = queue.kinds[kind as usize].bundle(world);
            let here = &world.bundles.info(bundle).heard;
            if !here.is_empty() {
                heard = heard.union(here);
            }
        }
    }
    if heard.is_empty() {
        return None;
    }
    let pool = world.pool_of(entity)?;
    let mut foreseen = Foreseen::new(world, entity, &heard);
    for &at in steps {
        match queue.steps[at].what {
            What::Insert { kind, existing, .. } => {
                let bundle = queue.kinds[kind as usize].bundle(world);
                if world.may_insert(pool, bundle).is_ok() {
                    foreseen.insert(world.bundles.info(bundle), existing);
                }
            }
            What::Remove { kind } => {
                let bundle = queue.kinds[kind as usize].bundle(world);
                if world.may_remove(pool, bundle).is_ok() {
                    foreseen.remove(world.bundles.info(bundle));
                }
            }
            _ => {}
        }
    }
    Some(foreseen.changes()).filter(|changes| !changes.is_empty())
}

/// Gives an entity values of components whose types are erased, as one move. The caller has asked whether
/// entity, ids, types and pool allow it, and announces it.
pub(crate) fn insert_boxed(
    world: &mut World,
    entity: Entity,
    bundle: BundleId,
    values: Vec<(Copier, Boxed)>,
) {
    let mut merge = std::mem::take(&mut world.commands.merge);
    if let Some((mut folded, table)) = begin(world, &mut merge, entity) {
        folded.insert(world, &mut merge.cells, bundle.index(), Existing::Replace);
        merge.cells.existing = Some(Existing::Replace);
        world.with_required(entity, bundle, |world| {
            for (copier, value) in values {
                (copier.unbox)(value, &mut world.store, &world.sets, entity, &mut merge.cells);
            }
        });
        world.grouped(entity, |world| folded.finish(world, &mut merge, table));
        merge.cells.clear();
        merge.cells.drop_leftovers();
    }
    world.commands.merge = merge;
}

/// Looks up where an entity stands, before anything is folded; `None` when it is dead.
fn begin(world: &World, merge: &mut Merge, entity: Entity) -> Option<(Folded, TableId)> {
    if merge.cleared != world.archetypes.edges.cleared() {
        // Tables may have been dropped by commands of a handler.
        merge.forget_edges();
        merge.cleared = world.archetypes.edges.cleared();
    }
    // A panic may have left values of another entity.
    merge.cells.clear();
    let location = world.store.locate(entity)?;
    let source = world.archetypes.of_table(location.table);
    let signature = world.archetypes.signature(source).clone();
    merge.cells.held.extend(world.store.table_columns(location.table));
    Some((Folded { entity, source, signature, required: Vec::new() }, location.table))
}

fn move_once(world: &mut World, merge: &mut Merge, queue: &mut Queue, entity: Entity, steps: &[usize]) {
    let Some((mut folded, table)) = begin(world, merge, entity) else { return };
    let pool = world.archetypes.pool_of(folded.source);
    for &at in steps {
        match queue.begin(at) {
            What::Insert { kind, slot, existing } => {
                let kind = &mut queue.kinds[kind as usize];
                let bundle = kind.bundle(world);
                if let Err(refusal) = world.may_insert(pool, bundle) {
                    world.note_refused(world.refused(entity, refusal), false);
                    kind.refuse(slot, &mut merge.cells);
                    continue;
                }
                folded.insert(world, &mut merge.cells, bundle.index(), existing);
                merge.cells.existing = Some(existing);
                kind.scatter(slot, world, entity, existing, &mut merge.cells);
            }
            What::Remove { kind } => {
                let kind = &queue.kinds[kind as usize];
                let bundle = kind.bundle(world);
                if let Err(refusal) = world.may_remove(pool, bundle) {
                    world.note_refused(world.refused(entity, refusal), false);
                    continue;
                }
                folded.remove(world, &mut merge.cells, bundle.index());
                kind.remove_sparse(world, entity, &mut merge.cells);
            }
            _ => {}
        }
    }
    world.grouped(entity, |world| folded.finish(world, merge, table));
    merge.cells.clear();
    merge.cells.drop_leftovers();
}

impl Folded {
    fn insert(&mut self, world: &World, cells: &mut Cells, bundle: usize, existing: Existing) {
        let info = world.bundles.info_at(bundle);
        if existing == Existing::Replace {
            // A value of its own comes in the place of the required one.
            self.required.retain(|(id, _)| {
                let stays = !info.signature.has(*id);
                let columns = world.components.info(*id).columns();
                cells.held.retain(|held| stays || !columns.contains(held));
                stays
            });
        }
        for (id, init) in &info.required {
            if !self.signature.has(*id) {
                self.signature = self.signature.with(*id);
                cells.held.extend_from_slice(world.components.info(*id).columns());
                self.required.push((*id, init.clone()));
            }
        }
        self.signature = self.signature.union(&info.signature);
    }

    fn remove(&mut self, world: &World, cells: &mut Cells, bundle: usize) {
        for id in &world.bundles.info_at(bundle).signature {
            if !self.signature.has(id) {
                continue;
            }
            self.signature = self.signature.without(id);
            self.required.retain(|(known, _)| *known != id);
            for column in world.components.info(id).columns() {
                cells.held.retain(|held| held != column);
                cells.empty(*column);
            }
        }
    }

    fn finish(mut self, world: &mut World, merge: &mut Merge, table: TableId) {
        // What was there, went, and comes again as a requirement: its old value must go first.
        let pool = world.archetypes.pool_of(self.source);
        let renewed = |(id, _): &(ComponentId, Init)| world.archetypes.signature(self.source).has(*id);
        if self.required.iter().any(renewed) {
            let left = world.archetypes.signature(self.source).intersection(&self.signature);
            let left = self.required.iter().fold(left, |left, (id, _)| left.without(*id));
            let between = world.archetype(pool, left);
            follow(
                world,
                merge,
                self.entity,
                &EdgeKey { from: self.source, to: between, filled: Vec::new() },
                &[],
            );
            self.source = between;
        }
        let last = merge.last.take();
        let last = last.filter(|last| last.key.from == self.source && last.signature == self.signature);
        let target = match &last {
            Some(last) => last.key.to,
            None => world.archetype(pool, self.signature.clone()),
        };
        merge.last = last;
        let stands = world.archetypes.table(self.source).unwrap_or(table);
        let mut moved = Ok(());
        if target != self.source {
            let mut filled = merge.cells.full();
            filled.retain(|&column| !world.store.table_has(stands, column));
            let key = EdgeKey { from: self.source, to: target, filled };
            moved = catch_unwind(AssertUnwindSafe(|| {
                let edge = follow(world, merge, self.entity, &key, &self.required);
                merge.last = edge.map(|edge| Last { key, signature: self.signature, edge });
            }));
            if world.archetype_of(self.entity) != Some(target) {
                // A value could not be made, and nothing has moved.
                return moved.unwrap_or_else(|panic| resume_unwind(panic));
            }
        }
        merge.cells.replace_all(&mut world.store, self.entity);
        // A value that was removed may have panicked in its drop.
        moved.unwrap_or_else(|panic| resume_unwind(panic));
    }
}

/// Moves the entity, filling columns from cells and by the functions of required components. Returns the position of the
/// edge, if it is kept.
fn follow(
    world: &mut World,
    merge: &mut Merge,
    entity: Entity,
    key: &EdgeKey,
    required: &[(ComponentId, Init)],
) -> Option<usize> {
    let inits: Vec<Init> = required.iter().map(|(_, init)| init.clone()).collect();
    let edge = |world: &World, key: &EdgeKey| {
        world.edge(key.from, key.to, |store, from, to| store.fill_edge(from, to, &key.filled, &inits))
    };
    let Merge { cells, edges, found, last, .. } = merge;
    // The functions of required components are not part of what tells edges apart: such an edge is used once.
    let (once, at);
    let edge = if required.is_empty() {
        let same = last.as_ref().filter(|last| last.key == *key).map(|last| last.edge);
        let position = same.or_else(|| edges.get(key).copied()).unwrap_or_else(|| {
            found.push(edge(world, key));
            edges.insert(key.clone(), found.len() - 1);
            found.len() - 1
        });
        at = Some(position);
        &found[position]
    } else {
        (once, at) = (edge(world, key), None);
        &once
    };
    world.store.insert_filled(entity, edge, |at, column| cells.fill(key.filled[at], column));
    at
}
