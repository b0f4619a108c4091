//! Handing out ids while many threads share the directory, without a lock.
//!
//! While it is shared, no slot is written and nothing is pushed on the free list. Only two words change: `head` moves
//! along the list as slots are popped; `reserved` counts ids past the end, and notes where the head was at first.
//!
//! ```text
//!        first ──▶ 4 ──▶ 1 ──▶ 7 ──▶ 2 ──▶ NONE      slots: 0 1 2 3 4 5 6 7 │ 8 9
//!                  reserved    ▲ head                            slots() ───┘ └┴─ fresh = 2, reserved
//!
//!   reserved       63 .. 32  fresh        31 .. 0  first + 1, or zero       zero in all: nothing is reserved
//! ```
//!
//! So that code with exclusive access to the directory asks one word whether anything is reserved, and writes one when
//! it takes or frees a slot.
//!
//! A pop swaps the head for its successor, which is read from a slot that cannot change. The list has no cycle
//! and nothing returns to it, so the head never takes an old value again (no ABA). The first pop is preceded by the
//! note of where the head is. Moving the head releases, and reading it acquires: a thread that finds the head
//! moved therefore finds the note as well, and does not write one that comes too late. For the rest `Relaxed`
//! suffices: each change is one read-modify-write of a word, and a reserved id opens no memory. Slots are written, and
//! flushed, under `&mut self`; whatever turns that into shared references and back (a scope, a join, a lock) already
//! orders the one before the other.

#![forbid(unsafe_code)]

use super::{Entities, Exhausted, FIRST, NONE, Slot};
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::sync::{Ordering, with_mut};

impl Entities {
    /// Reserves an id; it comes alive, without a row, at the next [`flush`](Entities::flush).
    ///
    /// May be called from many threads at once; each gets ids of its own. A slot is reused before a new
    /// one is planned, the one freed last first. An id that is never used costs nothing more than
    /// an entity that is alive.
    ///
    /// # Errors
    ///
    /// If no slot is free and the limit of the directory is reached.
    #[inline]
    pub fn reserve(&self) -> Result<Entity, Exhausted> {
        match self.pop_shared() {
            Some(entity) => Ok(entity),
            None => self.advance_shared(),
        }
    }

    /// Returns `true` if ids were reserved that are not alive yet.
    #[inline]
    pub fn needs_flush(&self) -> bool {
        self.reserved.load(Ordering::Relaxed) != 0
    }

    /// Returns the index that will be used again first, or `None` if the next entity gets a new one.
    #[inline]
    pub fn next_free(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        (head != NONE).then_some(head)
    }

    /// Brings all reserved ids to life, without rows.
    pub fn flush(&mut self) {
        self.settle();
    }

    /// Flushes if there is anything to flush.
    #[inline]
    pub(super) fn settle(&mut self) {
        if !self.is_settled() {
            self.flush_reserved();
        }
    }

    /// As [`needs_flush`](Entities::needs_flush), the other way round, while the directory is not shared.
    #[inline(always)]
    pub(crate) fn is_settled(&mut self) -> bool {
        with_mut(&mut self.reserved, |reserved| *reserved == 0)
    }

    #[cold]
    #[inline(never)]
    fn flush_reserved(&mut self) {
        let head = self.list_head();
        let (first, fresh) = parts(with_mut(&mut self.reserved, std::mem::take));
        let mut next = first.unwrap_or(head);
        while next != head {
            let slot = &mut self.slots[next as usize];
            let link = slot.link;
            *slot = rowless(next, link);
            self.spawn_ticks.note(next);
            next = link.index();
            self.free -= 1;
            self.rowless += 1;
        }
        let end = self.slots() + fresh;
        let new = self.slots()..end;
        new.clone().for_each(|index| self.spawn_ticks.note(index));
        self.slots.extend(new.map(|index| rowless(index, Entity::new(index, FIRST))));
        self.rowless += fresh;
        self.changes += 1;
    }

    #[inline]
    fn pop_shared(&self) -> Option<Entity> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            // `NONE` is beyond every slot: an empty list ends here.
            let link = self.slots.get(head as usize)?.link;
            self.note_first(head);
            match self.head.compare_exchange_weak(head, link.index(), Ordering::Release, Ordering::Acquire) {
                Ok(_) => return Some(Entity::new(head, link.raw_generation())),
                Err(now) => head = now,
            }
        }
    }

    /// Notes that the head was here before the first slot was popped, unless it is noted already.
    #[inline]
    fn note_first(&self, head: u32) {
        let noted = |reserved| parts(reserved).0.is_some();
        if !noted(self.reserved.load(Ordering::Relaxed)) {
            let note = |reserved| (!noted(reserved)).then(|| reserved | u64::from(head + 1));
            // Another thread may have been quicker, with the same note.
            let _ = self.reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, note);
        }
    }

    /// Plans a new slot. Once the list is empty it stays so while shared, so none of its slots is missed.
    fn advance_shared(&self) -> Result<Entity, Exhausted> {
        let room = self.limit - self.slots();
        // Not a plain addition: it would count past the limit, and wrap, before it could be taken back.
        let one_more = |reserved| (parts(reserved).1 < room).then(|| reserved + ONE_FRESH);
        self.reserved
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .map(|reserved| Entity::new(self.slots() + parts(reserved).1, FIRST))
            .map_err(|_| Exhausted)
    }
}

/// One more id past the end of all slots, in the word that tells what is reserved.
const ONE_FRESH: u64 = 1 << 32;

/// What that word says: the slot that was popped first, and how many ids past the end are reserved.
#[expect(clippy::cast_possible_truncation, reason = "each half is cut out on purpose")]
pub(super) const fn parts(reserved: u64) -> (Option<u32>, u32) {
    ((reserved as u32).checked_sub(1), (reserved >> 32) as u32)
}

fn rowless(index: u32, link: Entity) -> Slot {
    Slot::new(EntityLocation::new(TableId::ROWLESS, Row::new(index)), link.raw_generation())
}
