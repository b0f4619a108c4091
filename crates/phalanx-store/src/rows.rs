//! The one place where rows move: spawn, insert, remove, despawn.
//!
//! Every operation follows the same order, so that a panic in the user's code can at worst leak:
//!
//! 1. what can fail or panic: liveness, room, values made by functions (into rows that do not count yet);
//! 2. copies and bookkeeping, where nothing can panic: new row counts, old row is closed by the last one;
//! 3. the user's drop glue, for values that no structure knows any more.
//!
//! A doomed value is swapped behind the end of its table in step 2 and dropped there in step 3. How functions make
//! values is in `pending`, how a row leaves its table in `relocate`.

use std::sync::atomic::Ordering;

use crate::entities::Exhausted;
use crate::entity::Entity;
use crate::panics::FirstPanic;
use crate::place::{Place, Row, TableId};
use crate::plan::Edge;
use crate::store::Store;
use crate::table::Head;
use crate::values::{Existing, Values};

pub use fill::OpenColumn;
pub(crate) use pending::Pending;

mod fill;
mod pending;
mod relocate;

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
}
