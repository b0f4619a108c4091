//! The one place where rows move: spawn, insert, remove, despawn.
//!
//! Every operation follows the same order, so that a panic in the user's code can at worst leak:
//!
//! 1. what can fail or panic: liveness, room, values made by functions (into rows that do not count yet);
//! 2. copies and bookkeeping, where nothing can panic: new row counts, old row is closed by the last one;
//! 3. the user's drop glue, for values that no structure knows any more.
//!
//! A removed value is swapped behind the end of its table in step 2 and dropped there in step 3. How functions make
//! values is in `pending`, how a row leaves its table in `relocate`.

use crate::entities::Exhausted;
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::panics::FirstPanic;
use crate::plan::Edge;
use crate::store::Store;
use crate::table::TableMeta;
use crate::values::{Existing, Values};

pub(crate) use columns::AnyValues;
pub use columns::ColumnRows;
pub use fill::OpenColumn;
pub(crate) use pending::Pending;

mod columns;
mod fill;
mod pending;
mod relocate;

/// Values that were not inserted, and why.
#[derive(Debug)]
pub enum NotInserted<V> {
    /// The entity is dead.
    Dead(V),
    /// The entity stands in this table, for which no edge is known.
    NoEdge(V, TableId),
}

impl<V> NotInserted<V> {
    /// The values.
    pub fn into_values(self) -> V {
        match self {
            Self::Dead(values) | Self::NoEdge(values, _) => values,
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
        // SAFETY: the edge is fresh, as was checked above: it found a column of the right type for each value, in a
        // table that lives (I1, I7). There is room for the row (I3), which does not count yet. If there is no entity,
        // it will not, and no value of it is used (I2); else it is made the entity's next, nothing fails before that
        // (I5), and each column has its value then.
        unsafe {
            let pending = self.run_inits(edge, row);
            let location = EntityLocation { table, row: Row::from_index(row) };
            let entity = match self.entities.alloc_at(location) {
                Ok(entity) => entity,
                Err(error) => {
                    pending.abandon();
                    return Err(error);
                }
            };
            values.write(edge.pointers::<V>(), row);
            self.push_row(table, entity);
            Ok(entity)
        }
    }

    /// The row behind the last one, with room for it.
    #[inline(always)]
    pub(crate) fn next_row(&mut self, table: TableId) -> usize {
        assert!(table.index() < self.metas.len(), "the table exists");
        // SAFETY: locally: asked just now.
        unsafe { self.next_row_of(table) }
    }

    /// As [`Store::next_row`].
    ///
    /// # Safety
    /// The table exists.
    #[inline(always)]
    pub(crate) unsafe fn next_row_of(&mut self, table: TableId) -> usize {
        // SAFETY: forwarded: the table exists.
        let meta = unsafe { self.meta_of(table) };
        let row = meta.len as usize;
        if row == meta.capacity as usize {
            self.grow(table, row + 1);
        }
        row
    }

    /// # Safety
    /// The table exists.
    #[inline(always)]
    pub(crate) unsafe fn meta_of(&mut self, table: TableId) -> &mut TableMeta {
        debug_assert!(table.index() < self.metas.len());
        // SAFETY: forwarded: each table has a meta (I4).
        unsafe { self.metas.get_unchecked_mut(table.index()) }
    }

    /// Lets the row behind the last one count, as this entity's.
    ///
    /// # Safety
    /// The table has room for the row at its length, in which each of its columns has a value, and the entity has it (I5,
    /// I10).
    #[inline(always)]
    pub(crate) unsafe fn push_row(&mut self, table: TableId, entity: Entity) {
        let tick = self.tick;
        // SAFETY: forwarded: the table has room for a row, so it exists (I4).
        unsafe {
            let meta = self.meta_of(table);
            meta.push_row(meta.len, entity, tick);
        }
    }

    /// Lets as many rows behind the last one count.
    ///
    /// # Safety
    /// Each column of the table has values in these rows, and each of them has an owner, whose row it is (I5).
    pub(crate) unsafe fn push_rows(&mut self, table: TableId, count: u32) {
        let first = self.table_len(table);
        self.metas[table.index()].len += count;
        self.mark_rows(table, first, count as usize);
    }

    /// Spawns an entity without a row.
    ///
    /// # Errors
    /// When all entity indices are in use.
    pub fn spawn_rowless(&mut self) -> Result<Entity, Exhausted> {
        self.entities.alloc()
    }

    /// Inserts values into an entity that stands at the edge's source. What is left over of values that were there is
    /// returned, to be dropped when the caller likes.
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
    ) -> Result<V::Old, V> {
        self.expect_edge::<V>(edge, false);
        let edge_from = |table| (table == edge.source).then_some(edge);
        self.insert_along(entity, values, existing, edge_from).map_err(NotInserted::into_values)
    }

    /// As [`Store::insert`], along the edge that `edge_from` names for the table where the entity stands.
    ///
    /// # Errors
    /// Gives the values back when the entity is dead or no edge is known.
    ///
    /// # Panics
    /// When the edge is stale.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn insert_along<'e, V: Values>(
        &mut self,
        entity: Entity,
        values: V,
        existing: Existing,
        edge_from: impl FnOnce(TableId) -> Option<&'e Edge>,
    ) -> Result<V::Old, NotInserted<V>> {
        let Some(location) = self.entities.locate(entity) else { return Err(NotInserted::Dead(values)) };
        let Some(edge) = edge_from(location.table).filter(|edge| edge.source == location.table) else {
            return Err(NotInserted::NoEdge(values, location.table));
        };
        self.expect_edge::<V>(edge, false);
        edge.expect_fit(&values);
        let row = location.row.index();
        // SAFETY: the edge is fresh, as was checked above, and the entity stands at its source (I5). Values have columns of
        // their type in the target (I1, I7), with room for the row (I3); the masked ones were copied there from the source,
        // or stand there already (I2), which are none on a plain edge. All that fit are written, and those are all that the
        // edge counts on (I7).
        Ok(unsafe {
            let pointers = || edge.pointers::<V>();
            // A function for each, so that neither goes through memory.
            if edge.plain {
                let put = |to| values.merge(pointers(), V::NONE, to, existing);
                self.relocate_plainly(entity, row, edge, put)
            } else {
                let mask = V::mask(&mut edge.present.iter());
                let put = |to| values.merge(pointers(), mask, to, existing);
                self.relocate_with_care(entity, row, edge, put)
            }
        })
    }

    /// Removes what the entity has of `V`, and drops it. False when it is dead or stands elsewhere.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn remove<V: Values>(&mut self, entity: Entity, edge: &Edge) -> bool {
        self.detach::<V>(entity, edge).is_some()
    }

    /// Removes what the entity has of `V`, along the edge that `edge_from` names for the table where it stands. What it
    /// had is returned, to be dropped when the caller likes.
    ///
    /// # Errors
    /// When the entity is dead (`None`), or no edge is known from its table.
    ///
    /// # Panics
    /// When the edge is stale.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn detach_along<'e, V: Values>(
        &mut self,
        entity: Entity,
        edge_from: impl FnOnce(TableId) -> Option<&'e Edge>,
    ) -> Result<V::Old, Option<TableId>> {
        let location = self.entities.locate(entity).ok_or(None)?;
        let edge = edge_from(location.table)
            .filter(|edge| edge.source == location.table)
            .ok_or(Some(location.table))?;
        self.expect_edge::<V>(edge, true);
        let (row, mask) = (location.row.index(), V::mask(&mut edge.present.iter()));
        // SAFETY: the edge is fresh, as was checked above, and the entity stands at its source (I5). Masked columns are
        // columns of the source (I1, I7), initialised at the entity's row (I2); the row is closed next, and the target
        // has none of them.
        Ok(unsafe {
            // A function for each, as above.
            if edge.plain {
                self.relocate_plainly(entity, row, edge, |_| V::take(edge.pointers::<V>(), mask, row))
            } else {
                self.relocate_with_care(entity, row, edge, |_| V::take(edge.pointers::<V>(), mask, row))
            }
        })
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
        self.detach_along::<V>(entity, |table| (table == edge.source).then_some(edge)).ok()
    }

    /// Despawns an entity and drops its values. False when it was dead already.
    #[inline]
    pub fn despawn(&mut self, entity: Entity) -> bool {
        // SAFETY: the entity was alive, so the directory's row is in range (I5), and it is taken out next, before anything else
        // is asked, as it is out of its sets (I10). Without drop glue its values may be overwritten; else they lie behind the
        // end (I2), where `drop_despawned` finds them.
        unsafe {
            let Some(EntityLocation { table, row }) = self.entities.free(entity) else { return false };
            if table != TableId::ROWLESS && self.tables[table.index()].droppers.is_empty() {
                self.leave(table, row.index(), Some(&[]));
                if !self.is_in_sets(entity) {
                    return true;
                }
            } else if table != TableId::ROWLESS {
                self.leave_to_drop(table, row.index());
            }
            self.drop_despawned(entity, table);
        }
        true
    }

    /// Takes the row of a dead entity out of its table; values with drop glue are left behind the end.
    ///
    /// # Safety
    /// The row is in range, and its entity is dead.
    #[inline(never)]
    unsafe fn leave_to_drop(&mut self, table: TableId, row: usize) {
        // SAFETY: forwarded. Values with drop glue are left behind the end, the others may be overwritten (I2).
        unsafe { self.leave(table, row, None) };
    }

    /// Takes a dead entity out of the sets, and drops its values, which lie behind the ends of tables.
    ///
    /// # Safety
    /// Its row, if it had one, left the table just now.
    #[inline(never)]
    unsafe fn drop_despawned(&mut self, entity: Entity, table: TableId) {
        let sets = if self.is_in_sets(entity) { self.leave_all_sets(entity) } else { Vec::new() };
        // The entity is gone from every structure: the user's code may run.
        let mut panics = FirstPanic::default();
        let removed = &self.tables[table.index()].droppers;
        // SAFETY: the row left its table, and those of the sets left theirs, just now: values with drop glue lie behind
        // the ends, or in holes (I2, I11).
        unsafe {
            if !removed.is_empty() {
                panics.join(self.drop_removed(table, removed, 1));
            }
            panics.join(self.drop_removed_rows(&sets));
        }
        panics.resume();
    }
}
