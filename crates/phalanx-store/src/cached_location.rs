//! A cached location: an entity, and the table and row where it was last found.
//!
//! Reading through a [`CachedLocation`] compares the entity of the remembered row and goes straight to the column; the
//! directory is asked only when the entity has moved, and the cached location holds the new one. A dead entity
//! is never confused with the one that has its row now: the comparison is of whole ids.

use std::sync::atomic::Ordering;

use crate::entities::Slot;
use crate::entity::Entity;
use crate::fetch::{Fetch, Known, ReadFetch};
use crate::location::{EntityLocation, Row, TableId};
use crate::prepared::find_alias;
use crate::store::Store;
use crate::table::TableMeta;
use crate::tick::Tick;
use crate::view::{Found, location_in};

/// An entity, and where it was last found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedLocation {
    entity: Entity,
    table: TableId,
    row: Row,
}

impl CachedLocation {
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
    pub fn cached_location(&self, entity: Entity) -> Option<CachedLocation> {
        let EntityLocation { table, row } = self.entities.locate(entity)?;
        Some(CachedLocation { entity, table, row })
    }

    /// How often a cached location was out of date, and the directory was asked.
    pub fn location_repairs(&self) -> u64 {
        self.location_repairs.load(Ordering::Relaxed)
    }

    /// Brings a cached location up to date. False when the entity is dead.
    #[inline]
    pub fn find_location(&self, cached_location: &mut CachedLocation) -> bool {
        self.is_current(*cached_location) || self.repair(cached_location)
    }

    /// Whether the entity's row is still the remembered one.
    #[inline(always)]
    pub fn is_current(&self, cached_location: CachedLocation) -> bool {
        is_current(&self.metas, cached_location)
    }

    #[cold]
    #[inline(never)]
    fn repair(&self, cached_location: &mut CachedLocation) -> bool {
        self.location_repairs.fetch_add(1, Ordering::Relaxed);
        match self.cached_location(cached_location.entity) {
            Some(found) => {
                *cached_location = found;
                true
            }
            None => false,
        }
    }

    /// Columns to be read at remembered places, or by entity: what is found for all of them is found once.
    #[inline]
    pub fn read_locations<F: ReadFetch>(&self, ids: F::Ids) -> LocationReader<'_, F> {
        let (metas, slots) = (&self.metas, self.entities.as_slots());
        LocationReader { cells: F::cells(self, ids, self.tick), metas, slots, store: self }
    }

    /// As [`Store::get`], from the cached location. `None` also when the entity has moved: then the cached location
    /// must be found again ([`Store::find_location`]).
    ///
    /// A table keeps its shape for good, and so does its id: what shares the shape of the cached location's table is
    /// all that can be found here.
    #[inline(always)]
    pub fn get_at<F: ReadFetch>(&self, cached_location: CachedLocation, ids: F::Ids) -> Option<F::Item<'_>> {
        // SAFETY: the fetch only reads, and no column is written while the store is borrowed shared (I8).
        unsafe { self.get_at_unchecked::<F>(cached_location, ids) }
    }

    /// As [`Store::get_mut`], from the cached location; `None` as for [`Store::get_at`].
    #[inline]
    pub fn get_at_mut<F: Fetch>(
        &mut self,
        cached_location: CachedLocation,
        ids: F::Ids,
    ) -> Option<F::Item<'_>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the store is borrowed exclusively for as long as the item is, and no two parts of the fetch alias (I6).
        unsafe { self.get_at_unchecked::<F>(cached_location, ids) }
    }

    /// # Safety
    /// As for `get_unchecked`.
    #[inline(always)]
    unsafe fn get_at_unchecked<F: Fetch>(
        &self,
        cached_location: CachedLocation,
        ids: F::Ids,
    ) -> Option<F::Item<'_>> {
        if !self.is_current(cached_location) {
            return None;
        }
        // SAFETY: the row is the entity's, in its table (I5) or in that of a set (I10), as was checked above; access is the
        // caller's.
        unsafe { item_at::<F>(F::cells(self, ids, self.tick), cached_location, self.tick) }
    }
}

/// # Safety
/// The cells are of a live store in which the entity has the row of the cached location, in its table or in that of a set;
/// access for `'a` is granted as for `get_unchecked`.
#[inline(always)]
unsafe fn item_at<'a, F: Fetch>(
    cells: F::Cells,
    cached_location: CachedLocation,
    now: Tick,
) -> Option<F::Item<'a>> {
    let CachedLocation { entity, table, row } = cached_location;
    // SAFETY: forwarded: a table with a row is one of the store's (I4); where it has the columns, the row has values (I2; in
    // the table of a set it is no hole, since it has an entity, I11), and the caller grants access.
    unsafe {
        let ptrs = F::find(cells, table.index())?;
        Some(Found::<F>::in_row(ptrs, EntityLocation { table, row }, entity, Known::Alive)?.item(cells, now))
    }
}

/// Columns of single entities, to be read: see [`Store::read_locations`].
pub struct LocationReader<'w, F: ReadFetch> {
    cells: F::Cells,
    metas: &'w [TableMeta],
    slots: &'w [Slot],
    store: &'w Store,
}

impl<F: ReadFetch> Clone for LocationReader<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: ReadFetch> Copy for LocationReader<'_, F> {}

// SAFETY: a reader stands for shared references to values that are `Send` and `Sync` (I1), and to a store, which is `Sync`;
// what `F` keeps may be used on any thread (I14).
unsafe impl<F: ReadFetch> Send for LocationReader<'_, F> {}
// SAFETY: a shared reader gives what a copy gives, which may be sent.
unsafe impl<F: ReadFetch> Sync for LocationReader<'_, F> {}

impl<'w, F: ReadFetch> LocationReader<'w, F> {
    /// As [`Store::get_at`].
    #[inline(always)]
    pub fn get(&self, cached_location: CachedLocation) -> Option<F::Item<'w>> {
        if !is_current(self.metas, cached_location) {
            return None;
        }
        // SAFETY: the row is the entity's (I5, I10), as was checked above; the fetch only reads, and no column is
        // written while the store is borrowed shared (I8).
        unsafe { item_at::<F>(self.cells, cached_location, Tick::ZERO) }
    }

    /// As [`Store::get_where`].
    #[inline(always)]
    pub fn get_where(&self, entity: Entity, wanted: impl FnOnce(TableId) -> bool) -> Option<F::Item<'w>> {
        let location = location_in::<F>(self.slots, entity).filter(|location| wanted(location.table))?;
        // SAFETY: the directory gave the location, which is the entity's (I5); the fetch only reads, and no column is written
        // while the store is borrowed shared (I8).
        unsafe { self.store.get_from::<F>(location, entity, self.cells, self.store.tick) }
    }
}

/// Whether the entity has the remembered row of the tables with these metas.
#[inline(always)]
fn is_current(metas: &[TableMeta], cached_location: CachedLocation) -> bool {
    let CachedLocation { entity, table, row } = cached_location;
    metas.get(table.index()).is_some_and(|meta| meta.is_owned_by(row.index(), entity))
}
