//! A remembered place: an entity, and the table and row where it was last found.
//!
//! Reading through a [`Seat`] compares the entity of the remembered row and goes straight to the column; the
//! directory is asked only when the entity has moved, and the seat remembers the new place. A dead entity
//! is never confused with the one that has its row now: the comparison is of whole ids.

use std::sync::atomic::Ordering;

use crate::entity::Entity;
use crate::fetch::{Fetch, ReadFetch};
use crate::place::{Place, Row, TableId};
use crate::prepared::find_alias;
use crate::store::Store;

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
    fn is_seated(&self, seat: Seat) -> bool {
        let Some(head) = self.heads.get(seat.table.index()).filter(|head| seat.row.get() < head.len) else {
            return false;
        };
        // SAFETY: the row is in range, and each row has its entity (I5).
        unsafe { *head.owners.data.cast::<Entity>().add(seat.row.index()) == seat.entity }
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

    /// As [`Store::get`], from the remembered place.
    #[inline]
    pub fn get_at<F: ReadFetch>(&self, seat: &mut Seat, ids: F::Ids) -> Option<F::Item<'_>> {
        // SAFETY: nobody writes columns while the store is borrowed shared (I8).
        unsafe { self.get_at_unchecked::<F>(seat, ids) }
    }

    /// As [`Store::get_mut`], from the remembered place.
    #[inline]
    pub fn get_at_mut<F: Fetch>(&mut self, seat: &mut Seat, ids: F::Ids) -> Option<F::Item<'_>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the store is borrowed exclusively, and no two parts of the fetch alias (I6).
        unsafe { self.get_at_unchecked::<F>(seat, ids) }
    }

    /// # Safety
    /// As for `get_unchecked`.
    #[inline(always)]
    unsafe fn get_at_unchecked<F: Fetch>(&self, seat: &mut Seat, ids: F::Ids) -> Option<F::Item<'_>> {
        let (lanes, table) = (F::lanes(self, ids, self.tick), seat.table.index());
        // A table that was dropped may have made way for another one, and a seat of another store may name any, even
        // that of a sparse set, where the entity has a row of its own: only a table with the columns will do.
        // SAFETY: a seat is only looked up where its table is one of the store's (I4).
        if self.is_seated(*seat) && unsafe { F::present(lanes, table) } {
            // SAFETY: the table has the columns (I4), and the row is the entity's (I5); the caller grants access.
            unsafe {
                let ptrs = F::ptrs(lanes, table);
                let spots = F::spots(ptrs, seat.entity)?;
                F::mark(lanes, table, seat.row.index(), 1, self.tick);
                return Some(F::item(ptrs, seat.row.index(), spots));
            }
        }
        if !self.is_home(*seat) && !self.repair(seat) {
            return None;
        }
        // SAFETY: forwarded.
        unsafe { self.get_unchecked::<F>(seat.entity, ids) }
    }

    /// Whether the remembered row is the entity's, in a table that is not a set's.
    #[cold]
    fn is_home(&self, seat: Seat) -> bool {
        self.is_seated(seat) && !self.tables[seat.table.index()].is_set
    }
}
