//! Ids that the caller names instead of the directory: from a server, a file, another world.
//!
//! An id of the past was given to an entity that is dead, or was skipped: it never comes alive again. Any other id whose
//! slot is not taken can be claimed. The slots between the last one and a claimed one become free ones, so that a claim
//! costs time and memory for the indices it skips; one that would skip too many is refused at once.
//!
//! A free slot is taken out of the middle of the list, which leads in one direction only. So claims keep the way back,
//! per slot the one before it, and believe it only where the list agrees: what is stale was on the list's first part, and
//! is walked anew.
//!
//! ```text
//!   head ──▶ 9 ──▶ 4 ──▶ 7 ──▶ 1 ──▶ NONE        before[4] = 9, before[7] = 4, ..
//!            claim 4:  9 ──▶ 7                    before[7] = 9
//! ```

#![forbid(unsafe_code)]

use std::fmt;

use super::{Entities, FIRST, NONE, Slot, USED_UP};
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::store::Store;

/// How many indices one claim may skip. Their slots take 12 bytes each.
pub(super) const MOST_SKIPPED: u32 = 1 << 24;

/// Why an id cannot be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimError {
    /// An entity with the same index is alive.
    Taken(Entity),
    /// The slot has gone on to a later generation.
    Past,
    /// The index is too far beyond those in use, or beyond the limit of the directory.
    TooFar,
    /// No entity ever has such an id: the placeholder.
    NoId,
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(by) => {
                write!(f, "its index is taken by {by}: despawn that first, or name another index")
            }
            Self::Past => f.write_str("its generation is one of the past: name a later one"),
            Self::TooFar => write!(
                f,
                "its index is more than {MOST_SKIPPED} beyond those in use, or beyond the world's limit: name a lower one"
            ),
            Self::NoId => {
                f.write_str("no entity has this id: it is the placeholder, or its generation is the last")
            }
        }
    }
}

impl Entities {
    /// Whether an id can never be alive any more, because its slot has gone on to a later generation.
    ///
    /// Ids that are alive are not of the past, nor are those that are reserved or were never given.
    pub fn is_past(&self, entity: Entity) -> bool {
        let slot = self.slots.get(entity.index() as usize);
        slot.is_some_and(|slot| entity.raw_generation() < slot.link.raw_generation())
    }

    /// Brings this very entity to life, without a row: for the store alone.
    pub(crate) fn claim(&mut self, entity: Entity) -> Result<(), ClaimError> {
        self.settle();
        let index = entity.index();
        if entity.raw_generation() == USED_UP || index == NONE {
            return Err(ClaimError::NoId);
        }
        match self.slots.get(index as usize) {
            Some(slot) if slot.table != TableId::DEAD => {
                return Err(ClaimError::Taken(Entity::new(index, slot.link.raw_generation())));
            }
            // A retired slot has the last generation, so every id is of its past.
            Some(slot) if entity.raw_generation() < slot.link.raw_generation() => {
                return Err(ClaimError::Past);
            }
            Some(_) => self.unlist(index),
            None => self.skip_to(index)?,
        }
        let location = EntityLocation::new(TableId::ROWLESS, Row::new(index));
        let slot = Slot::new(location, entity.raw_generation());
        match self.slots.get_mut(index as usize) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        self.spawn_ticks.note(index);
        self.rowless += 1;
        self.changes += 1;
        Ok(())
    }

    /// Makes all slots below `index` exist: the new ones are free, and come before those that were, lowest first.
    fn skip_to(&mut self, index: u32) -> Result<(), ClaimError> {
        let first = self.slots();
        if index >= self.limit || index - first > MOST_SKIPPED {
            return Err(ClaimError::TooFar);
        }
        if index == first {
            return Ok(());
        }
        let head = self.list_head();
        self.slots.extend((first..index).map(|at| {
            let next = if at + 1 == index { head } else { at + 1 };
            Slot { table: TableId::DEAD, link: Entity::new(next, FIRST) }
        }));
        self.set_head(first);
        self.free += index - first;
        Ok(())
    }

    /// Takes a free slot out of the list.
    fn unlist(&mut self, index: u32) {
        let next = self.slots[index as usize].link.index();
        if self.list_head() == index {
            self.set_head(next);
        } else {
            let before = self.slot_before(index);
            let place = &mut self.slots[before as usize];
            place.link = Entity::new(next, place.link.raw_generation());
            if next != NONE {
                self.before[next as usize] = before;
            }
        }
        self.free -= 1;
    }

    /// The free slot that leads to this one, which is free and not the first.
    fn slot_before(&mut self, index: u32) -> u32 {
        self.before.resize(self.slots.len(), NONE);
        let known = self.before[index as usize];
        // All free slots are listed, so a free one that leads here is the one before.
        let leads_here =
            |slot: &Slot| slot.table == TableId::DEAD && !slot.is_retired() && slot.link.index() == index;
        if self.slots.get(known as usize).is_some_and(leads_here) {
            return known;
        }
        // As many again are walked behind it: the next claim of a slot near by finds its way.
        let (mut at, mut walked, mut left) = (self.list_head(), 0, None);
        while at != NONE && left != Some(0) {
            let next = self.slots[at as usize].link.index();
            if next != NONE {
                self.before[next as usize] = at;
            }
            walked += 1;
            left = if next == index { Some(walked) } else { left.map(|left: u32| left - 1) };
            at = next;
        }
        self.before[index as usize]
    }
}

impl Store {
    /// Brings this very entity to life, without a row.
    ///
    /// # Errors
    /// When its index is taken or too far, or its generation is one of the past; nothing has changed then.
    pub fn spawn_rowless_at(&mut self, entity: Entity) -> Result<(), ClaimError> {
        self.entities.claim(entity)
    }
}
