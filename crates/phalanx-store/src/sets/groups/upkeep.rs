//! How groups are kept: who enters after a gain, and who leaves before a loss.
//!
//! Most groups own their sets and exclude nothing. For them, an entity that got something is looked up in each set once, and
//! one that loses something leaves by a comparison of its row with the border; other groups go a longer way.

use std::ptr::NonNull;

use super::{BITS, find};
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::sets::{Entry, SparseSet};
use crate::store::Store;

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
        let (border, mut first, mut in_place) = (group.len as usize, None, true);
        for &set in &group.needed {
            // Whoever lost a set that is needed has left before.
            // SAFETY: the group's sets are those of this store (I10).
            let Some(row) = (unsafe { find(set, entity) }) else { return };
            first = first.or(Some(row));
            in_place &= row == border;
        }
        if first.is_some_and(|row| row >= border) {
            group.len += 1;
            if !in_place {
                // SAFETY: the entity is in each of the sets, which have as many rows as the group has members (I13).
                unsafe { self.bring_to_border(at, entity, border) };
            }
        }
    }

    /// As `settle_group`, for any group.
    #[inline(never)]
    fn settle_other(&mut self, at: usize, entity: Entity) {
        let Some(group) = &self.groups.slots[at].group else { return };
        // SAFETY: the group's sets are those of this store (I10).
        let is_in = |set: &NonNull<SparseSet>| unsafe { find(*set, entity) }.is_some();
        if !group.needed.iter().all(is_in) {
            return;
        }
        let excluded = group.excluded.iter().any(is_in)
            || (!group.terms.without.is_empty() && self.has_any(entity, &group.terms.without));
        match (group.has(entity), excluded) {
            // SAFETY: the entity is in every set that is needed (I10, I13).
            (false, false) => unsafe { self.add_member(at, entity) },
            (true, true) => {
                // SAFETY: the entity is a member (I13).
                unsafe { self.take_member(at, entity, None) };
            }
            _ => {}
        }
    }

    /// Whether the table of an entity has one of these columns.
    pub(super) fn has_any(&self, entity: Entity, columns: &[AnyColId]) -> bool {
        self.entities.locate(entity).is_some_and(|place| {
            let has = |&column: &AnyColId| self.lanes.cell(column, place.table);
            columns.iter().filter_map(has).any(|cell| !cell.data.is_null())
        })
    }

    /// Makes an entity a member.
    ///
    /// # Safety
    /// There is a group at this position. The entity is in every set that it needs, and no member.
    unsafe fn add_member(&mut self, at: usize, entity: Entity) {
        let Some(group) = &mut self.groups.slots[at].group else { return };
        // SAFETY: forwarded; the group's sets are those of this store (I10).
        unsafe {
            if let Some(set) = group.members {
                let row = self.append_row(set.as_ref().table, entity, |_| ());
                *(*set.as_ptr()).entry(entity) = Entry::new(entity, row);
                return;
            }
            let border = group.len as usize;
            group.len += 1;
            self.bring_to(at, entity, border, None);
        }
    }

    /// Takes a member out. Its row in the set that is spared stays where it is, for the caller to put the row of the last
    /// member in its place, which is returned.
    ///
    /// # Safety
    /// There is a group at this position, and the entity is a member.
    #[inline]
    unsafe fn take_member(&mut self, at: usize, entity: Entity, spared: Option<NonNull<SparseSet>>) -> usize {
        let Some(group) = &mut self.groups.slots[at].group else { return 0 };
        // SAFETY: forwarded; members are in all owned sets, before the border (I13).
        unsafe {
            if let Some(set) = group.members {
                self.remove_member(set, entity);
                return 0;
            }
            group.len -= 1;
            let last = group.len as usize;
            self.bring_to(at, entity, last, spared);
            last
        }
    }

    /// Brings the rows of an entity in owned sets to the border.
    ///
    /// # Safety
    /// The entity is in each set that the group at this position owns, and each has the other row.
    #[inline(never)]
    unsafe fn bring_to_border(&mut self, at: usize, entity: Entity, border: usize) {
        // SAFETY: forwarded.
        unsafe { self.bring_to(at, entity, border, None) };
    }

    /// Exchanges the rows of an entity in owned sets, but for one that is spared, with another one.
    ///
    /// # Safety
    /// The entity is in each set that the group at this position owns, and each has the other row.
    #[inline(always)]
    unsafe fn bring_to(&mut self, at: usize, entity: Entity, to: usize, spared: Option<NonNull<SparseSet>>) {
        let Some(group) = &self.groups.slots[at].group else { return };
        for &set in &group.owned {
            if Some(set) == spared {
                continue;
            }
            // SAFETY: forwarded; owned sets have no holes (I13).
            unsafe {
                let row = set.as_ref().row_of_member(entity);
                if row != to {
                    self.swap_rows(set, row, to);
                }
            }
        }
    }

    /// # Safety
    /// The set is that of the members of a group, and the entity is one of them.
    pub(super) unsafe fn remove_member(&mut self, set: NonNull<SparseSet>, entity: Entity) {
        // SAFETY: forwarded; the row is in range (I10), and has no values.
        unsafe {
            let (table, row) = (set.as_ref().table, set.as_ref().row_of_member(entity));
            (*set.as_ptr()).unset(entity);
            if let Some(moved) = self.close_gap(table, row, &[]) {
                (*set.as_ptr()).repoint(moved, row);
            }
        }
    }

    /// Takes an entity out of the groups that need a set it is about to leave. Where the one that owns the set is among
    /// them, the row of its last member is returned: it has to take the place of the entity's, whose row comes last.
    ///
    /// # Safety
    /// The set is one of this store, and the entity has this row in it.
    #[inline(never)]
    pub(in crate::sets) unsafe fn leave_groups(
        &mut self,
        set: NonNull<SparseSet>,
        entity: Entity,
        row: usize,
    ) -> Option<usize> {
        // SAFETY: forwarded (I10).
        let (needing, owner) = unsafe { (set.as_ref().needing, set.as_ref().owner) };
        let len = self.groups.slots.len();
        let owner = owner.map(|owner| owner as usize);
        match owner {
            // The owner is the only one that needs the set.
            Some(at) if needing == 1 << (at % BITS) && len <= BITS => {
                let group = self.groups.slots[at].group.as_mut()?;
                if row >= group.len as usize {
                    return None;
                }
                group.len -= 1;
                let last = group.len as usize;
                // SAFETY: the entity is a member, in all owned sets before the border (I13).
                unsafe { self.bring_to(at, entity, last, Some(set)) };
                Some(last)
            }
            // SAFETY: forwarded.
            _ => unsafe { self.leave_many(set, entity, needing, owner) },
        }
    }

    /// # Safety
    /// As for `leave_groups`.
    #[inline(never)]
    unsafe fn leave_many(
        &mut self,
        set: NonNull<SparseSet>,
        entity: Entity,
        needing: u64,
        owner: Option<usize>,
    ) -> Option<usize> {
        let (len, mut border) = (self.groups.slots.len(), None);
        for_each_named(needing, len, |at| {
            let Some(group) = &self.groups.slots[at].group else { return };
            // Where there are many groups, a mask stands for more than those that name the set.
            if (len > BITS && !group.needed.contains(&set)) || !group.has(entity) {
                return;
            }
            // SAFETY: the entity is a member (I13).
            let last = unsafe { self.take_member(at, entity, Some(set)) };
            if owner == Some(at) {
                border = Some(last);
            }
        });
        border
    }
}
