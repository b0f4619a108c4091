//! Groups and pages in images.
//!
//! The rows of sets are restored as those of all tables; which of them are a group's members is the length of the group,
//! or the rows of its own set. So a group is restored by its terms and its length, and no entity enters or leaves.

use super::{Group, GroupTerms, Slot};
use crate::entity::Entity;
use crate::location::TableId;
use crate::sets::{Entry, SetId};
use crate::store::Store;

/// The groups of a store: by slot, the generation, the terms and the number of members.
pub(crate) struct GroupsImage(Vec<Option<(u32, GroupTerms, u32)>>);

impl Store {
    pub(crate) fn groups_image(&self) -> GroupsImage {
        let group =
            |slot: &Slot| slot.group.as_ref().map(|group| (slot.generation, group.terms.clone(), group.len));
        GroupsImage(self.groups.slots.iter().map(group).collect())
    }

    /// Makes the groups what they were.
    ///
    /// # Safety
    /// The rows of all sets are as they were when the image was taken, so that as many are those of members (I13).
    pub(crate) unsafe fn restore_groups(&mut self, image: &GroupsImage) {
        let mut changed = false;
        for at in 0..self.groups.slots.len() {
            let target = image.0.get(at).and_then(Option::as_ref);
            let slot = &mut self.groups.slots[at];
            match (target, &mut slot.group) {
                (Some((generation, _, len)), Some(group)) if slot.generation == *generation => {
                    group.len = *len;
                }
                (None, None) => {}
                (None, group) => {
                    *group = None;
                    changed = true;
                }
                (Some((generation, terms, len)), _) => {
                    slot.generation = *generation;
                    slot.group = None;
                    // SAFETY: forwarded: the rows are as they were when the group had as many members (I13).
                    let group = unsafe { self.group_of(at, terms.clone(), *len) };
                    self.groups.slots[at].group = Some(group);
                    changed = true;
                }
            }
        }
        if changed {
            self.update_naming();
        }
    }

    /// A group with these terms and as many members.
    ///
    /// # Safety
    /// As many rows of each owned set are those of members, in one order (I13), when the group is used next.
    pub(super) unsafe fn group_of(&mut self, at: usize, terms: GroupTerms, len: u32) -> Group {
        let needed: Vec<SetId> = terms.owned.iter().chain(&terms.seen).copied().collect();
        let members = terms.owned.is_empty().then(|| self.members_set(at));
        Group {
            needed: needed.into(),
            len,
            members,
            plain: members.is_none() && terms.without_sets.is_empty() && terms.without.is_empty(),
            terms,
        }
    }

    /// Takes entities out of the pages of the set with this table.
    ///
    /// # Safety
    /// They are in no row of the table from now on, or are noted again before it is used (I10).
    pub(crate) unsafe fn unset_all(&mut self, table: TableId, entities: &[Entity]) {
        let Some(set) = self.sets.iter_mut().find(|set| set.table == table) else { return };
        for &entity in entities.iter().filter(|entity| **entity != Entity::PLACEHOLDER) {
            // SAFETY: forwarded.
            unsafe { set.unset(entity) };
        }
    }

    /// Notes the rows of entities, from `start` on, in the pages of the set with this table.
    ///
    /// # Safety
    /// The entities, but for placeholders, live and have these rows (I10).
    pub(crate) unsafe fn set_entries(&mut self, table: TableId, start: usize, entities: &[Entity]) {
        let Some(set) = self.sets.iter_mut().find(|set| set.table == table) else { return };
        for (row, &entity) in (start..).zip(entities).filter(|(_, entity)| **entity != Entity::PLACEHOLDER) {
            // SAFETY: forwarded: the entity has the row.
            unsafe { *set.entry(entity) = Entry::new(entity, row) };
        }
    }
}
