//! What goes into sparse sets and out of them.
//!
//! Adding appends a row, or fills the hole that a stable set made last. Removing closes the gap with the last
//! row, or leaves a hole. Neither touches any other component, unless a group names the set: then entities leave it
//! before they lose what it needs, and enter it after they got that (I13). As everywhere, the user's code runs last: values
//! that are to be dropped lie behind the end of the table, or in a hole, and no structure knows them any more.

use super::{Entry, SetId, SetPlan, SparseSet};
use crate::entity::Entity;
use crate::panics::FirstPanic;
use crate::place::{Row, TableId};
use crate::plan::{Edge, Init, PlanError};
use crate::store::Store;
use crate::values::{Existing, Values};

/// Where a row that left a set has its values, until they are dropped.
#[derive(Clone, Copy)]
pub(crate) struct Leaver {
    pub(crate) table: TableId,
    pub(crate) row: usize,
}

/// A living entity, whose rows in several sets are written: what has to be asked of the entity is asked once, and
/// groups are brought in line at the end, by [`SetWriter::finish`].
#[must_use = "without `finish`, groups do not hear of what was written"]
pub struct SetWriter<'s> {
    store: &'s mut Store,
    entity: Entity,
    /// The groups that name a set in which the entity is new.
    touched: u64,
}

impl SetWriter<'_> {
    /// Inserts a row, or merges with the one there is; what is left over of that one is returned, to be dropped when the
    /// caller likes.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    #[inline(always)]
    pub fn insert<V: Values>(
        &mut self,
        plan: &SetPlan,
        ids: V::Ids,
        values: V,
        existing: Existing,
    ) -> Option<V::Old> {
        self.store.expect_set_plan::<V>(plan, ids);
        // SAFETY: the plan is this store's, for `V` (I7). The entity was alive when the writer was made, which borrows the store
        // since, and despawns nobody.
        let old = unsafe { self.store.put_in_set(plan, self.entity, values, existing) };
        if old.is_none() {
            // SAFETY: as above.
            self.touched |= unsafe { plan.set.as_ref() }.naming;
        }
        old
    }

    /// Brings groups in line with what was written.
    #[inline(always)]
    pub fn finish(self) {
        if self.touched != 0 {
            self.store.settle_groups(self.entity, self.touched);
        }
    }
}

impl Store {
    /// Inserts a row, or merges with the one there is. Returns whether the entity is new in the set.
    ///
    /// # Errors
    /// Gives the values back when the entity is dead.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    #[inline(always)]
    pub fn set_insert<V: Values>(
        &mut self,
        plan: &SetPlan,
        ids: V::Ids,
        entity: Entity,
        values: V,
        existing: Existing,
    ) -> Result<bool, V> {
        Ok(self.set_replace(plan, ids, entity, values, existing)?.is_none())
    }

    /// As [`Store::set_insert`]; what is left over of a row that was there is returned, to be dropped when the
    /// caller likes.
    ///
    /// # Errors
    /// Gives the values back when the entity is dead.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    #[inline(always)]
    pub fn set_replace<V: Values>(
        &mut self,
        plan: &SetPlan,
        ids: V::Ids,
        entity: Entity,
        values: V,
        existing: Existing,
    ) -> Result<Option<V::Old>, V> {
        self.expect_set_plan::<V>(plan, ids);
        if !self.entities.contains(entity) {
            return Err(values);
        }
        // SAFETY: the plan is this store's, for `V` (I7), and the entity lives.
        let old = unsafe { self.put_in_set(plan, entity, values, existing) };
        // SAFETY: a set of this store, which never drops sets (I7, I10).
        let naming = unsafe { plan.set.as_ref() }.naming;
        if naming != 0 && old.is_none() {
            self.settle_groups(entity, naming);
        }
        Ok(old)
    }

    /// For writing to several sets of one entity; `None` when it is dead.
    #[inline(always)]
    pub fn set_writer(&mut self, entity: Entity) -> Option<SetWriter<'_>> {
        let alive = self.entities.contains(entity);
        alive.then_some(SetWriter { store: self, entity, touched: 0 })
    }

    /// Inserts a row, or merges with the one there is. Groups are the caller's business.
    ///
    /// # Safety
    /// The plan is this store's, for `V`, and the entity lives.
    #[inline(always)]
    unsafe fn put_in_set<V: Values>(
        &mut self,
        plan: &SetPlan,
        entity: Entity,
        values: V,
        existing: Existing,
    ) -> Option<V::Old> {
        // SAFETY: a set of this store, which is borrowed exclusively, and never drops sets (I7, I10).
        let entry = std::ptr::from_mut(unsafe { &mut *plan.set.as_ptr() }.entry(entity));
        // SAFETY: an entry of the set's pages, which nothing else refers to now (I10).
        let Entry { generation, row } = unsafe { *entry };
        if generation == entity.raw_generation().get() {
            // SAFETY: forwarded; the page leads to the entity's row (I10).
            return Some(unsafe { self.merge_in_set(plan, row, values, existing) });
        }
        let row = match self.last_hole(plan) {
            None => {
                // SAFETY: the table lives as long as the store. The leaves are all the set's columns (I1, I7), with room for
                // the row (I3), which holds nothing (I2).
                unsafe { self.append_row(plan.table, entity, |row| values.write(plan.pointers::<V>(), row)) }
            }
            // SAFETY: forwarded; this is the hole.
            Some(hole) => unsafe { self.fill_hole(plan, hole, entity, values) },
        };
        // SAFETY: the page of the entry was not touched since: rows are not in sets (I10).
        unsafe { *entry = Entry::new(entity, row) };
        None
    }

    /// The hole that a stable set made last.
    #[inline(always)]
    fn last_hole(&self, plan: &SetPlan) -> Option<usize> {
        if plan.stable {
            self.tables[plan.table.index()].holes.last().map(|&hole| hole as usize)
        } else {
            None
        }
    }

    /// # Safety
    /// The plan is this store's, for `V`, and the hole is that of its set which was made last.
    #[inline(never)]
    unsafe fn fill_hole<V: Values>(
        &mut self,
        plan: &SetPlan,
        hole: usize,
        entity: Entity,
        values: V,
    ) -> usize {
        // SAFETY: the leaves are the set's columns (I1, I7); the hole is in range, and holds nothing (I11).
        unsafe {
            values.write(plan.pointers::<V>(), hole);
            self.count_set_row(plan.table, true, entity, hole);
        }
        hole
    }

    /// # Safety
    /// The plan is this store's, for `V`, and an entity of the set has this row.
    #[inline(never)]
    unsafe fn merge_in_set<V: Values>(
        &mut self,
        plan: &SetPlan,
        row: u32,
        values: V,
        existing: Existing,
    ) -> V::Old {
        // SAFETY: the leaves are the set's columns (I1, I7), initialised at the entity's row (I2, I10, I11).
        let old = unsafe { values.merge(plan.pointers::<V>(), V::ALL, row as usize, existing) };
        self.mark_rows(plan.table, row as usize, 1);
        old
    }

    /// Inserts a row made by functions, unless the entity has one. Returns whether it was made.
    ///
    /// # Errors
    /// When the functions do not fill the set's columns exactly.
    ///
    /// # Panics
    /// When the set is that of a group's members.
    pub fn set_insert_made(&mut self, set: SetId, entity: Entity, inits: &[Init]) -> Result<bool, PlanError> {
        let SparseSet { table, stable, of_group, .. } = *self.set(set);
        assert!(!of_group, "only groups write the set of their members");
        if !self.entities.contains(entity) || self.set(set).find(entity).is_some() {
            return Ok(false);
        }
        let edge = self.set_edge(table, inits)?;
        let row = self.vacant_row(table, stable);
        self.run_inits(&edge, row).keep();
        // SAFETY: the row is the vacant one, and the functions filled its columns (I7).
        unsafe { self.count_set_row(table, stable, entity, row) };
        let set = &mut self.sets[set.index()];
        *set.entry(entity) = Entry::new(entity, row);
        let naming = set.naming;
        self.settle_groups(entity, naming);
        Ok(true)
    }

    /// The row that the next entity of a set gets, with room for it: the hole made last, or the one behind the end.
    #[inline(always)]
    fn vacant_row(&mut self, table: TableId, stable: bool) -> usize {
        if stable && let Some(&hole) = self.tables[table.index()].holes.last() {
            return hole as usize;
        }
        self.next_row(table)
    }

    /// Lets the vacant row count, for all but the set's pages.
    ///
    /// # Safety
    /// `row` is what `vacant_row` gave for the set's table, and all its columns were written since.
    #[inline(always)]
    unsafe fn count_set_row(&mut self, table: TableId, stable: bool, entity: Entity, row: usize) {
        if stable && self.tables[table.index()].holes.pop().is_some() {
            // SAFETY: a hole is in range (I11).
            unsafe { self.owner_at(table, row).write(entity) };
            self.mark_rows(table, row, 1);
        } else {
            // SAFETY: the row behind the end has room, and its values (I3).
            unsafe { self.count_row(table, entity) };
        }
    }

    /// Takes an entity's row out of a set. `None` when it has none there.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    #[inline(always)]
    pub fn set_take<V: Values>(&mut self, plan: &SetPlan, ids: V::Ids, entity: Entity) -> Option<V> {
        self.expect_set_plan::<V>(plan, ids);
        // SAFETY: a set of this store, which is borrowed exclusively, and never drops sets (I7, I10).
        let set = unsafe { &mut *plan.set.as_ptr() };
        let entry = set.slot_of(entity)?;
        // SAFETY: a slot of the set's pages, which nothing else refers to now (I10).
        let Entry { generation, row } = unsafe { *entry };
        if generation != entity.raw_generation().get() {
            return None;
        }
        let row = row as usize;
        if set.naming != 0 {
            // SAFETY: forwarded; the page leads to the entity's row (I10).
            return unsafe { self.take_from_grouped(plan, entity, row) };
        }
        // SAFETY: as above. The leaves are the set's columns (I1, I7), initialised at the row (I2, I10, I11), which is given
        // up next: it is in range, and nothing of it is needed any more.
        unsafe {
            *entry = Entry::ABSENT;
            let values = V::take(plan.pointers::<V>(), V::ALL, row);
            self.give_up_row::<V>(plan, row);
            V::complete(values)
        }
    }

    /// As [`Store::set_take`], out of a set that groups name.
    ///
    /// # Safety
    /// The plan is this store's, for `V`, and the entity has this row in the set.
    #[inline(never)]
    unsafe fn take_from_grouped<V: Values>(
        &mut self,
        plan: &SetPlan,
        entity: Entity,
        mut row: usize,
    ) -> Option<V> {
        // SAFETY: forwarded. As in `set_take`; the last member takes the place of the one that left, in range (I13), and the last
        // row that of the last member.
        unsafe {
            let set = plan.set;
            let border = if set.as_ref().needing == 0 { None } else { self.leave_groups(set, entity, row) };
            let values = V::take(plan.pointers::<V>(), V::ALL, row);
            (*set.as_ptr()).unset(entity);
            if let Some(border) = border.filter(|&border| border != row) {
                self.shift_row::<V>(plan, border, row);
                row = border;
            }
            self.give_up_row::<V>(plan, row);
            let excluding = set.as_ref().excluding;
            if excluding != 0 {
                self.settle_groups(entity, excluding);
            }
            V::complete(values)
        }
    }

    /// Takes a row out of a set: a hole is left there, or the last row takes its place.
    ///
    /// # Safety
    /// As for `fill_from_last`; the set may be stable.
    #[inline(always)]
    unsafe fn give_up_row<V: Values>(&mut self, plan: &SetPlan, row: usize) {
        // SAFETY: forwarded.
        unsafe {
            if plan.stable {
                self.leave_hole(plan.table, row);
            } else {
                self.fill_from_last::<V>(plan, row);
            }
        }
    }

    /// Puts a row of a set in the place of another one.
    ///
    /// # Safety
    /// The plan is this store's, for `V`. Both rows are in range and differ; the first is no hole, and nothing of the other
    /// is needed any more, nor its entry.
    #[inline(always)]
    unsafe fn shift_row<V: Values>(&mut self, plan: &SetPlan, from: usize, to: usize) {
        // SAFETY: forwarded; the leaves are all the set's columns (I7), and who has the first row is in the set (I10).
        unsafe {
            let head = self.heads.get_unchecked(plan.table.index());
            let owners = head.owners.data.cast::<Entity>();
            V::shift(plan.pointers::<V>(), V::ALL, from, to);
            let moved = owners.add(from).read();
            head.owners.mark_row(to, self.tick);
            owners.add(to).write(moved);
            *(*plan.set.as_ptr()).member_row(moved) = Row::from_index(to).get();
        }
    }

    /// Takes a row out of a set that is not stable: the last row takes its place.
    ///
    /// # Safety
    /// The plan is this store's, for `V`, the row is in range, and nothing of it is needed any more, nor its entry.
    #[inline(always)]
    unsafe fn fill_from_last<V: Values>(&mut self, plan: &SetPlan, row: usize) {
        // SAFETY: the set and its table live as long as the store (I10). Both rows are in range, where the leaves, which
        // are all the set's columns, are initialised (I2, I7), and who has the last row is in the set.
        unsafe {
            let head = self.heads.get_unchecked_mut(plan.table.index());
            head.len -= 1;
            let last = head.len as usize;
            if row != last {
                self.shift_row::<V>(plan, last, row);
            }
            // Another block than that of the row may have lost its last one.
            self.heads.get_unchecked(plan.table.index()).owners.mark_row(last, self.tick);
        }
    }

    /// Drops an entity's row in a set. False when it has none there.
    pub fn set_remove(&mut self, set: SetId, entity: Entity) -> bool {
        let Some(left) = self.leave_one_set(set, entity) else { return false };
        self.drop_leavers(&[left]).resume();
        true
    }

    /// Takes what an entity has of `V` in its table, and its rows in these sets, and drops all of it when the entity
    /// is rid of everything. False when it is dead or stands elsewhere; then nothing happens.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn remove_with_sets<V: Values>(
        &mut self,
        entity: Entity,
        edge: &Edge,
        sets: impl IntoIterator<Item = SetId>,
    ) -> bool {
        self.expect_edge::<V>(edge, true);
        if self.locate(entity).is_none_or(|place| place.table != edge.source()) {
            return false;
        }
        let left: Vec<Leaver> = sets.into_iter().filter_map(|set| self.leave_one_set(set, entity)).collect();
        let mut panics = FirstPanic::default();
        panics.guard(|| {
            self.remove::<V>(entity, edge);
        });
        panics.join(self.drop_leavers(&left));
        panics.resume();
        true
    }

    /// Takes an entity out of a set. Its values are left to be dropped.
    fn leave_one_set(&mut self, set: SetId, entity: Entity) -> Option<Leaver> {
        let (table, row) = (self.set(set).table, self.set(set).find(entity)?);
        // Lent out for the call, as in `despawn`.
        let doomed = std::mem::take(&mut self.tables[table.index()].droppers);
        let row = self.leave_set(set, entity, row, &doomed);
        self.tables[table.index()].droppers = doomed;
        Some(Leaver { table, row })
    }

    /// Takes an entity out of every set. Values with drop glue are left to be dropped.
    pub(crate) fn leave_all_sets(&mut self, entity: Entity) -> Vec<Leaver> {
        let mut left = Vec::new();
        for set in self.sets() {
            let Some(row) = self.set(set).find(entity) else { continue };
            if self.tables[self.set(set).table.index()].droppers.is_empty() {
                // Without drop glue, what is left behind needs no burial.
                self.leave_set(set, entity, row, &[]);
            } else {
                left.extend(self.leave_one_set(set, entity));
            }
        }
        left
    }

    /// Drops the values of rows that left, before anything else happens to their sets.
    pub(crate) fn drop_leavers(&self, left: &[Leaver]) -> FirstPanic {
        let mut panics = FirstPanic::default();
        for &Leaver { table, row } in left {
            let droppers = &self.tables[table.index()].droppers;
            if !droppers.is_empty() {
                panics.join(self.drop_at(table, droppers, row, 1));
            }
        }
        panics
    }

    /// Takes a row out of a set, and tells where its doomed values lie: right behind the end of the table, or in
    /// the hole that a stable set keeps.
    #[inline(always)]
    fn leave_set(&mut self, set: SetId, entity: Entity, mut row: usize, doomed: &[u16]) -> usize {
        let left = self.sets[set.index()].0;
        // SAFETY: a set of this store, which never drops sets (I10).
        let SparseSet { table, stable, needing, excluding, .. } = *unsafe { left.as_ref() };
        // SAFETY: the caller found the row in the set.
        let border = if needing == 0 { None } else { unsafe { self.leave_groups(left, entity, row) } };
        if let Some(border) = border.filter(|&border| border != row) {
            // SAFETY: both rows are in range (I10, I13), and differ; only sets without holes are owned.
            unsafe { self.swap_rows(left, row, border) };
            row = border;
        }
        self.sets[set.index()].unset(entity);
        let lies = if stable {
            // SAFETY: the set named the row, which is in range (I10).
            unsafe { self.leave_hole(table, row) };
            row
        } else {
            // SAFETY: the set names a row in range (I10), whose values were taken or are doomed.
            if let Some(moved) = unsafe { self.close_gap(table, row, doomed) } {
                self.sets[set.index()].repoint(moved, row);
            }
            self.table_len(table)
        };
        // The dead qualify for nothing, whatever they leave first.
        if excluding != 0 && self.entities.contains(entity) {
            self.settle_groups(entity, excluding);
        }
        lies
    }

    /// Makes a row of a stable set a hole.
    ///
    /// # Safety
    /// The row is in range, and its entry is gone.
    #[inline(never)]
    unsafe fn leave_hole(&mut self, table: TableId, row: usize) {
        // SAFETY: forwarded (I10).
        unsafe { self.owner_at(table, row).write(Entity::PLACEHOLDER) };
        let hole = u32::try_from(row).expect("rows fit in 32 bits");
        self.tables[table.index()].holes.push(hole);
        self.mark_rows(table, row, 1);
    }

    /// Drops the values of a table's first `len` rows, but for its holes, of which there are none afterwards. No row
    /// counts any more.
    pub(crate) fn drop_rows(&mut self, table: TableId, len: usize) -> FirstPanic {
        let mut holes = std::mem::take(&mut self.tables[table.index()].holes);
        holes.sort_unstable();
        let mut panics = FirstPanic::default();
        let mut start = 0;
        for end in holes.into_iter().map(|hole| hole as usize).chain([len]) {
            panics.join(self.drop_at(table, &self.tables[table.index()].droppers, start, end - start));
            start = end + 1;
        }
        panics
    }
}
