//! The one place where rows move: spawn, insert, remove, despawn.
//!
//! Every operation follows the same order, so that a panic in the user's code can at worst leak:
//!
//! 1. what can fail or panic: liveness, room, values made by functions (into rows that do not count yet);
//! 2. copies and bookkeeping, where nothing can panic: new row counts, old row is closed by the last one;
//! 3. the user's drop glue, for values that no structure knows any more.
//!
//! A doomed value is swapped behind the end of its table in step 2 and dropped there in step 3.

use std::sync::atomic::Ordering;

use crate::column::copy_value;
use crate::entities::Exhausted;
use crate::entity::Entity;
use crate::panics::FirstPanic;
use crate::place::{Place, Row, TableId};
use crate::plan::Edge;
use crate::store::Store;
use crate::table::Head;
use crate::values::{Existing, Values};

/// Values that found no place, and why.
#[derive(Debug)]
pub enum NotInserted<V> {
    /// The entity is dead.
    Dead(V),
    /// The entity stands in this table, from which no way was named.
    NoWay(V, TableId),
}

impl<V> NotInserted<V> {
    /// The values.
    pub fn into_values(self) -> V {
        match self {
            Self::Dead(values) | Self::NoWay(values, _) => values,
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
    #[inline(always)]
    pub fn spawn<V: Values>(&mut self, edge: &Edge, values: V) -> Result<Entity, Exhausted> {
        self.expect_edge::<V>(edge, false);
        assert!(edge.source == TableId::ROWLESS, "spawning follows an edge from nowhere");
        edge.expect_fit(&values);
        let table = edge.target;
        if table == TableId::ROWLESS {
            return self.entities.alloc();
        }
        let row = self.next_row(table);
        let pending = self.run_inits(edge, row);
        let entity = match self.entities.alloc_at(Place { table, row: Row::from_index(row) }) {
            Ok(entity) => entity,
            Err(error) => {
                pending.abandon();
                return Err(error);
            }
        };
        // SAFETY: the plan found a column of the leaf's type for each leaf, in a table that lives (I1, I7), and there is room
        // for the row, in which each column has its value then (I3).
        unsafe {
            values.write(V::pointers(&mut edge.slots.iter()), row);
            self.count_row(table, entity);
        }
        Ok(entity)
    }

    /// The row behind the last one, with room for it.
    #[inline(always)]
    pub(crate) fn next_row(&mut self, table: TableId) -> usize {
        assert!(table.index() < self.heads.len(), "the table exists");
        // SAFETY: locally: asked just now.
        unsafe { self.next_row_of(table) }
    }

    /// As [`Store::next_row`].
    ///
    /// # Safety
    /// The table exists.
    #[inline(always)]
    pub(crate) unsafe fn next_row_of(&mut self, table: TableId) -> usize {
        // SAFETY: forwarded.
        let head = unsafe { self.head_of(table) };
        let row = head.len as usize;
        if row == head.capacity as usize {
            self.grow(table, row + 1);
        }
        row
    }

    /// # Safety
    /// The table exists.
    #[inline(always)]
    pub(crate) unsafe fn head_of(&mut self, table: TableId) -> &mut Head {
        debug_assert!(table.index() < self.heads.len());
        // SAFETY: forwarded: each table has a head (I4).
        unsafe { self.heads.get_unchecked_mut(table.index()) }
    }

    /// Lets the row behind the last one count, as this entity's.
    ///
    /// # Safety
    /// The table has room for the row, in which each of its columns has a value.
    #[inline(always)]
    pub(crate) unsafe fn count_row(&mut self, table: TableId, entity: Entity) {
        let tick = self.tick;
        // SAFETY: the table exists, since it has room for a row (I3); forwarded.
        unsafe {
            let head = self.head_of(table);
            head.count(head.len, entity, tick);
        }
    }

    /// Adds a row behind the last one, and tells which. All is looked up before `write` writes, and not again.
    ///
    /// # Safety
    /// The table exists; `write` writes a value to each of its columns, for which there is room.
    #[inline(always)]
    pub(crate) unsafe fn append_row(
        &mut self,
        table: TableId,
        entity: Entity,
        write: impl FnOnce(usize),
    ) -> usize {
        let tick = self.tick;
        // SAFETY: forwarded; there is room for the row then (I3).
        unsafe {
            let row = self.next_row_of(table);
            let head = self.head_of(table);
            let owner = head.owners.data.cast::<Entity>().add(row);
            let mark = head.owners.tick_of(row);
            write(row);
            owner.write(entity);
            mark.store(tick.get(), Ordering::Relaxed);
            // As many as there were, and one: rows are below 2^32 - 1.
            head.len = Row::from_index(row + 1).get();
            row
        }
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
        let way = |table| (table == edge.source).then_some(edge);
        self.replace_along(entity, values, existing, way).map_err(NotInserted::into_values)
    }

    /// As [`Store::replace`], along the edge that `way` names for the table where the entity stands.
    ///
    /// # Errors
    /// Gives the values back when the entity is dead or no way is known.
    ///
    /// # Panics
    /// When the edge is stale.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn replace_along<'e, V: Values>(
        &mut self,
        entity: Entity,
        values: V,
        existing: Existing,
        way: impl FnOnce(TableId) -> Option<&'e Edge>,
    ) -> Result<V::Old, NotInserted<V>> {
        let Some(place) = self.entities.locate(entity) else { return Err(NotInserted::Dead(values)) };
        let Some(edge) = way(place.table).filter(|edge| edge.source == place.table) else {
            return Err(NotInserted::NoWay(values, place.table));
        };
        self.expect_edge::<V>(edge, false);
        edge.expect_fit(&values);
        let mask = V::mask(&mut edge.present.iter());
        Ok(self.relocate(entity, place.row.index(), edge, |to| {
            // SAFETY: leaves have columns of their type in the target (I1, I7), with room for the row (I3); the masked
            // ones were copied there from the source, or stand there already (I2).
            unsafe { values.merge(V::pointers(&mut edge.slots.iter()), mask, to, existing) }
        }))
    }

    /// Removes what the entity has of `V`, and drops it. False when it is dead or stands elsewhere.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn remove<V: Values>(&mut self, entity: Entity, edge: &Edge) -> bool {
        self.expect_edge::<V>(edge, true);
        self.detach_along::<V>(entity, |table| (table == edge.source).then_some(edge)).is_ok()
    }

    /// Removes what the entity has of `V`, along the edge that `way` names for the table where it stands. What it had
    /// is returned, to be dropped when the caller likes.
    ///
    /// # Errors
    /// When the entity is dead (`None`), or no way is known from its table.
    ///
    /// # Panics
    /// When the edge is stale.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn detach_along<'e, V: Values>(
        &mut self,
        entity: Entity,
        way: impl FnOnce(TableId) -> Option<&'e Edge>,
    ) -> Result<V::Old, Option<TableId>> {
        let place = self.entities.locate(entity).ok_or(None)?;
        let edge = way(place.table).filter(|edge| edge.source == place.table).ok_or(Some(place.table))?;
        Ok(self.take_present::<V>(entity, place.row.index(), edge))
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
        let place = self.entities.locate(entity).filter(|place| place.table == edge.source)?;
        Some(self.take_present::<V>(entity, place.row.index(), edge))
    }

    /// Moves what the row has of `V` out; the entity stands there, at the edge's source.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_present<V: Values>(&mut self, entity: Entity, row: usize, edge: &Edge) -> V::Old {
        self.expect_edge::<V>(edge, true);
        let mask = V::mask(&mut edge.present.iter());
        self.relocate(entity, row, edge, |_| {
            // SAFETY: masked leaves are columns of the source (I1, I7), initialised at the entity's row (I2, I5); the
            // row is closed next, and the target has none of them.
            unsafe { V::take(V::pointers(&mut edge.slots.iter()), mask, row) }
        })
    }

    /// Despawns an entity and drops its values. False when it was dead already.
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        let Some(Place { table, row }) = self.entities.free(entity) else { return false };
        if !self.tables[table.index()].droppers.is_empty() {
            self.leave_doomed(table, row.index());
        } else if table != TableId::ROWLESS {
            // SAFETY: the directory gave the row, which is in range (I5); its values have no drop glue, and may be
            // overwritten (I2).
            unsafe { self.leave(table, row.index(), &[]) };
            if self.sets.is_empty() {
                return true;
            }
        }
        self.bury(entity, table);
        true
    }

    /// Takes the row of a dead entity out of its table; values with drop glue are left behind the end.
    #[inline(never)]
    fn leave_doomed(&mut self, table: TableId, row: usize) {
        // Lent out for the call: `leave` needs the store as a whole.
        let doomed = std::mem::take(&mut self.tables[table.index()].droppers);
        // SAFETY: the directory gave the row, which is in range (I5); doomed values go behind the end, the others have no
        // drop glue and may be overwritten (I2).
        unsafe { self.leave(table, row, &doomed) };
        self.tables[table.index()].droppers = doomed;
    }

    /// Takes a dead entity out of the sets, and drops its values, which lie behind the ends of tables.
    #[inline(never)]
    fn bury(&mut self, entity: Entity, table: TableId) {
        let sets = if self.sets.is_empty() { Vec::new() } else { self.leave_all_sets(entity) };
        // The entity is gone from every structure: the user's code may run.
        let mut panics = FirstPanic::default();
        let doomed = &self.tables[table.index()].droppers;
        if !doomed.is_empty() {
            panics.join(self.drop_doomed(table, doomed, 1));
        }
        panics.join(self.drop_leavers(&sets));
        panics.resume();
    }

    // Here and above: unoptimised, what is always inlined makes large frames of large values.
    /// Takes an entity along an edge. `values` reads from the source or writes to the target row; it runs while both rows
    /// still count, or do not yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn relocate<R>(&mut self, entity: Entity, row: usize, edge: &Edge, values: impl FnOnce(usize) -> R) -> R {
        if edge.plain {
            // SAFETY: callers follow a fresh edge, on which the entity stands at the row (I5, I7).
            unsafe { self.relocate_plainly(entity, row, edge, values) }
        } else {
            self.relocate_with_care(entity, row, edge, values)
        }
    }

    /// As `relocate`: copies a row and closes the gap in one go.
    ///
    /// # Safety
    /// The edge is fresh and plain, and the entity stands at its source, at `row`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn relocate_plainly<R>(
        &mut self,
        entity: Entity,
        row: usize,
        edge: &Edge,
        values: impl FnOnce(usize) -> R,
    ) -> R {
        self.moves += 1;
        let tick = self.tick;
        // SAFETY: both tables live, with the columns that the edge names (I7): the source row and the last one are in range
        // (I5), the target has room for one more (I3). Each of its columns is written, by the copies or by `values` (I7);
        // what is not copied is taken by `values`, before the last row is put in its place (I2).
        unsafe {
            let to = self.next_row_of(edge.target);
            let result = values(to);
            let last = self.head_of(edge.source).len as usize - 1;
            for &(from, into) in &edge.copies {
                let (data, size) = (from.data(), from.size());
                copy_value(data.add(row * size), into.data().add(to * size), size);
                if row != last {
                    copy_value(data.add(last * size), data.add(row * size), size);
                }
            }
            if row != last {
                for from in &edge.left {
                    let (data, size) = (from.data(), from.size());
                    copy_value(data.add(last * size), data.add(row * size), size);
                }
            }
            let (row, to) = (Row::from_index(row), Row::from_index(to));
            self.head_of(edge.target).count(to.get(), entity, tick);
            self.entities.move_place(entity.index(), Place { table: edge.target, row: to });
            if let Some(moved) = self.head_of(edge.source).uncount(row.get(), tick) {
                self.entities.set_row(moved.index(), row);
            }
            result
        }
    }

    /// As `relocate`, for every edge. `values` runs when the shared columns were copied and both rows still count.
    #[inline(never)]
    fn relocate_with_care<R>(
        &mut self,
        entity: Entity,
        row: usize,
        edge: &Edge,
        values: impl FnOnce(usize) -> R,
    ) -> R {
        let (source, target) = (edge.source, edge.target);
        if source == target {
            // Values without leaves, such as those of sparse components alone, touch no row.
            if source != TableId::ROWLESS && !edge.slots.is_empty() {
                self.mark_rows(source, row, 1);
            }
            return values(row);
        }
        self.moves += 1;
        let mut to = entity.index() as usize;
        if target != TableId::ROWLESS {
            to = self.next_row(target);
            self.run_inits(edge, to).keep();
        }
        for &(from, into) in &edge.copies {
            // SAFETY: both are the same column in different tables that live (I1, I7): the source row is in range (I5), the
            // target has room for one more (I3).
            unsafe {
                let size = from.size();
                copy_value(from.data().add(row * size), into.data().add(to * size), size);
            }
        }
        let result = values(to);
        if target != TableId::ROWLESS {
            // SAFETY: there is room for the row (I3), whose columns were copied, made or given (I7).
            unsafe { self.count_row(target, entity) };
        }
        let place = Place { table: target, row: Row::from_index(to) };
        if source.has_rows() && target.has_rows() {
            self.entities.move_place(entity.index(), place);
        } else {
            self.entities.set_place(entity.index(), place);
        }
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
        // SAFETY: the table exists, since it has a row (I5).
        let last = unsafe { self.head_of(table) }.len as usize - 1;
        if row != last && doomed.is_empty() {
            for column in self.tables[table.index()].columns.iter() {
                let data = column.data;
                // SAFETY: both rows are in range and differ (I2, I5).
                unsafe { copy_value(data.add(last * column.size), data.add(row * column.size), column.size) };
            }
        } else if row != last {
            // SAFETY: forwarded; both rows are in range and differ (I2, I5).
            unsafe { self.tables[table.index()].replace_row(row, last, doomed) };
        }
        let tick = self.tick;
        // SAFETY: as above; the last row was put in the place of the other.
        unsafe { self.head_of(table).uncount(Row::from_index(row).get(), tick) }
    }

    /// As [`Store::close_gap`], for a row that is an entity's place.
    ///
    /// # Safety
    /// As for `close_gap`.
    #[inline(always)]
    unsafe fn leave(&mut self, table: TableId, row: usize, doomed: &[u16]) {
        // SAFETY: forwarded; the owner of a row is alive (I5).
        unsafe {
            if let Some(moved) = self.close_gap(table, row, doomed) {
                self.entities.set_row(moved.index(), Row::from_index(row));
            }
        }
    }

    /// Drops `count` values of each of these columns, which lie right behind the end of the table.
    pub(crate) fn drop_doomed(&self, table: TableId, doomed: &[u16], count: usize) -> FirstPanic {
        self.drop_at(table, doomed, self.table_len(table), count)
    }

    /// Drops `count` values of each of these columns, from a row on: rows that do not count, or count no more.
    #[inline(never)]
    pub(crate) fn drop_at(&self, table: TableId, doomed: &[u16], row: usize, count: usize) -> FirstPanic {
        let mut panics = FirstPanic::default();
        for &at in doomed {
            let column = self.tables[table.index()].columns.at(at);
            if let Some(drop) = column.drop {
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
            let mut finished = false;
            panics.guard(|| {
                // SAFETY: callers follow a fresh edge, whose target has room for the row (I3, I7).
                unsafe { init.run(self.tick, row) };
                finished = true;
            });
            if !finished {
                pending.abandon();
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
    pub(crate) fn abandon(self) {
        let mut panics = FirstPanic::default();
        for init in &self.edge.inits[..self.done] {
            // SAFETY: the edge is fresh while it is followed, so its target lives (I7).
            for column in init.slots.iter().filter_map(|slot| unsafe { slot.header() }) {
                if let Some(drop) = column.drop {
                    // SAFETY: the function wrote an initialised value to this row, which is not counted (I2).
                    panics.guard(|| unsafe { drop(column.data.add(self.row * column.size), 1) });
                }
            }
        }
        panics.resume();
    }
}
