//! The order of a set's rows, which belongs to the user, and its rows as slices.
//!
//! Swapping is the one step from which sorting, above the store, and groups are made. Where a set has holes,
//! nothing is swapped, and slices are given only for runs of rows between them (I11); compacting closes the
//! holes and keeps the order of the others. The rows of members belong to the group that owns the set (I13).

use std::ops::Range;

use super::{SetId, SparseSet};
use crate::entity::Entity;
use crate::fetch::{ReadFetch, SetFetch};
use crate::prepared::find_alias;
use crate::store::Store;
use crate::table::{Table, TableMeta};
use crate::tick::Tick;

impl SparseSet {
    /// Exchanges two rows of the set.
    ///
    /// # Safety
    /// Tables and metas are those of the set's store. Both rows are in range, differ, and are no holes.
    #[inline(always)]
    pub(super) unsafe fn swap_rows(
        &mut self,
        tables: &[Table],
        metas: &mut [TableMeta],
        a: usize,
        b: usize,
        now: Tick,
    ) {
        // SAFETY: forwarded: the table of a set is there, with a meta (I4, I10), and has values in both rows (I2), whose
        // owners are in the set (I10).
        unsafe {
            let table = tables.get_unchecked(self.table.index());
            let meta = metas.get_unchecked_mut(self.table.index());
            let (first, second) = (meta.owner(a), meta.owner(b));
            meta.set_owner(a, second, now);
            meta.set_owner(b, first, now);
            self.move_member(second, a);
            self.move_member(first, b);
            // Last, because long values are exchanged by a call.
            table.columns.iter().for_each(|column| column.rows().swap(a, b));
        }
    }
}

impl Store {
    /// Exchanges two rows of a set. False, and nothing happens, when one is out of range, the set has holes, or the
    /// order of one of them belongs to a group.
    pub fn set_swap(&mut self, set: SetId, a: usize, b: usize) -> bool {
        let (table, members) = (self.set(set).table, self.members_in(set));
        let len = self.metas[table.index()].len as usize;
        if a.max(b) >= len || a.min(b) < members || !self.tables[table.index()].holes.is_empty() {
            return false;
        }
        if a != b {
            // SAFETY: both rows are in range, differ, and are no holes (I2, I11).
            unsafe { self.swap_set_rows(set, a, b) };
        }
        true
    }

    /// # Safety
    /// As for [`SparseSet::swap_rows`].
    #[inline(never)]
    pub(super) unsafe fn swap_set_rows(&mut self, set: SetId, a: usize, b: usize) {
        let set = &mut self.sets[set.index()];
        // SAFETY: forwarded.
        unsafe { set.swap_rows(&self.tables, &mut self.metas, a, b, self.tick) };
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
            let owner = self.metas[table.index()].entities()[from];
            if owner == Entity::PLACEHOLDER {
                continue;
            }
            if from != to {
                // SAFETY: both rows are in range and differ; the source has values, since it is no hole (I2, I11), and the
                // target is one, or was moved away before. The owner, which is in the set, has that row from now on
                // (I10).
                unsafe {
                    self.tables[table.index()].copy_row(from, to);
                    self.metas[table.index()].set_owner(to, owner, self.tick);
                    self.sets[set.index()].move_member(owner, to);
                }
            }
            to += 1;
        }
        self.metas[table.index()].len = u32::try_from(to).expect("rows fit in 32 bits");
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
        // SAFETY: the fetch only reads, and no column is written while the store is borrowed shared (I8).
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
        // SAFETY: each column is one of a set that has these rows, none of them a hole (I11), as was checked above; the
        // caller grants access.
        if fits { unsafe { F::set_slices(self, ids, rows) } } else { None }
    }

    /// Whether a set has all of these rows, and none is a hole.
    fn has_rows(&self, set: SetId, rows: &Range<usize>) -> bool {
        rows.end <= self.set_rows(set)
            && (self.set_holes(set) == 0
                || !self.set_entities(set)[rows.clone()].contains(&Entity::PLACEHOLDER))
    }
}
