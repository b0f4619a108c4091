//! Handing out ids while many threads share the directory, without a lock.
//!
//! While it is shared nobody writes a slot and nobody pushes on the free list. Only two words change, each
//! in one direction: `head` moves along the list as slots are popped, `fresh` counts ids past the end.
//!
//! ```text
//!   flushed_head ──▶ 4 ──▶ 1 ──▶ 7 ──▶ 2 ──▶ NONE      slots: 0 1 2 3 4 5 6 7 │ 8 9
//!                    reserved    ▲ head                            slots() ───┘ └┴─ fresh = 2, reserved
//! ```
//!
//! A pop swaps the head for its successor, which is read from a slot that cannot change. The list has no cycle
//! and nothing returns to it, so the head never takes an old value again (no ABA). `Relaxed` suffices: each
//! word says all in its own value, each change is one read-modify-write of that word, and a reserved id
//! opens no memory. Slots are written, and flushed, under `&mut self`; whatever turns that into shared
//! references and back (a scope, a join, a lock) already orders the one before the other.

use super::{Entities, Exhausted, FIRST, NONE, Slot};
use crate::entity::Entity;
use crate::place::{Place, Row, TableId};
use crate::sync::{Ordering, with_mut};

impl Entities {
    /// Reserves an id; it comes alive, without a row, at the next [`flush`](Entities::flush).
    ///
    /// May be called from many threads at once; each gets ids of its own. A slot is reused before a new
    /// one is planned, the one freed last first. An id that nobody comes back for costs nothing more than
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
        self.head.load(Ordering::Relaxed) != self.flushed_head || self.fresh.load(Ordering::Relaxed) != 0
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

    /// As [`needs_flush`](Entities::needs_flush), the other way round, while nobody shares the directory.
    #[inline(always)]
    pub(crate) fn is_settled(&mut self) -> bool {
        let flushed_head = self.flushed_head;
        let moved = with_mut(&mut self.head, |head| *head != flushed_head);
        let grown = with_mut(&mut self.fresh, |fresh| *fresh != 0);
        !(moved | grown)
    }

    #[cold]
    #[inline(never)]
    fn flush_reserved(&mut self) {
        let head = with_mut(&mut self.head, |head| *head);
        while self.flushed_head != head {
            let index = self.flushed_head;
            let slot = &mut self.slots[index as usize];
            let link = slot.link;
            *slot = rowless(index, link);
            self.flushed_head = link.index();
            self.free -= 1;
            self.rowless += 1;
        }
        let fresh = with_mut(&mut self.fresh, |fresh| *fresh);
        let end = self.slots() + fresh;
        let new = (self.slots()..end).map(|index| rowless(index, Entity::new(index, FIRST)));
        self.slots.extend(new);
        self.rowless += fresh;
        with_mut(&mut self.fresh, |fresh| *fresh = 0);
    }

    #[inline]
    fn pop_shared(&self) -> Option<Entity> {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // `NONE` is beyond every slot: an empty list ends here.
            let link = self.slots.get(head as usize)?.link;
            match self.head.compare_exchange_weak(head, link.index(), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(Entity::new(head, link.raw_generation())),
                Err(now) => head = now,
            }
        }
    }

    /// Plans a new slot. Once the list is empty it stays so while shared, so none of its slots is missed.
    fn advance_shared(&self) -> Result<Entity, Exhausted> {
        let room = self.limit - self.slots();
        // Not a plain addition: it would count past the limit, and wrap, before it could be taken back.
        self.fresh
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |fresh| (fresh < room).then(|| fresh + 1))
            .map(|fresh| Entity::new(self.slots() + fresh, FIRST))
            .map_err(|_| Exhausted)
    }
}

fn rowless(index: u32, link: Entity) -> Slot {
    Slot::new(Place::new(TableId::ROWLESS, Row::new(index)), link.raw_generation())
}
