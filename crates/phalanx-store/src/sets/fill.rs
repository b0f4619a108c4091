//! Rows of sets whose columns are filled one by one, and sets with holes at given rows: for loading a saved world.
//!
//! [`Store::set_insert_filled`] is to sets what [`Store::insert_filled`] is to tables. [`Store::set_spread`] turns a
//! stable set without holes into one that has them at given rows, in the order in which they are to be filled
//! again: the counterpart of [`Store::set_compact`].

use super::{SetId, SparseSet};
use crate::entity::Entity;
use crate::location::Row;
use crate::plan::PlanError;
use crate::rows::OpenColumn;
use crate::store::Store;

impl Store {
    /// Inserts a row into a set, unless the entity is dead or has one there. `fill` is given each of the set's columns
    /// to write, with its position among `columns`. Returns whether the row was inserted.
    ///
    /// # Errors
    /// When `columns` are not exactly the set's columns.
    ///
    /// # Panics
    /// When the set is that of a group's members, and when `fill` panics or leaves a column open: the entity is not in
    /// the set then, and what was written is leaked.
    pub fn set_insert_filled(
        &mut self,
        set: SetId,
        entity: Entity,
        columns: &[crate::AnyColId],
        mut fill: impl FnMut(usize, OpenColumn<'_>),
    ) -> Result<bool, PlanError> {
        self.expect_writable(set);
        let edge = self.set_fill_edge(self.set(set).table, columns)?;
        if !self.can_enter(set, entity) {
            return Ok(false);
        }
        // SAFETY: the edge was made just now, so its columns are all those of the set's table (I7); each of them is written in
        // the row that is offered, with room for it (I3), which holds nothing yet (I2, I11), or `offer` panics. The entity can
        // enter, as was checked above.
        unsafe {
            self.fill_row(set, entity, |_, row| {
                for (at, (column, &wanted)) in edge.slots.iter().zip(columns).enumerate() {
                    OpenColumn::offer(column, row, wanted, |open| fill(at, open));
                }
            });
        }
        Ok(true)
    }

    /// Makes holes in a stable set that has none: afterwards these rows are holes, the last of them filled first, and
    /// all other rows keep their order. False, and nothing happens, when the set is not stable or has holes already, a
    /// row is named twice, or would lie behind all others.
    pub fn set_spread(&mut self, set: SetId, holes: &[u32]) -> bool {
        let SparseSet { table, stable, .. } = *self.set(set);
        let len = self.table_len(table);
        if holes.is_empty() {
            return true;
        }
        let mut sorted = holes.to_vec();
        sorted.sort_unstable();
        let rows = len + holes.len();
        let repeated = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        let in_range = sorted.last().is_some_and(|&last| (last as usize) < rows);
        if !stable || self.set_holes(set) > 0 || repeated || !in_range {
            return false;
        }
        self.make_room(table, holes.len());
        // From here on nothing can panic: the rows count before their values are there.
        self.metas[table.index()].len = Row::from_index(rows).get();
        // From the last row down, each goes as far back as there are holes before it.
        let (mut from, mut left) = (len, sorted.len());
        for to in (0..rows).rev() {
            if left > 0 && sorted[left - 1] as usize == to {
                left -= 1;
                // SAFETY: there is room for the row (I3), and its values, if any, were moved on before; it is a hole from now
                // on (I11).
                unsafe { self.metas[table.index()].set_owner(to, Entity::PLACEHOLDER, self.tick) };
                continue;
            }
            from -= 1;
            if from != to {
                // SAFETY: both rows are in range (I3) and differ; the first one has values (I2) and an owner, which is
                // in the set (I10), and those of the other were moved on before, or never were.
                unsafe {
                    let owner = self.metas[table.index()].owner(from);
                    self.tables[table.index()].copy_row(from, to);
                    self.metas[table.index()].set_owner(to, owner, self.tick);
                    self.sets[set.index()].move_member(owner, to);
                }
            }
        }
        self.tables[table.index()].holes = holes.to_vec();
        self.mark_rows(table, 0, rows);
        true
    }
}
