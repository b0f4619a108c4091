//! What can be counted and listed in the directory.
//!
//! Everything here is as of the last flush. Ids reserved since then are not alive yet: those that took a
//! free slot still count as free, those beyond all slots do not count. Counts are kept, not computed,
//! except the living ones, which are all slots neither free nor retired: one count less for a spawn to keep.

#![forbid(unsafe_code)]

use std::iter::FusedIterator;
use std::slice;

use super::{Entities, Slot};
use crate::entity::Entity;
use crate::location::TableId;

impl Entities {
    /// Returns how many entities are alive.
    #[inline]
    pub fn len(&self) -> usize {
        (self.slots() - self.free - self.retired) as usize
    }

    /// Returns `true` if no entity is alive.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many of the living entities occupy no row.
    #[inline]
    pub fn rowless_len(&self) -> usize {
        self.rowless as usize
    }

    /// Returns how many slots there are: living, free and retired.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "there are at most `limit` slots, which is a `u32`")]
    pub fn slots(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Returns how many slots wait to be used again.
    #[inline]
    pub fn free_len(&self) -> usize {
        self.free as usize
    }

    /// Returns how many slots have used up their generations.
    #[inline]
    pub fn retired_len(&self) -> usize {
        self.retired as usize
    }

    /// Returns how many slots there can be without another allocation.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Returns how many bytes of memory the slots take, unused ones included.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    /// Returns all living entities, in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = Entity> + Clone + '_ {
        (0..self.slots())
            .zip(&self.slots)
            .filter(|(_, slot)| slot.table != TableId::DEAD)
            .map(|(index, slot)| Entity::new(index, slot.link.raw_generation()))
            .take(self.len())
    }

    /// Returns the living entity that has a slot, if there is one.
    pub fn at_slot(&self, index: u32) -> Option<Entity> {
        let slot = self.slots.get(index as usize).filter(|slot| slot.table != TableId::DEAD)?;
        Some(Entity::new(index, slot.link.raw_generation()))
    }

    /// Returns all living entities without a row, in the order of their indices; at no cost if there is none.
    ///
    /// Each is a reference into the directory, so that it can serve as a slice of one row.
    pub fn rowless(&self) -> Rowless<'_> {
        Rowless { slots: self.slots.iter(), left: self.rowless_len() }
    }
}

/// The living entities without a row, in the order of their indices.
#[derive(Clone)]
pub struct Rowless<'a> {
    slots: slice::Iter<'a, Slot>,
    left: usize,
}

impl<'a> Iterator for Rowless<'a> {
    type Item = &'a Entity;

    fn next(&mut self) -> Option<&'a Entity> {
        // The slots behind the last one are not looked at.
        self.left = self.left.checked_sub(1)?;
        self.slots.find(|slot| slot.table == TableId::ROWLESS).map(|slot| &slot.link)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Rowless<'_> {}
impl FusedIterator for Rowless<'_> {}
