//! The one place where rows move: spawn, insert, remove, despawn.
//!
//! Every operation follows the same order, so that a panic in the user's code can at worst leak:
//!
//! 1. what can fail or panic: liveness, room, values made by functions (into rows that do not count yet);
//! 2. copies and bookkeeping, where nothing can panic: new row counts, old row is closed by the last one;
//! 3. the user's drop glue, for values that no structure knows any more.
//!
//! A doomed value is swapped behind the end of its table in step 2 and dropped there in step 3.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use crate::column::{BLOCK_ROWS, copy_value};
use crate::entities::Exhausted;
use crate::entity::Entity;
use crate::place::{Place, Row, TableId};
use crate::plan::Edge;
use crate::store::Store;
use crate::values::{Existing, Values};

/// The first panic of several, kept while the others' work is finished.
#[derive(Default)]
#[must_use]
pub(crate) struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    /// Runs the user's code, keeping its panic for later.
    pub(crate) fn guard(&mut self, f: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
            self.0.get_or_insert(panic);
        }
    }

    /// Adds what another guard kept.
    pub(crate) fn join(&mut self, other: Self) {
        self.0 = self.0.take().or(other.0);
    }

    /// Lets the panic be: another one is being passed on.
    pub(crate) fn forget(self) {}

    /// Goes on with the first panic, if there was one.
    pub(crate) fn resume(self) {
        if let Some(panic) = self.0 {
            resume_unwind(panic);
        }
    }
}

impl Store {
    /// Spawns an entity with these values, along an edge from [`TableId::ROWLESS`].
    ///
    /// # Errors
    /// When all entity indices are in use.
    ///
    /// # Panics
    /// When the edge is stale or does not begin at [`TableId::ROWLESS`].
    #[inline]
    pub fn spawn<V: Values>(&mut self, edge: &Edge, values: V) -> Result<Entity, Exhausted> {
        self.expect_edge::<V>(edge, false);
        assert!(edge.source == TableId::ROWLESS, "spawning follows an edge from nowhere");
        let table = edge.target;
        if table == TableId::ROWLESS {
            return self.entities.alloc();
        }
        self.make_room(table, 1);
        let row = self.lens[table.index()] as usize;
        let pending = self.run_inits(edge, row);
        let entity = match self.entities.alloc_at(Place { table, row: Row::from_index(row) }) {
            Ok(entity) => entity,
            Err(error) => {
                pending.abandon(self);
                return Err(error);
            }
        };
        let pointers = V::pointers(&self.tables[table.index()].columns, &mut edge.slots.iter());
        // SAFETY: the plan found a column of the leaf's type for each leaf, and there is room for the row (I1, I3, I7).
        unsafe { values.write(pointers, row) };
        // SAFETY: there is room for the row (I3).
        unsafe { self.owner_at(table, row).write(entity) };
        self.lens[table.index()] += 1;
        self.mark_rows(table, row, 1);
        Ok(entity)
    }

    /// Spawns an entity without a row.
    ///
    /// # Errors
    /// When all entity indices are in use.
    pub fn spawn_rowless(&mut self) -> Result<Entity, Exhausted> {
        self.entities.alloc()
    }

    /// Inserts values into an entity that stands at the edge's source.
    ///
    /// # Errors
    /// Gives the values back when the entity is dead or stands elsewhere.
    ///
    /// # Panics
    /// When the edge is stale.
    #[inline]
    pub fn insert<V: Values>(
        &mut self,
        entity: Entity,
        edge: &Edge,
        values: V,
        existing: Existing,
    ) -> Result<(), V> {
        drop(self.replace(entity, edge, values, existing)?);
        Ok(())
    }

    /// As [`Store::insert`]; what is left over of values that were there is returned, to be dropped when the caller
    /// likes.
    ///
    /// # Errors
    /// Gives the values back when the entity is dead or stands elsewhere.
    ///
    /// # Panics
    /// When the edge is stale.
    #[inline]
    pub fn replace<V: Values>(
        &mut self,
        entity: Entity,
        edge: &Edge,
        values: V,
        existing: Existing,
    ) -> Result<V::Old, V> {
        self.expect_edge::<V>(edge, false);
        let Some(row) = self.row_at(entity, edge.source) else { return Err(values) };
        let mask = V::mask(&mut edge.present.iter());
        Ok(self.relocate(entity, row, edge, |store, to| {
            let pointers = V::pointers(&store.tables[edge.target.index()].columns, &mut edge.slots.iter());
            // SAFETY: leaves have columns of their type in the target (I1, I7), with room for the row (I3); the masked
            // ones were copied there from the source, or stand there already (I2).
            unsafe { values.merge(pointers, mask, to, existing) }
        }))
    }

    /// Removes what the entity has of `V`, and drops it. False when it is dead or stands elsewhere.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn remove<V: Values>(&mut self, entity: Entity, edge: &Edge) -> bool {
        self.detach::<V>(entity, edge).is_some()
    }

    /// Removes `V` and returns it. `None`, and nothing happens, when the entity is dead, stands elsewhere, or
    /// lacks a part.
    ///
    /// # Panics
    /// When the edge is stale.
    #[inline]
    pub fn take<V: Values>(&mut self, entity: Entity, edge: &Edge) -> Option<V> {
        self.expect_edge::<V>(edge, true);
        if edge.present.contains(&false) {
            return None;
        }
        V::complete(self.detach::<V>(entity, edge)?)
    }

    /// As [`Store::remove`]; what the entity had is returned, to be dropped when the caller likes.
    ///
    /// # Panics
    /// When the edge is stale.
    #[inline]
    pub fn detach<V: Values>(&mut self, entity: Entity, edge: &Edge) -> Option<V::Old> {
        self.expect_edge::<V>(edge, true);
        let row = self.row_at(entity, edge.source)?;
        let mask = V::mask(&mut edge.present.iter());
        Some(self.relocate(entity, row, edge, |store, _| {
            let pointers = V::pointers(&store.tables[edge.source.index()].columns, &mut edge.slots.iter());
            // SAFETY: masked leaves are columns of the source (I1, I7), initialised at the entity's row (I2, I5); the
            // row is closed next, and the target has none of them.
            unsafe { V::take(pointers, mask, row) }
        }))
    }

    /// Despawns an entity and drops its values. False when it was dead already.
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        let Some(Place { table, row }) = self.entities.free(entity) else { return false };
        let mut panics = FirstPanic::default();
        if table != TableId::ROWLESS {
            // Lent out for the call: `leave` needs the store as a whole.
            let doomed = std::mem::take(&mut self.tables[table.index()].droppers);
            // SAFETY: the directory gave the row, which is in range (I5); doomed values go behind the end, the others
            // have no drop glue and may be overwritten (I2).
            unsafe { self.leave(table, row.index(), &doomed) };
            self.tables[table.index()].droppers = doomed;
        }
        let sets = if self.sets.is_empty() { Vec::new() } else { self.leave_all_sets(entity) };
        // The entity is gone from every structure: the user's code may run.
        let doomed = &self.tables[table.index()].droppers;
        if !doomed.is_empty() {
            panics.join(self.drop_doomed(table, doomed, 1));
        }
        panics.join(self.drop_leavers(&sets));
        panics.resume();
        true
    }

    #[inline(always)]
    fn row_at(&self, entity: Entity, table: TableId) -> Option<usize> {
        let place = self.entities.locate(entity)?;
        (place.table == table).then_some(place.row.index())
    }

    /// Takes an entity along an edge. `values` reads from the source or writes to the target row; it runs
    /// when the shared columns were copied and both rows still count.
    #[inline(always)]
    fn relocate<R>(
        &mut self,
        entity: Entity,
        row: usize,
        edge: &Edge,
        values: impl FnOnce(&Self, usize) -> R,
    ) -> R {
        let (source, target) = (edge.source, edge.target);
        if source == target {
            // Values without leaves, such as those of sparse components alone, touch no row.
            if source != TableId::ROWLESS && !edge.slots.is_empty() {
                self.mark_rows(source, row, 1);
            }
            return values(self, row);
        }
        self.moves += 1;
        let mut to = entity.index() as usize;
        if target != TableId::ROWLESS {
            self.make_room(target, 1);
            to = self.lens[target.index()] as usize;
            self.run_inits(edge, to).keep();
        }
        let (from, into) = (&self.tables[source.index()].columns, &self.tables[target.index()].columns);
        for &(at, dest) in &edge.copies {
            let (from, into) = (&from[usize::from(at)], &into[usize::from(dest)]);
            // SAFETY: both are the same column in different tables (I1, I7): the source row is in range (I5), the target
            // has room for one more (I3).
            unsafe { copy_value(from.data.add(row * from.size), into.data.add(to * from.size), from.size) };
        }
        let result = values(self, to);
        if target != TableId::ROWLESS {
            // SAFETY: there is room for the row (I3).
            unsafe { self.owner_at(target, to).write(entity) };
            self.lens[target.index()] += 1;
            self.mark_rows(target, to, 1);
        }
        self.put_at(entity, target, to);
        if source != TableId::ROWLESS {
            // SAFETY: the row is in range (I5); its values were copied away, taken, or are doomed (I7).
            unsafe { self.leave(source, row, &edge.doomed) };
            if !edge.doomed.is_empty() {
                self.drop_doomed(source, &edge.doomed, 1).resume();
            }
        }
        result
    }

    /// Takes a row out of a table: the last row takes its place, doomed values end up right behind the end.
    /// Returns the entity whose row moved, for the caller to note its new place.
    ///
    /// # Safety
    /// `row` is in range; its values, but for those of `doomed` columns (ascending), are not needed any more.
    #[inline(always)]
    pub(crate) unsafe fn close_gap(&mut self, table: TableId, row: usize, doomed: &[u16]) -> Option<Entity> {
        let mut owner = None;
        let last = self.lens[table.index()] as usize - 1;
        if row != last {
            let columns = &self.tables[table.index()].columns;
            if doomed.is_empty() {
                for column in columns {
                    let data = column.data;
                    // SAFETY: both rows are in range and differ (I2, I5).
                    unsafe {
                        copy_value(data.add(last * column.size), data.add(row * column.size), column.size);
                    }
                }
            } else {
                let mut doomed = doomed.iter().copied().peekable();
                for (at, column) in (0u16..).zip(columns) {
                    let (here, end) = (row * column.size, last * column.size);
                    if doomed.next_if_eq(&at).is_some() {
                        // SAFETY: as above; the doomed value and the last one change places.
                        unsafe {
                            ptr::swap_nonoverlapping(
                                column.data.add(here),
                                column.data.add(end),
                                column.size,
                            );
                        }
                    } else {
                        // SAFETY: as above.
                        unsafe { copy_value(column.data.add(end), column.data.add(here), column.size) };
                    }
                }
            }
            // SAFETY: both rows are in range (I5).
            let moved = unsafe { self.owner_at(table, last).read() };
            // SAFETY: as above.
            unsafe { self.owner_at(table, row).write(moved) };
            owner = Some(moved);
        }
        self.lens[table.index()] -= 1;
        self.mark_rows(table, row, 1);
        if last >= BLOCK_ROWS {
            // Another block than that of the row may have lost its last one.
            self.mark_rows(table, last, 1);
        }
        owner
    }

    /// As [`Store::close_gap`], for a row that is an entity's place.
    ///
    /// # Safety
    /// As for `close_gap`.
    #[inline(always)]
    unsafe fn leave(&mut self, table: TableId, row: usize, doomed: &[u16]) {
        // SAFETY: forwarded.
        if let Some(moved) = unsafe { self.close_gap(table, row, doomed) } {
            self.entities.set_row(moved.index(), Row::from_index(row));
        }
    }

    /// Drops `count` values of each of these columns, which lie right behind the end of the table.
    pub(crate) fn drop_doomed(&self, table: TableId, doomed: &[u16], count: usize) -> FirstPanic {
        self.drop_at(table, doomed, self.lens[table.index()] as usize, count)
    }

    /// Drops `count` values of each of these columns, from a row on: rows that do not count, or count no more.
    #[inline(never)]
    pub(crate) fn drop_at(&self, table: TableId, doomed: &[u16], row: usize, count: usize) -> FirstPanic {
        let mut panics = FirstPanic::default();
        for &at in doomed {
            let column = &self.tables[table.index()].columns[usize::from(at)];
            if let Some(drop) = column.of.drop {
                // SAFETY: callers left initialised values there, which nothing else refers to (I2, I11).
                panics.guard(|| unsafe { drop(column.data.add(row * column.size), count) });
            }
        }
        panics
    }

    /// Runs the edge's functions for a row that does not count yet.
    #[inline(always)]
    pub(crate) fn run_inits<'e>(&self, edge: &'e Edge, row: usize) -> Pending<'e> {
        if edge.inits.is_empty() {
            return Pending { edge, row, done: 0 };
        }
        self.run_some_inits(edge, row)
    }

    #[inline(never)]
    fn run_some_inits<'e>(&self, edge: &'e Edge, row: usize) -> Pending<'e> {
        let mut pending = Pending { edge, row, done: 0 };
        let mut panics = FirstPanic::default();
        for init in &edge.inits {
            let columns = &self.tables[edge.target.index()].columns;
            let mut finished = false;
            panics.guard(|| {
                // SAFETY: the target's columns have room for the row (I3), for which the plan named these slots (I7).
                unsafe { init.run(self.tick, columns, row) };
                finished = true;
            });
            if !finished {
                pending.abandon(self);
                panics.resume();
                unreachable!("a function that did not finish has panicked");
            }
            pending.done += 1;
        }
        pending
    }
}

/// Values that were made for a row which does not count yet.
#[must_use]
pub(crate) struct Pending<'e> {
    edge: &'e Edge,
    row: usize,
    done: usize,
}

impl<'e> Pending<'e> {
    /// What all functions of the edge made for a row.
    pub(crate) fn of(edge: &'e Edge, row: usize) -> Self {
        Self { edge, row, done: edge.inits.len() }
    }

    /// The row will count: its values belong to the table.
    #[inline(always)]
    pub(crate) fn keep(self) {}

    /// The row will not count: drops what was made for it.
    pub(crate) fn abandon(self, store: &Store) {
        let columns = &store.tables[self.edge.target.index()].columns;
        let mut panics = FirstPanic::default();
        for init in &self.edge.inits[..self.done] {
            for column in init.slots.iter().filter_map(|&slot| columns.get(usize::from(slot))) {
                if let Some(drop) = column.of.drop {
                    // SAFETY: the function wrote an initialised value to this row, which is not counted (I2).
                    panics.guard(|| unsafe { drop(column.data.add(self.row * column.size), 1) });
                }
            }
        }
        panics.resume();
    }
}
