//! What goes into sparse sets and out of them.
//!
//! Adding appends a row, or fills the hole that a stable set made last. Removing closes the gap with the last
//! row, or leaves a hole. Neither touches any other component, unless a group names the set: then entities leave it
//! before they lose what it needs, and enter it after they got that (I13). As everywhere, the user's code runs last:
//! values that are to be dropped lie behind the end of the table, or in a hole, and no structure knows them any more.

use super::{Entry, SetId, SetPlan, SparseSet, entry_in};
use crate::entity::Entity;
use crate::location::TableId;
use crate::panics::FirstPanic;
use crate::plan::{Edge, Init, PlanError};
use crate::store::Store;
use crate::values::{Existing, Values};

/// Where a row that left a set has its values, until they are dropped.
#[derive(Clone, Copy)]
pub(crate) struct RemovedRow {
    table: TableId,
    row: usize,
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
    /// Inserts a row, or merges with the one there is; what is left over of that one is returned, to be dropped when
    /// the caller likes.
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
        // SAFETY: locally: the entity was alive when the writer was made, which borrows the store since and ends no entity.
        unsafe { self.store.put_in_set(plan, ids, self.entity, values, existing, &mut self.touched) }
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
    /// Inserts a row, or merges with the one there is; what is left over of that one is returned, to be dropped when the
    /// caller likes.
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
    ) -> Result<Option<V::Old>, V> {
        let Some(mut writer) = self.set_writer(entity) else { return Err(values) };
        let old = writer.insert(plan, ids, values, existing);
        writer.finish();
        Ok(old)
    }

    /// For writing to several sets of one entity; `None` when it is dead.
    #[inline(always)]
    pub fn set_writer(&mut self, entity: Entity) -> Option<SetWriter<'_>> {
        let alive = self.entities.contains(entity);
        alive.then_some(SetWriter { store: self, entity, touched: 0 })
    }

    /// Merges with the row there is, or inserts one, and adds the groups that name the set to those `touched`: they are
    /// left to the caller.
    ///
    /// # Safety
    /// The entity lives.
    #[inline(always)]
    unsafe fn put_in_set<V: Values>(
        &mut self,
        plan: &SetPlan,
        ids: V::Ids,
        entity: Entity,
        values: V,
        existing: Existing,
        touched: &mut u64,
    ) -> Option<V::Old> {
        self.expect_set_plan::<V>(plan, ids);
        // SAFETY: the plan is this store's, for `V`, which are all the columns of its set (I1, I7); sets live as long
        // as the store (I10), and so do their tables, which have metas (I4). The page points to the entity's row (I10),
        // if it has one. Otherwise there is room for a row behind the last one (I3), which holds nothing yet (I2), and
        // all values then; or `put_in_vacant_row` finds one. The entity lives, as the caller promises. `set_mut` is the
        // only way to the set that is used here until the row is written: metas and the tick are other parts of the store.
        unsafe {
            let SparseSet { pages, table, stable, naming, .. } = plan.set_mut();
            let entry = entry_in(pages, entity);
            if let Some(row) = entry.as_deref().and_then(|entry| entry.row_of(entity)) {
                return Some(self.merge_in_set(plan, row, values, existing));
            }
            *touched |= *naming;
            let meta = self.metas.get_unchecked_mut(table.index());
            let row = meta.len;
            match entry {
                Some(entry) if meta.has_room() && !*stable => {
                    *entry = Entry::new(entity, row as usize);
                    values.write(plan.pointers::<V>(), row as usize);
                    meta.push_row(row, entity, self.tick);
                }
                _ => self.put_in_vacant_row(plan, entity, values),
            }
        }
        None
    }

    /// Adds a row, where a hole may wait for it, or pages or the table have to grow.
    ///
    /// # Safety
    /// The plan is this store's, for `V`. The entity lives, and is not in the set.
    #[inline(never)]
    unsafe fn put_in_vacant_row<V: Values>(&mut self, plan: &SetPlan, entity: Entity, values: V) {
        let row = self.vacant_row(self.set(plan.set).table);
        // SAFETY: forwarded: the values fill all the set's columns (I1, I7), in the vacant row, for which there is room (I3),
        // and which holds nothing (I2, I11).
        unsafe {
            values.write(plan.pointers::<V>(), row);
            self.fill_vacant_row(plan.set, entity, row);
        }
    }

    /// # Safety
    /// The plan is this store's, for `V`, and an entity of the set has this row.
    #[inline(never)]
    unsafe fn merge_in_set<V: Values>(
        &mut self,
        plan: &SetPlan,
        row: usize,
        values: V,
        existing: Existing,
    ) -> V::Old {
        self.mark_rows(self.set(plan.set).table, row, 1);
        // SAFETY: the value columns are the set's columns (I1, I7), initialised at the entity's row (I2, I10, I11).
        unsafe { values.merge(plan.pointers::<V>(), V::ALL, row, existing) }
    }

    /// Inserts a row made by functions, unless the entity has one. Returns whether it was made.
    ///
    /// # Errors
    /// When the functions do not fill the set's columns exactly.
    ///
    /// # Panics
    /// When the set is that of a group's members.
    pub fn set_insert_made(&mut self, set: SetId, entity: Entity, inits: &[Init]) -> Result<bool, PlanError> {
        self.expect_writable(set);
        if !self.can_enter(set, entity) {
            return Ok(false);
        }
        let edge = self.set_edge(self.set(set).table, inits)?;
        // SAFETY: the edge was made just now, so it is fresh, and its functions fill all the set's columns (I7), in the row
        // that is offered, for which there is room (I3). The entity can enter, as was checked above.
        unsafe { self.fill_row(set, entity, |store, row| store.run_inits(&edge, row).keep()) };
        Ok(true)
    }

    /// Whether an entity lives, and is not in a set.
    pub(super) fn can_enter(&self, set: SetId, entity: Entity) -> bool {
        self.entities.contains(entity) && self.set(set).find(entity).is_none()
    }

    /// Adds a row that is filled by a function, and brings groups in line.
    ///
    /// # Safety
    /// The function fills all columns of the set, in the row that it is given, for which there is room, and which holds
    /// nothing. The entity can enter.
    pub(super) unsafe fn fill_row(&mut self, set: SetId, entity: Entity, fill: impl FnOnce(&Self, usize)) {
        let SparseSet { table, naming, .. } = *self.set(set);
        let row = self.vacant_row(table);
        fill(self, row);
        // SAFETY: forwarded: the row is the vacant one, and was filled.
        unsafe { self.fill_vacant_row(set, entity, row) };
        self.settle_groups(entity, naming);
    }

    /// The row that the next entity of a set gets, with room for it: the hole made last, or the one behind the end.
    fn vacant_row(&mut self, table: TableId) -> usize {
        match self.tables[table.index()].holes.last() {
            Some(&hole) => hole as usize,
            None => self.next_row(table),
        }
    }

    /// Lets the vacant row of a set count.
    ///
    /// # Safety
    /// `row` is what `vacant_row` gave for the set's table, and all its columns were written since. The entity lives, and
    /// is not in the set.
    unsafe fn fill_vacant_row(&mut self, set: SetId, entity: Entity, row: usize) {
        let table = self.set(set).table;
        // SAFETY: forwarded: the row is the last hole of the list, which is in range (I11), or the one behind the end, with
        // room (I3); each of its columns has a value. It is the entity's, as its entry says now (I10).
        unsafe {
            *self.sets[set.index()].entry(entity) = Entry::new(entity, row);
            if self.tables[table.index()].holes.pop().is_some() {
                self.metas[table.index()].set_owner(row, entity, self.tick);
            } else {
                self.push_row(table, entity);
            }
        }
    }

    /// Takes an entity's row out of a set. `None` when it has none there.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    #[inline(always)]
    pub fn set_take<V: Values>(&mut self, plan: &SetPlan, ids: V::Ids, entity: Entity) -> Option<V> {
        self.expect_set_plan::<V>(plan, ids);
        // SAFETY: the plan is this store's, for `V`, which are all the columns of its set (I1, I7); sets live as long
        // as the store (I10), and so do their tables, which have metas (I4). The page points to the entity's row (I10),
        // where the values are initialised (I2, I11); the row is given up next. The owner of the last row is in the set
        // (I10).
        // `set_mut` is the only way to the set that is used here until the row is gone: metas and the tick are other parts of
        // the store.
        unsafe {
            let set = plan.set_mut();
            let entry = entry_in(&mut set.pages, entity)?;
            let row = entry.row_of(entity)?;
            if !set.plain {
                return V::complete(self.take_with_care::<V>(plan, entity, row));
            }
            let table = set.table;
            *entry = Entry::ABSENT;
            let (meta, pointers) = (self.metas.get_unchecked_mut(table.index()), plan.pointers::<V>());
            let values = V::take(pointers, V::ALL, row);
            if let Some(moved) = meta.swap_remove::<V>(pointers, row, self.tick) {
                set.move_member(moved, row);
            }
            V::complete(values)
        }
    }

    /// As [`Store::set_take`], out of a set that is stable, or that groups name.
    ///
    /// # Safety
    /// The plan is this store's, for `V`, and the entity has this row in the set.
    #[inline(never)]
    unsafe fn take_with_care<V: Values>(&mut self, plan: &SetPlan, entity: Entity, row: usize) -> V::Old {
        // SAFETY: forwarded: the plan's set is one of this store, which lives as long (I10), and so does its table, which has a
        // meta (I4). The value columns are all its columns (I1, I7), initialised at the row (I2, I10, I11). The entity has
        // that row; where groups are left, the last member takes its place, in range (I13), and the last row that of the
        // last member, whose owners are in the set (I10). Or a hole is left, whose entry is gone.
        unsafe {
            let border = self.leave_groups(plan.set, entity, row);
            let set = plan.set_mut();
            *set.member_entry(entity) = Entry::ABSENT;
            let pointers = plan.pointers::<V>();
            let values = V::take(pointers, V::ALL, row);
            if set.stable {
                self.leave_hole(set.table, row);
            } else {
                let meta = self.metas.get_unchecked_mut(set.table.index());
                if border != row {
                    V::shift(pointers, V::ALL, border, row);
                    let moved = meta.owner(border);
                    meta.set_owner(row, moved, self.tick);
                    set.move_member(moved, row);
                }
                if let Some(moved) = meta.swap_remove::<V>(pointers, border, self.tick) {
                    set.move_member(moved, border);
                }
            }
            if set.excluding != 0 {
                self.settle_groups(entity, set.excluding);
            }
            values
        }
    }

    /// Drops an entity's row in a set. False when it has none there.
    ///
    /// # Panics
    /// When the set is that of a group's members.
    pub fn set_remove(&mut self, set: SetId, entity: Entity) -> bool {
        self.expect_writable(set);
        let Some(left) = self.leave_set(set, entity) else { return false };
        // SAFETY: the row left its set just now: its values lie behind the end, or in a hole (I2, I11).
        unsafe { self.drop_removed_rows(&[left]) }.resume();
        true
    }

    /// Takes what an entity has of `V` in its table, and its rows in these sets, and drops all of it when the entity
    /// is rid of everything. False when it is dead or stands elsewhere; then nothing happens.
    ///
    /// # Panics
    /// When the edge is stale, or a set is that of a group's members.
    pub fn remove_with_sets<V: Values>(
        &mut self,
        entity: Entity,
        edge: &Edge,
        sets: impl IntoIterator<Item = SetId>,
    ) -> bool {
        self.expect_edge::<V>(edge, true);
        if self.locate(entity).is_none_or(|location| location.table != edge.source()) {
            return false;
        }
        let sets = sets.into_iter().inspect(|&set| self.expect_writable(set)).collect::<Vec<SetId>>();
        let left: Vec<RemovedRow> = sets.into_iter().filter_map(|set| self.leave_set(set, entity)).collect();
        let mut panics = FirstPanic::default();
        panics.guard(|| {
            self.remove::<V>(entity, edge);
        });
        // SAFETY: the rows left their sets just now, and nothing came into these since: their values lie behind the ends, or
        // in holes (I2, I11).
        panics.join(unsafe { self.drop_removed_rows(&left) });
        panics.resume();
        true
    }

    /// Panics for the set of a group's members, which only groups write (I13).
    pub(super) fn expect_writable(&self, set: SetId) {
        assert!(!self.set(set).of_group, "only groups write the set of their members");
    }

    /// Takes an entity out of every set. Values with drop glue are left to be dropped.
    pub(crate) fn leave_all_sets(&mut self, entity: Entity) -> Vec<RemovedRow> {
        let has_glue =
            |store: &Self, left: &RemovedRow| !store.tables[left.table.index()].droppers.is_empty();
        let sets = self.sets();
        sets.filter_map(|set| self.leave_set(set, entity).filter(|left| has_glue(self, left))).collect()
    }

    /// Drops the values of rows that left, before anything else happens to their sets.
    ///
    /// # Safety
    /// The rows left their sets just now, and their values with drop glue lie there still.
    pub(crate) unsafe fn drop_removed_rows(&self, left: &[RemovedRow]) -> FirstPanic {
        let mut panics = FirstPanic::default();
        for &RemovedRow { table, row } in left {
            // SAFETY: forwarded.
            panics.join(unsafe { self.drop_at(table, &self.tables[table.index()].droppers, row, 1) });
        }
        panics
    }

    /// Takes an entity out of a set, and tells where its values with drop glue lie, which are left to be dropped: right
    /// behind the end of the table, or in the hole that a stable set keeps.
    fn leave_set(&mut self, set: SetId, entity: Entity) -> Option<RemovedRow> {
        let row = self.set(set).find(entity)?;
        let SparseSet { table, stable, needing, excluding, .. } = *self.set(set);
        // SAFETY: the entity was found at the row, which is in range and no hole (I10, I11), and changes places with the last
        // member, whose set has no holes (I13), so that its entry can go. Its values lie where they were, or behind the end
        // (I2, I11). The owner of a row that is moved is in the set (I10).
        let row = unsafe {
            let border = if needing == 0 { row } else { self.leave_groups_apart(set, entity, row) };
            if border != row {
                self.swap_set_rows(set, row, border);
            }
            let row = border;
            self.sets[set.index()].unset(entity);
            if stable {
                self.leave_hole(table, row);
                row
            } else {
                if let Some(moved) = self.close_gap(table, row, None) {
                    self.sets[set.index()].move_member(moved, row);
                }
                self.table_len(table)
            }
        };
        // The dead qualify for nothing, whatever they leave first.
        if excluding != 0 && self.entities.contains(entity) {
            self.settle_groups(entity, excluding);
        }
        Some(RemovedRow { table, row })
    }

    /// Makes a row of a stable set a hole.
    ///
    /// # Safety
    /// The table is a stable set's, which has the row; its entry is gone, and its values are not read again, only dropped.
    #[inline(never)]
    unsafe fn leave_hole(&mut self, table: TableId, row: usize) {
        // SAFETY: forwarded: the row is in range, and a hole from now on, which has no entity (I11).
        unsafe { self.metas[table.index()].set_owner(row, Entity::PLACEHOLDER, self.tick) };
        self.tables[table.index()].holes.push(u32::try_from(row).expect("rows fit in 32 bits"));
    }

    /// Drops the values of a table's first `len` rows, but for its holes, of which there are none afterwards. No row
    /// counts any more.
    ///
    /// # Safety
    /// The rows hold values, but for the holes, and do not count any more.
    pub(crate) unsafe fn drop_rows(&mut self, table: TableId, len: usize) -> FirstPanic {
        let mut holes = std::mem::take(&mut self.tables[table.index()].holes);
        holes.sort_unstable();
        let mut panics = FirstPanic::default();
        let mut start = 0;
        for end in holes.into_iter().map(|hole| hole as usize).chain([len]) {
            // SAFETY: forwarded; no hole is among these rows (I11).
            panics.join(unsafe {
                self.drop_at(table, &self.tables[table.index()].droppers, start, end - start)
            });
            start = end + 1;
        }
        panics
    }
}
