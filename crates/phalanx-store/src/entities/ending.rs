//! Many entities of one table die, one after the other.
//!
//! The free list begins with each of them in turn, so its head and its length are kept at hand, and are written when
//! the last one has died.

use super::{Entities, Slot, USED_UP};
use crate::entity::Entity;
use crate::location::{Row, TableId};
use crate::sync::{AtomicU32, with_mut};

/// A directory in which entities die: for the store alone.
pub(crate) struct Ending<'e> {
    slots: &'e mut [Slot],
    /// Where the head and the length of the free list are written at the end.
    list: (&'e mut AtomicU32, &'e mut u32),
    changes: &'e mut u64,
    head: u32,
    ended: u32,
}

impl Entities {
    /// Lets many entities die: for the store alone.
    pub(crate) fn end_many(&mut self) -> Ending<'_> {
        self.settle();
        let head = self.list_head();
        let list = (&mut self.head, &mut self.free);
        Ending { slots: &mut self.slots, list, changes: &mut self.changes, head, ended: 0 }
    }
}

impl Ending<'_> {
    /// As [`Entities::free_from`].
    ///
    /// # Safety
    /// As for [`Entities::free_from`]; other entities of the table may die before.
    #[inline(always)]
    pub(crate) unsafe fn end(&mut self, table: TableId, entity: Entity) -> Option<Row> {
        let row = self.slots.get_mut(entity.index() as usize)?.end_in(table, entity, self.head)?;
        (self.head, self.ended) = (entity.index(), self.ended + 1);
        Some(row)
    }

    /// All slots of the directory.
    #[inline(always)]
    pub(crate) fn slots(&mut self) -> &mut [Slot] {
        self.slots
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let (head, length) = &mut self.list;
        with_mut(*head, |word| *word = self.head);
        **length += self.ended;
        *self.changes += u64::from(self.ended);
    }
}

impl Slot {
    /// Ends an entity with a row in this table, whose slot becomes the first of the free list. `None`, and nothing
    /// happens, if it is another, or the slot would be retired.
    #[inline(always)]
    pub(super) fn end_in(&mut self, table: TableId, entity: Entity, head: u32) -> Option<Row> {
        let next = entity.raw_generation().checked_add(1).filter(|&next| next != USED_UP)?;
        if self.link.raw_generation() != entity.raw_generation() || self.table != table {
            return None;
        }
        let row = Row::new(self.link.index());
        *self = Self { table: TableId::DEAD, link: Entity::new(head, next) };
        Some(row)
    }
}
