//! Several changes of one entity as one move.
//!
//! The steps are folded first, without touching the entity: bundles are taken apart into cells, one per
//! column, where a later value replaces an earlier one; removing empties cells. What is left says which
//! archetype the entity belongs to. It moves there once, along an edge whose missing columns are filled from
//! the cells; cells of columns that it had already are written in place. Sparse parts, which move nothing, go
//! into their sets step by step. Values that nobody keeps are dropped at the end, when the entity is what the
//! steps make of it.
//!
//! A component that is removed and comes again counts as new: its ticks are those of the flush.
//! This file does not know the order of steps: `flush` decides it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use phalanx_store::{
    AnyColId, Col, ColId, Edge, Entity, Existing, FirstPanic, Init, LeafSink, Store, TableId, W,
};

use super::queue::{Leftover, Queue, What, leftover};
use crate::archetype::ArchetypeId;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::steps;
use crate::world::World;

/// A value that waits for its column.
trait Cell: Any + Send + Sync {
    fn is_full(&self) -> bool;
    /// Takes the value away.
    fn clear(&mut self) -> Option<Leftover>;
    /// Takes the value when a row is made.
    fn init(&self) -> Init;
    /// Puts the value in the place of the one that the entity has, and returns that.
    fn replace(&mut self, store: &mut Store, entity: Entity) -> Option<Leftover>;
}

struct Typed<T> {
    id: ColId<T>,
    value: Arc<Mutex<Option<T>>>,
    init: Init,
}

impl<T: Send + Sync + 'static> Typed<T> {
    fn new(id: ColId<T>) -> Self {
        let value = Arc::new(Mutex::new(None));
        let source = Arc::clone(&value);
        let init = Init::new::<Col<T>>(id, move |_| {
            Col(take(&source).expect("an edge is followed while the cells of its columns are full"))
        });
        Self { id, value, init }
    }
}

fn take<T>(value: &Mutex<Option<T>>) -> Option<T> {
    value.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl<T: Send + Sync + 'static> Cell for Typed<T> {
    fn is_full(&self) -> bool {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
    fn clear(&mut self) -> Option<Leftover> {
        leftover(take(&self.value)?)
    }
    fn init(&self) -> Init {
        self.init.clone()
    }
    fn replace(&mut self, store: &mut Store, entity: Entity) -> Option<Leftover> {
        let value = take(&self.value)?;
        leftover(match store.get_mut::<W<T>>(entity, self.id) {
            Some(place) => std::mem::replace(place, value),
            None => value,
        })
    }
}

/// Which columns a way between two archetypes fills from cells.
#[derive(Clone, Hash, Eq)]
struct Way {
    from: ArchetypeId,
    to: ArchetypeId,
    filled: Vec<AnyColId>,
}

impl PartialEq for Way {
    fn eq(&self, other: &Self) -> bool {
        steps::count();
        self.from == other.from && self.to == other.to && self.filled == other.filled
    }
}

/// The cells, and the ways found so far.
#[derive(Default)]
pub(crate) struct Merge {
    /// Indexed by column.
    cells: Vec<Option<Box<dyn Cell>>>,
    /// The columns whose cells were filled for the present entity.
    touched: Vec<AnyColId>,
    /// The columns that the entity has, or that a required component will bring.
    held: Vec<AnyColId>,
    /// What the bundle taken apart at present says about values that are there.
    existing: Option<Existing>,
    ways: HashMap<Way, Edge>,
    /// Values that nobody keeps, dropped when the entity is what its commands make of it.
    pub(super) leftovers: Vec<Leftover>,
}

impl LeafSink for Merge {
    fn leaf<T: Send + Sync + 'static>(&mut self, id: ColId<T>, value: T, existing: Existing) {
        let column = id.any();
        if self.cells.len() <= column.index() {
            self.cells.resize_with(column.index() + 1, || None);
        }
        let cell = self.cells[column.index()].get_or_insert_with(|| Box::new(Typed::new(id)));
        let cell: &mut dyn Any = &mut **cell;
        let cell: &mut Typed<T> = cell.downcast_mut().expect("a column has one type");
        let mut place = cell.value.lock().unwrap_or_else(PoisonError::into_inner);
        let keeps = existing == Existing::Keep || self.existing == Some(Existing::Keep);
        let spare = if keeps && (place.is_some() || self.held.contains(&column)) {
            Some(value)
        } else {
            self.touched.push(column);
            place.replace(value)
        };
        drop(place);
        self.leftovers.extend(spare.and_then(leftover));
    }
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
    /// Forgets the ways, which end when tables are dropped.
    pub(crate) fn forget_ways(&mut self) {
        self.ways.clear();
    }

    fn clear_cells(&mut self) {
        self.held.clear();
        while let Some(column) = self.touched.pop() {
            self.empty_cell(column);
        }
    }

    fn empty_cell(&mut self, column: AnyColId) {
        if let Some(Some(cell)) = self.cells.get_mut(column.index()) {
            self.leftovers.extend(cell.clear());
        }
    }

    /// Drops what nobody keeps, all of it; the first panic is passed on.
    fn drop_leftovers(&mut self) {
        let mut panics = FirstPanic::default();
        while let Some(leftover) = self.leftovers.pop() {
            panics.guard(|| drop(leftover));
        }
        panics.resume();
    }

    fn is_full(&self, column: AnyColId) -> bool {
        self.cells.get(column.index()).and_then(Option::as_ref).is_some_and(|cell| cell.is_full())
    }
}

/// Carries out inserts and removes of one living entity as one move.
pub(crate) fn apply(
    world: &mut World,
    merge: &mut Merge,
    queue: &mut Queue,
    entity: Entity,
    steps: &[usize],
) {
    // A panic may have left values of another entity.
    merge.clear_cells();
    let Some(place) = world.store.locate(entity) else { return };
    let source = world.archetypes.of_table(place.table);
    let signature = world.archetypes.signature(source).clone();
    merge.held.extend(world.store.table_columns(place.table));
    let pool = world.archetypes.pool_of(source);
    let mut folded = Folded { entity, source, signature, required: Vec::new() };
    for &at in steps {
        match queue.begin(at) {
            What::Insert { kind, slot, existing } => {
                let kind = &mut queue.kinds[kind as usize];
                let bundle = kind.bundle(world);
                if let Err(refusal) = world.may_insert(pool, bundle) {
                    world.note_refused(world.refused(entity, refusal));
                    kind.refuse(slot, merge);
                    continue;
                }
                folded.insert(world, merge, bundle.index(), existing);
                merge.existing = Some(existing);
                kind.scatter(slot, world, entity, existing, merge);
            }
            What::Remove { kind } => {
                let kind = &queue.kinds[kind as usize];
                let bundle = kind.bundle(world);
                if let Err(refusal) = world.may_remove(pool, bundle) {
                    world.note_refused(world.refused(entity, refusal));
                    continue;
                }
                folded.remove(world, merge, bundle.index());
                kind.remove_sparse(world, entity, merge);
            }
            _ => {}
        }
    }
    world.grouped(entity, |world| folded.finish(world, merge, place.table));
    merge.clear_cells();
    merge.drop_leftovers();
}

impl Folded {
    fn insert(&mut self, world: &World, merge: &mut Merge, bundle: usize, existing: Existing) {
        let info = world.bundles.info_at(bundle);
        if existing == Existing::Replace {
            // A value of its own comes in the place of the required one.
            self.required.retain(|(id, _)| {
                let stays = !info.signature.has(*id);
                let columns = world.components.info(*id).columns();
                merge.held.retain(|held| stays || !columns.contains(held));
                stays
            });
        }
        for (id, init) in &info.required {
            if !self.signature.has(*id) {
                self.signature = self.signature.with(*id);
                merge.held.extend_from_slice(world.components.info(*id).columns());
                self.required.push((*id, init.clone()));
            }
        }
        self.signature = self.signature.union(&info.signature);
    }

    fn remove(&mut self, world: &World, merge: &mut Merge, bundle: usize) {
        for id in &world.bundles.info_at(bundle).signature {
            if !self.signature.has(id) {
                continue;
            }
            self.signature = self.signature.without(id);
            self.required.retain(|(known, _)| *known != id);
            for column in world.components.info(id).columns() {
                merge.held.retain(|held| held != column);
                merge.empty_cell(*column);
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
                Way { from: self.source, to: between, filled: Vec::new() },
                &[],
            );
            self.source = between;
        }
        let target = world.archetype(pool, self.signature);
        let stands = world.archetypes.table(self.source).unwrap_or(table);
        let mut moved = Ok(());
        if target != self.source {
            let mut filled = merge.touched.clone();
            filled.sort_unstable();
            filled.dedup();
            filled.retain(|&column| merge.is_full(column) && !world.store.table_has(stands, column));
            let way = Way { from: self.source, to: target, filled };
            moved = catch_unwind(AssertUnwindSafe(|| follow(world, merge, self.entity, way, &self.required)));
            if world.archetype_of(self.entity) != Some(target) {
                // A value could not be made, and nothing has moved.
                return moved.unwrap_or_else(|panic| resume_unwind(panic));
            }
        }
        for at in 0..merge.touched.len() {
            let column = merge.touched[at].index();
            if let Some(Some(cell)) = merge.cells.get_mut(column) {
                merge.leftovers.extend(cell.replace(&mut world.store, self.entity));
            }
        }
        // A value that was removed may have panicked in its drop.
        moved.unwrap_or_else(|panic| resume_unwind(panic));
    }
}

/// Moves the entity, filling columns from cells and by the functions of required components.
fn follow(world: &mut World, merge: &mut Merge, entity: Entity, way: Way, required: &[(ComponentId, Init)]) {
    let edge = |world: &World, merge: &Merge, way: &Way| {
        let cells = way.filled.iter().filter_map(|column| merge.cells.get(column.index())?.as_ref());
        let inits = cells.map(|cell| cell.init()).chain(required.iter().map(|(_, init)| init.clone()));
        let inits: Vec<Init> = inits.collect();
        world.edge(way.from, way.to, |store, source, target| {
            store.insert_edge::<()>(source, target, (), &inits)
        })
    };
    // The functions of required components are not part of what tells ways apart: such a way is used once.
    if !required.is_empty() {
        let edge = edge(world, merge, &way);
        let _ = world.store.insert(entity, &edge, (), Existing::Replace);
        return;
    }
    if !merge.ways.contains_key(&way) {
        let edge = edge(world, merge, &way);
        merge.ways.insert(way.clone(), edge);
    }
    let _ = world.store.insert(entity, &merge.ways[&way], (), Existing::Replace);
}
