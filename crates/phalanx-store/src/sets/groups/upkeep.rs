//! How groups are kept: who enters after a gain, and who leaves before a loss.
//!
//! Most groups own their sets and exclude nothing. For them, an entity that got something is looked up in each set
//! once, and one that loses something leaves by a comparison of its row with the border; other groups go a longer way.

use super::{BITS, Group};
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::sets::{PinnedSet, SetId, SparseSet};
use crate::store::Store;
use crate::table::{Table, TableMeta};
use crate::tick::Tick;

/// Calls a function with each position of a group for which a mask stands, of `len` in all.
#[inline(always)]
fn for_each_named(mut mask: u64, len: usize, mut f: impl FnMut(usize)) {
    while mask != 0 {
        let mut at = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        while at < len {
            f(at);
            at += BITS;
        }
    }
}

impl Group {
    /// Exchanges the rows of an entity in the sets that the group owns, but for one that is spared, with those at the
    /// border.
    ///
    /// # Safety
    /// Sets, tables and metas are those of the group's store. The entity is in each set that the group owns, and each
    /// has a row at the border.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "parts of the store, borrowed beside the group")]
    unsafe fn bring_to(
        &self,
        sets: &mut [PinnedSet],
        tables: &[Table],
        metas: &mut [TableMeta],
        now: Tick,
        entity: Entity,
        border: usize,
        spared: Option<SetId>,
    ) {
        for &set in &self.terms.owned {
            if Some(set) == spared {
                continue;
            }
            // SAFETY: forwarded: the sets of a group are sets of its store, which live as long (I10, I13); those that are
            // owned have no holes, the entity has its row, and another one is exchanged with it.
            unsafe {
                let set = sets.get_unchecked_mut(set.index());
                let row = set.row_of_member(entity);
                if row != border {
                    set.swap_rows(tables, metas, row, border, now);
                }
            }
        }
    }
}

impl Store {
    /// Brings an entity's membership in some groups in line with the sets it is in, and its table. It lost nothing that
    /// one of these groups needs.
    #[inline]
    pub(in crate::sets) fn settle_groups(&mut self, entity: Entity, mask: u64) {
        if mask.is_power_of_two() && self.groups.slots.len() <= BITS {
            self.settle_group(mask.trailing_zeros() as usize, entity);
        } else {
            self.settle_many(entity, mask);
        }
    }

    #[inline(never)]
    fn settle_many(&mut self, entity: Entity, mask: u64) {
        for_each_named(mask, self.groups.slots.len(), |at| self.settle_group(at, entity));
    }

    #[inline(never)]
    pub(super) fn settle_group(&mut self, at: usize, entity: Entity) {
        let Some(group) = &mut self.groups.slots[at].group else { return };
        if !group.plain {
            self.settle_other(at, entity);
            return;
        }
        let border = group.len as usize;
        // An entity that lost a set that is needed has left before; a row before the border is that of a member.
        let mut in_place = true;
        for (at, set) in group.needed.iter().enumerate() {
            // SAFETY: the sets of a group are sets of its store, which live as long (I10, I13).
            let set = unsafe { self.sets.get_unchecked(set.index()) };
            let Some(row) = set.find(entity).filter(|&row| at > 0 || row >= border) else { return };
            in_place &= row == border;
        }
        group.len += 1;
        if !in_place {
            let (tables, metas) = (&self.tables, &mut self.metas);
            // SAFETY: the entity is in every set that the group needs, each of which has more rows than members (I13).
            unsafe { group.bring_to(&mut self.sets, tables, metas, self.tick, entity, border, None) };
        }
    }

    /// As `settle_group`, for any group.
    #[inline(never)]
    fn settle_other(&mut self, at: usize, entity: Entity) {
        let Some(group) = &self.groups.slots[at].group else { return };
        if !group.needed.iter().all(|&set| self.set(set).find(entity).is_some()) {
            return;
        }
        let (is_member, is_excluded) = (group.has(&self.sets, entity), self.is_excluded(group, entity));
        // SAFETY: found just now: the entity is in each set that the group needs, so it lives (I10); and whether it is a member,
        // who has its rows exchanged in all owned sets, since none is spared (I13).
        unsafe {
            match (is_member, is_excluded) {
                (false, false) => self.add_member(at, entity),
                (true, true) => _ = self.take_member(at, entity, None),
                _ => {}
            }
        }
    }

    /// Whether an entity has what a group excludes.
    pub(super) fn is_excluded(&self, group: &Group, entity: Entity) -> bool {
        let columns = &group.terms.without;
        let in_table = || {
            self.entities.locate(entity).is_some_and(|location| {
                let has = |&column: &AnyColId| self.table_has(location.table, column);
                columns.iter().any(has)
            })
        };
        group.terms.without_sets.iter().any(|&set| self.set(set).find(entity).is_some())
            || (!columns.is_empty() && in_table())
    }

    /// Makes an entity a member.
    ///
    /// # Safety
    /// It is in every set that the group needs, and no member yet.
    unsafe fn add_member(&mut self, at: usize, entity: Entity) {
        let Some(group) = &mut self.groups.slots[at].group else { return };
        if let Some(set) = group.members {
            // SAFETY: forwarded; an entity in a set lives (I10).
            unsafe { self.push_member(set, entity) };
            return;
        }
        let border = group.len as usize;
        group.len += 1;
        // SAFETY: forwarded: the entity is in every owned set, behind the members, so that there is a row at the border
        // (I13).
        unsafe {
            group.bring_to(&mut self.sets, &self.tables, &mut self.metas, self.tick, entity, border, None);
        };
    }

    /// Takes a member out. Its row in the set that is spared stays where it is, for the caller to exchange with that of
    /// the last member, which is returned; `None` where the group owns nothing.
    ///
    /// # Safety
    /// The entity is a member, and the caller exchanges these rows.
    #[inline(always)]
    unsafe fn take_member(&mut self, at: usize, entity: Entity, spared: Option<SetId>) -> Option<usize> {
        let group = self.groups.slots[at].group.as_mut()?;
        // SAFETY: forwarded: where the group has a set of its own, it is that of its members; otherwise members are in all owned
        // sets, before the border (I13).
        unsafe {
            if let Some(set) = group.members {
                self.remove_member(set, entity);
                return None;
            }
            group.len -= 1;
            let last = group.len as usize;
            group.bring_to(&mut self.sets, &self.tables, &mut self.metas, self.tick, entity, last, spared);
            Some(last)
        }
    }

    /// Takes an entity out of the groups that need a set which it is about to leave. Where the one that owns the set is
    /// among them, the row of its last member is returned: it has to take the place of the entity's, whose row comes
    /// last. Otherwise that is the entity's row.
    ///
    /// # Safety
    /// The set is one of this store. The entity has this row in it, and the caller exchanges it with the one that is
    /// returned (I13).
    #[inline(always)]
    pub(in crate::sets) unsafe fn leave_groups(&mut self, set: SetId, entity: Entity, row: usize) -> usize {
        // SAFETY: forwarded: sets live as long as the store (I10).
        let SparseSet { needing, owner, only_owner, .. } = **unsafe { self.sets.get_unchecked(set.index()) };
        let Some(at) = only_owner else {
            // SAFETY: forwarded.
            return unsafe { self.leave_many(set, entity, owner.map(|at| at as usize), needing) }
                .unwrap_or(row);
        };
        let Some(group) = &mut self.groups.slots[at as usize].group else { return row };
        // A row before the border is that of a member.
        if row >= group.len as usize {
            return row;
        }
        group.len -= 1;
        let last = group.len as usize;
        let (sets, tables, metas) = (&mut self.sets, &self.tables, &mut self.metas);
        // SAFETY: forwarded: members are in all owned sets, before the border (I13).
        unsafe { group.bring_to(sets, tables, metas, self.tick, entity, last, Some(set)) };
        last
    }

    /// As `leave_groups`, for callers that seldom meet groups: it is not inlined.
    ///
    /// # Safety
    /// As for `leave_groups`.
    #[inline(never)]
    pub(in crate::sets) unsafe fn leave_groups_apart(
        &mut self,
        set: SetId,
        entity: Entity,
        row: usize,
    ) -> usize {
        // SAFETY: forwarded.
        unsafe { self.leave_groups(set, entity, row) }
    }

    /// # Safety
    /// As for `leave_groups`.
    #[inline(never)]
    unsafe fn leave_many(
        &mut self,
        set: SetId,
        entity: Entity,
        owner: Option<usize>,
        needing: u64,
    ) -> Option<usize> {
        let (len, mut border) = (self.groups.slots.len(), None);
        for_each_named(needing, len, |at| {
            let Some(group) = &self.groups.slots[at].group else { return };
            // Where there are many groups, a mask stands for more than those that name the set.
            if (len <= BITS || group.needed.contains(&set)) && group.has(&self.sets, entity) {
                // SAFETY: forwarded; the entity is a member, as was found just now (I13).
                let last = unsafe { self.take_member(at, entity, Some(set)) };
                if owner == Some(at) {
                    border = last;
                }
            }
        });
        border
    }
}
