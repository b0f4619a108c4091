//! A row leaves its table: along an edge to another one, or for good.
//!
//! The last row of the table takes its place, and the directory learns where both are. A plain edge, on which nothing
//! is made or dropped, is followed in one go, every other one with care. Removed values end up right behind the end of
//! the table, and are dropped there when nothing knows them any more.

use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::panics::FirstPanic;
use crate::plan::Edge;
use crate::store::Store;
use crate::table_columns::Column;

impl Store {
    // Here and in `rows`: unoptimised, what is always inlined makes large frames of large values.
    /// Takes an entity along an edge. `values` reads from the source or writes to the target row; it runs while both
    /// rows still count, or do not yet.
    ///
    /// # Safety
    /// The edge is fresh, and the entity stands at its source, at `row`. `values` writes what the target has and the
    /// source lacks, or takes what the source has and the target lacks, as the edge says; where it panics, it has taken
    /// nothing.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn relocate<R>(
        &mut self,
        entity: Entity,
        row: usize,
        edge: &Edge,
        values: impl FnOnce(usize) -> R,
    ) -> R {
        // SAFETY: forwarded, to the one that the edge is for.
        unsafe {
            if edge.plain {
                self.relocate_plainly(entity, row, edge, values)
            } else {
                self.relocate_with_care(entity, row, edge, values)
            }
        }
    }

    /// As `relocate`: copies a row and closes the gap in one go.
    ///
    /// # Safety
    /// As for `relocate`; the edge is plain.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn relocate_plainly<R>(
        &mut self,
        entity: Entity,
        row: usize,
        edge: &Edge,
        values: impl FnOnce(usize) -> R,
    ) -> R {
        // SAFETY: forwarded: the target has room for one more row (I3), which `values` gets before the rest is copied.
        unsafe {
            let to = self.next_row_of(edge.target);
            let result = values(to);
            self.end_plain_move(entity, row, to, edge);
            result
        }
    }

    /// What `relocate_plainly` does when the values are written or taken. Unoptimised, it is compiled once instead of for
    /// each type of values.
    ///
    /// # Safety
    /// As for `relocate`; the edge is plain, `to` is the next row of its target, and `values` have had their turn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline(never))]
    unsafe fn end_plain_move(&mut self, entity: Entity, row: usize, to: usize, edge: &Edge) {
        self.moves += 1;
        let tick = self.tick;
        // SAFETY: both tables live, with the columns that the edge names (I7): the source row and the last one are in
        // range (I5), the target has room for one more (I3). Each of its columns is written, by the copies or by
        // `values` (I7); what is not copied was taken by `values`, before the last row is put in its place (I2).
        unsafe {
            let last = self.meta_of(edge.source).len as usize - 1;
            for (from, into) in edge.copies() {
                let from = from.rows();
                from.copy(row, into.rows(), to);
                if row != last {
                    from.copy(last, from, row);
                }
            }
            if row != last {
                for left in edge.left.iter().map(Column::rows) {
                    left.copy(last, left, row);
                }
            }
            let (row, to) = (Row::from_index(row), Row::from_index(to));
            self.meta_of(edge.target).push_row(to.get(), entity, tick);
            self.entities.move_location(entity.index(), EntityLocation { table: edge.target, row: to });
            if let Some(moved) = self.meta_of(edge.source).pop_row(row.get(), tick) {
                self.entities.set_row(moved.index(), row);
            }
        }
    }

    /// As `relocate`, for every edge. `values` runs when the shared columns were copied and both rows still count.
    ///
    /// # Safety
    /// As for `relocate`.
    #[inline(never)]
    pub(super) unsafe fn relocate_with_care<R>(
        &mut self,
        entity: Entity,
        row: usize,
        edge: &Edge,
        values: impl FnOnce(usize) -> R,
    ) -> R {
        if edge.source == edge.target {
            // Values without columns, such as those of sparse components alone, touch no row.
            if edge.source != TableId::ROWLESS && !edge.present.is_empty() {
                self.mark_rows(edge.source, row, 1);
            }
            return values(row);
        }
        // SAFETY: forwarded: the functions that make values have run when `values` get their turn, which panics before the row
        // counts or not at all.
        unsafe {
            let to = self.begin_careful_move(entity, row, edge);
            let result = values(to);
            self.end_careful_move(entity, row, to, edge);
            result
        }
    }

    /// What `relocate_with_care` does before the values are written or taken: it makes and copies what the row in the target
    /// has, which does not count yet. Returns that row. Unoptimised, it is compiled once instead of for each type of values.
    ///
    /// # Safety
    /// As for `relocate`; the tables of the edge differ.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline(never))]
    unsafe fn begin_careful_move(&mut self, entity: Entity, row: usize, edge: &Edge) -> usize {
        self.moves += 1;
        let mut to = entity.index() as usize;
        // SAFETY: forwarded: the edge is fresh, and the entity is at its source. There is room for the row in the target, which
        // does not count yet, when the functions run (I2, I3). Copies are of the same column in different tables that live
        // (I1, I7): the source row is in range (I5).
        unsafe {
            if edge.target != TableId::ROWLESS {
                to = self.next_row(edge.target);
                self.run_inits(edge, to).keep();
            }
            for (from, into) in edge.copies() {
                from.rows().copy(row, into.rows(), to);
            }
        }
        to
    }

    /// What `relocate_with_care` does when the values are written or taken: the new row counts, the old one does no more.
    ///
    /// # Safety
    /// As for `relocate`; `to` is what `begin_careful_move` returned, and `values` have had their turn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline(never))]
    unsafe fn end_careful_move(&mut self, entity: Entity, row: usize, to: usize, edge: &Edge) {
        let (source, target) = (edge.source, edge.target);
        // SAFETY: each column of the target was copied, made or given (I7), and that is where the entity stands. Of the row in
        // the source, values were copied away, taken, or are removed, and then lie behind the end (I7), where nothing else
        // refers to them (I2).
        unsafe {
            if target != TableId::ROWLESS {
                self.push_row(target, entity);
            }
            self.entities
                .set_location(entity.index(), EntityLocation { table: target, row: Row::from_index(to) });
            if source != TableId::ROWLESS {
                self.leave(source, row, Some(&edge.removed));
                if !edge.removed.is_empty() {
                    self.drop_removed(source, &edge.removed, 1).resume();
                }
            }
        }
    }

    /// Takes a row out of a table: the last row takes its place, removed values end up right behind the end.
    /// Returns the entity whose row moved, for the caller to note its new location.
    ///
    /// # Safety
    /// `row` is in range, and the table has no holes; its values, but for those of `removed` columns (ascending), are not
    /// needed any more. Where nothing is said, these are all columns with drop glue. The caller notes the row of the entity
    /// that is returned, and its own loss (I5, I10).
    #[inline(always)]
    pub(crate) unsafe fn close_gap(
        &mut self,
        table: TableId,
        row: usize,
        removed: Option<&[u16]>,
    ) -> Option<Entity> {
        let (columns, meta) = (&self.tables[table.index()], &mut self.metas[table.index()]);
        let (last, removed) = (meta.len as usize - 1, removed.unwrap_or(&columns.droppers));
        // SAFETY: forwarded: both rows are in range, and have values (I2); the last one is put in the place of the other.
        unsafe {
            if row != last && removed.is_empty() {
                columns.copy_row(last, row);
            } else if row != last {
                columns.replace_row(row, last, removed);
            }
            meta.pop_row(Row::from_index(row).get(), self.tick)
        }
    }

    /// As [`Store::close_gap`], for a row that is an entity's location.
    ///
    /// # Safety
    /// As for `close_gap`, for a table that is no set's; the entity of the row is dead, or stands elsewhere already.
    #[inline(always)]
    pub(super) unsafe fn leave(&mut self, table: TableId, row: usize, removed: Option<&[u16]>) {
        // SAFETY: forwarded; the owner of another row is alive, so it has a slot (I5), and has this row from now on.
        unsafe {
            if let Some(moved) = self.close_gap(table, row, removed) {
                self.entities.set_row(moved.index(), Row::from_index(row));
            }
        }
    }

    /// Drops `count` values of each of these columns, which lie right behind the end of the table.
    ///
    /// # Safety
    /// As many rows from the table's length on hold initialised values of these columns, which nothing else refers to, now
    /// or later.
    pub(crate) unsafe fn drop_removed(&self, table: TableId, removed: &[u16], count: usize) -> FirstPanic {
        // SAFETY: forwarded: these are the rows from the length on.
        unsafe { self.drop_at(table, removed, self.table_len(table), count) }
    }

    /// Drops `count` values of each of these columns, from a row on: rows that do not count, or count no more.
    ///
    /// # Safety
    /// The rows hold initialised values of these columns, which nothing else refers to, now or later.
    #[inline(never)]
    pub(crate) unsafe fn drop_at(
        &self,
        table: TableId,
        removed: &[u16],
        row: usize,
        count: usize,
    ) -> FirstPanic {
        let mut panics = FirstPanic::default();
        for &at in removed {
            // SAFETY: forwarded: the rows hold values of this column, which nothing else refers to.
            unsafe { self.tables[table.index()].columns.at(at).drop_rows(row, count, &mut panics) };
        }
        panics
    }
}
