//! A row leaves its table: along an edge to another one, or for good.
//!
//! The last row of the table takes its place, and the directory learns where both are. A plain edge, on which nothing
//! is made or dropped, is followed in one go, every other one with care. Doomed values end up right behind the end of
//! the table, and are dropped there when nothing knows them any more.

use crate::column::copy_value;
use crate::entity::Entity;
use crate::panics::FirstPanic;
use crate::place::{Place, Row, TableId};
use crate::plan::Edge;
use crate::store::Store;

impl Store {
    // Here and in `rows`: unoptimised, what is always inlined makes large frames of large values.
    /// Takes an entity along an edge. `values` reads from the source or writes to the target row; it runs while both rows
    /// still count, or do not yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn relocate<R>(
        &mut self,
        entity: Entity,
        row: usize,
        edge: &Edge,
        values: impl FnOnce(usize) -> R,
    ) -> R {
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
            // SAFETY: forwarded; both rows are in range and differ (I2, I5).
            unsafe { self.tables[table.index()].copy_row(last, row) };
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
    pub(super) unsafe fn leave(&mut self, table: TableId, row: usize, doomed: &[u16]) {
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
}
