//! A remembered place: an entity, and the table and row where it was last found.
//!
//! Reading through a [`Seat`] compares the entity of the remembered row and goes straight to the column; the
//! directory is asked only when the entity has moved, and the seat remembers the new place. A dead entity
//! is never confused with the one that has its row now: the comparison is of whole ids.

use std::sync::atomic::Ordering;

use crate::entities::Slot;
use crate::entity::Entity;
use crate::fetch::{Fetch, ReadFetch};
use crate::place::{Place, Row, TableId};
use crate::prepared::find_alias;
use crate::store::Store;
use crate::table::Head;
use crate::tick::Tick;
use crate::view::{Parts, item, place_in};

/// An entity, and where it was last found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    entity: Entity,
    table: TableId,
    row: Row,
}

impl Seat {
    /// The entity.
    #[inline]
    pub fn entity(self) -> Entity {
        self.entity
    }

    /// The table in which the entity was last found.
    #[inline]
    pub fn table(self) -> TableId {
        self.table
    }
}

impl Store {
    /// Remembers where an entity is; `None` when it is dead.
    #[inline]
    pub fn seat(&self, entity: Entity) -> Option<Seat> {
        let Place { table, row } = self.entities.locate(entity)?;
        Some(Seat { entity, table, row })
    }

    /// How often a seat was out of date, and the directory was asked.
    pub fn seat_repairs(&self) -> u64 {
        self.seat_repairs.load(Ordering::Relaxed)
    }

    /// Brings a seat up to date. False when the entity is dead.
    #[inline]
    pub fn find_seat(&self, seat: &mut Seat) -> bool {
        self.is_seated(*seat) || self.repair(seat)
    }

    /// Whether the entity's row is still the remembered one.
    #[inline(always)]
    pub fn is_seated(&self, seat: Seat) -> bool {
        is_seated(&self.heads, seat)
    }

    #[cold]
    #[inline(never)]
    fn repair(&self, seat: &mut Seat) -> bool {
        self.seat_repairs.fetch_add(1, Ordering::Relaxed);
        match self.seat(seat.entity) {
            Some(found) => {
                *seat = found;
                true
            }
            None => false,
        }
    }

    /// Columns to be read at remembered places, or by entity: what is found for all of them is found once.
    #[inline]
    pub fn read_seats<F: ReadFetch>(&self, ids: F::Ids) -> SeatReader<'_, F> {
        let (heads, slots) = (&self.heads, self.entities.as_slots());
        SeatReader { lanes: F::lanes(self, ids, self.tick), heads, slots, store: self }
    }

    /// As [`Store::get`], from the remembered place. `None` also when the entity has moved: then the seat must be
    /// found again ([`Store::find_seat`]).
    ///
    /// A table keeps its shape for good, and so does its id: what shares the shape of the seat's table is all that can
    /// be found here.
    #[inline(always)]
    pub fn get_at<F: ReadFetch>(&self, seat: Seat, ids: F::Ids) -> Option<F::Item<'_>> {
        // SAFETY: nobody writes columns while the store is borrowed shared (I8).
        unsafe { self.get_at_unchecked::<F>(seat, ids) }
    }

    /// As [`Store::get_mut`], from the remembered place; `None` as for [`Store::get_at`].
    #[inline]
    pub fn get_at_mut<F: Fetch>(&mut self, seat: Seat, ids: F::Ids) -> Option<F::Item<'_>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the store is borrowed exclusively, and no two parts of the fetch alias (I6).
        unsafe { self.get_at_unchecked::<F>(seat, ids) }
    }

    /// # Safety
    /// As for `get_unchecked`.
    #[inline(always)]
    unsafe fn get_at_unchecked<F: Fetch>(&self, seat: Seat, ids: F::Ids) -> Option<F::Item<'_>> {
        if !self.is_seated(seat) {
            return None;
        }
        // SAFETY: the row is the entity's, and access is the caller's.
        unsafe { item_at::<F>(F::lanes(self, ids, self.tick), seat, self.tick) }
    }
}

/// # Safety
/// The lanes are of a live store in which the entity has the row of the seat; access as for `get_unchecked`.
#[inline(always)]
unsafe fn item_at<'a, F: Fetch>(lanes: F::Lanes, seat: Seat, now: Tick) -> Option<F::Item<'a>> {
    let parts = Parts::Row { table: seat.table.index(), row: seat.row.index() };
    // SAFETY: the table is one of the store's (I4); where it has the columns, the row is the entity's (I5), and the caller
    // grants access.
    unsafe {
        if !F::present(lanes, seat.table.index()) {
            return None;
        }
        item::<F>(lanes, parts, now, |ptrs| F::spots(ptrs, seat.entity))
    }
}

/// Columns of single entities, to be read: see [`Store::read_seats`].
pub struct SeatReader<'w, F: ReadFetch> {
    lanes: F::Lanes,
    heads: &'w [Head],
    slots: &'w [Slot],
    store: &'w Store,
}

impl<F: ReadFetch> Clone for SeatReader<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: ReadFetch> Copy for SeatReader<'_, F> {}

// SAFETY: a reader stands for shared references to values that are `Send + Sync` (I1).
unsafe impl<F: ReadFetch> Send for SeatReader<'_, F> {}
// SAFETY: as above.
unsafe impl<F: ReadFetch> Sync for SeatReader<'_, F> {}

impl<'w, F: ReadFetch> SeatReader<'w, F> {
    /// As [`Store::get_at`].
    #[inline(always)]
    pub fn get(&self, seat: Seat) -> Option<F::Item<'w>> {
        if !is_seated(self.heads, seat) {
            return None;
        }
        // SAFETY: the row is the entity's; nobody writes columns while the store is borrowed shared (I8).
        unsafe { item_at::<F>(self.lanes, seat, Tick::ZERO) }
    }

    /// As [`Store::get_where`].
    #[inline(always)]
    pub fn get_where(&self, entity: Entity, wanted: impl FnOnce(TableId) -> bool) -> Option<F::Item<'w>> {
        let place = place_in::<F>(self.slots, entity).filter(|place| wanted(place.table))?;
        // SAFETY: the place is the entity's; nobody writes columns while the store is borrowed shared (I8).
        unsafe { self.store.get_from::<F>(place, entity, self.lanes) }
    }
}

/// Whether the entity has the remembered row of the tables with these heads.
#[inline(always)]
fn is_seated(heads: &[Head], seat: Seat) -> bool {
    let Some(head) = heads.get(seat.table.index()).filter(|head| seat.row.get() < head.len) else {
        return false;
    };
    // SAFETY: the row is in range, and each row has its entity (I5).
    unsafe { *head.owners.data.cast::<Entity>().add(seat.row.index()) == seat.entity }
}
