//! The order of a set's rows, which belongs to the user, and its rows as slices.
//!
//! Swapping is the one step from which sorting and groups, above the store, are made. Where a set has holes,
//! nothing is swapped, and slices are given only for runs of rows between them (I11); compacting closes the
//! holes and keeps the order of the others.

use std::ops::Range;

use super::SetId;
use crate::column::{copy_value, swap_values};
use crate::entity::Entity;
use crate::fetch::{ReadFetch, SetFetch};
use crate::prepared::find_alias;
use crate::store::Store;

impl Store {
    /// Exchanges two rows of a set. False, and nothing happens, when one is out of range or the set has holes.
    pub fn set_swap(&mut self, set: SetId, a: usize, b: usize) -> bool {
        let table = self.set(set).table;
        let (head, columns) = (&self.heads[table.index()], &self.tables[table.index()]);
        let len = head.len as usize;
        if a >= len || b >= len || !columns.holes.is_empty() {
            return false;
        }
        if a == b {
            return true;
        }
        for column in columns.columns.iter() {
            let (a, b) = (a * column.size, b * column.size);
            // SAFETY: both rows are in range and differ (I2).
            unsafe { swap_values(column.data.add(a), column.data.add(b), column.size) };
        }
        // SAFETY: both rows are in range (I2), differ, and are no holes: who has them is in the set (I10).
        unsafe {
            let owners = head.owners.data.cast::<Entity>();
            let (first, second) = (owners.add(b).read(), owners.add(a).read());
            head.owners.mark_row(a, self.tick);
            head.owners.mark_row(b, self.tick);
            owners.add(a).write(first);
            owners.add(b).write(second);
            let set = self.sets.get_unchecked_mut(set.index());
            set.repoint_member(first, a);
            set.repoint_member(second, b);
        }
        true
    }

    /// Exchanges the row of an entity in a set with another one. False, and nothing happens, when it has none there, the
    /// other is out of range, or the set has holes and the two differ.
    #[inline]
    pub fn set_bring(&mut self, set: SetId, entity: Entity, to: usize) -> bool {
        match self.set_row(set, entity) {
            None => false,
            Some(row) => row == to || self.set_swap(set, row, to),
        }
    }

    /// Closes the holes of a set; the other rows keep their order. Returns how many there were.
    pub fn set_compact(&mut self, set: SetId) -> usize {
        let table = self.set(set).table;
        let holes = std::mem::take(&mut self.tables[table.index()].holes);
        if holes.is_empty() {
            return 0;
        }
        let len = self.table_len(table);
        let mut to = 0;
        for from in 0..len {
            // SAFETY: the row is in range, where each has an owner (I5, I11).
            let owner = unsafe { self.owner_at(table, from).read() };
            if owner == Entity::PLACEHOLDER {
                continue;
            }
            if from != to {
                for column in self.tables[table.index()].columns.iter() {
                    let (from, to) = (from * column.size, to * column.size);
                    // SAFETY: both rows are in range and differ; the source is no hole (I2, I11), and the target is one, or was
                    // moved away before.
                    unsafe { copy_value(column.data.add(from), column.data.add(to), column.size) };
                }
                // SAFETY: as above.
                unsafe { self.owner_at(table, to).write(owner) };
                self.sets[set.index()].repoint(owner, to);
            }
            to += 1;
        }
        self.heads[table.index()].len = u32::try_from(to).expect("rows fit in 32 bits");
        self.mark_rows(table, 0, len);
        holes.len()
    }

    /// The runs of rows of a set between its holes, in order; all rows at once where there is no hole.
    pub fn set_runs(&self, set: SetId) -> Vec<Range<usize>> {
        let len = self.set_rows(set);
        let mut holes = self.tables[self.set(set).table.index()].holes.clone();
        holes.sort_unstable();
        let mut start = 0;
        let mut runs = Vec::new();
        for end in holes.into_iter().map(|hole| hole as usize).chain([len]) {
            if start < end {
                runs.push(start..end);
            }
            start = end + 1;
        }
        runs
    }

    /// Rows of the sets that `F` names, as slices of equal length, to be read and written.
    ///
    /// `None` when a set is missing or shorter, a row is a hole, or parts of `F` alias each other.
    pub fn set_slices_mut<F: SetFetch>(&mut self, ids: F::Ids, rows: Range<usize>) -> Option<F::Slices<'_>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the store is borrowed exclusively, and no two parts of the fetch alias (I6).
        unsafe { self.set_slices_unchecked::<F>(ids, rows) }
    }

    /// As [`Store::set_slices_mut`], for reading.
    pub fn set_slices<F: SetFetch + ReadFetch>(
        &self,
        ids: F::Ids,
        rows: Range<usize>,
    ) -> Option<F::Slices<'_>> {
        // SAFETY: the fetch only reads, and nobody writes while the store is borrowed shared (I8).
        unsafe { self.set_slices_unchecked::<F>(ids, rows) }
    }

    /// # Safety
    /// As for `view_unchecked`; a fetch that writes names no column twice.
    unsafe fn set_slices_unchecked<F: SetFetch>(
        &self,
        ids: F::Ids,
        rows: Range<usize>,
    ) -> Option<F::Slices<'_>> {
        let mut fits = rows.start <= rows.end;
        F::visit(ids, &mut |access| {
            fits = fits && self.set_of(access.column).is_some_and(|set| self.has_rows(set, &rows));
        });
        // SAFETY: each column is one of a set that has these rows, all initialised (I2, I11); the caller grants access.
        if fits { unsafe { F::set_slices(self, ids, rows) } } else { None }
    }

    /// Whether a set has all of these rows, and none is a hole.
    fn has_rows(&self, set: SetId, rows: &Range<usize>) -> bool {
        rows.end <= self.set_rows(set)
            && (self.set_holes(set) == 0
                || !self.set_entities(set)[rows.clone()].contains(&Entity::PLACEHOLDER))
    }
}
