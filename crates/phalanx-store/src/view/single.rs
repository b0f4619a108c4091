//! Single entities, through a view or straight from the store.
//!
//! One entity's row is found through the directory, in a table that the view visits; a query that visits all tables
//! with its columns need not ask whether it visits this one, since a lane tells which tables have them.

use super::{View, rowless_ptrs};
use crate::entities::{Entities, Slot};
use crate::entity::Entity;
use crate::fetch::{Fetch, ReadFetch};
use crate::place::{Place, Row, TableId};
use crate::prepared::find_alias;
use crate::store::Store;

impl Store {
    /// Reads columns of one entity. `None` when it is dead or lacks one that is not optional.
    #[inline]
    pub fn get<F: ReadFetch>(&self, entity: Entity, ids: F::Ids) -> Option<F::Item<'_>> {
        // SAFETY: as for `view`.
        unsafe { self.get_unchecked::<F>(entity, ids) }
    }

    /// Reads and writes columns of one entity. `None` when it is dead, lacks a column that is not optional, or
    /// the columns alias each other.
    #[inline]
    pub fn get_mut<F: Fetch>(&mut self, entity: Entity, ids: F::Ids) -> Option<F::Item<'_>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the store is borrowed exclusively, and no two parts of the fetch alias (I6).
        unsafe { self.get_unchecked::<F>(entity, ids) }
    }

    /// As [`Store::get`], for an entity whose table is one of those wanted; that is asked before anything is read.
    #[inline(always)]
    pub fn get_where<F: ReadFetch>(
        &self,
        entity: Entity,
        ids: F::Ids,
        wanted: impl FnOnce(TableId) -> bool,
    ) -> Option<F::Item<'_>> {
        let place = self.place_of::<F>(entity).filter(|place| wanted(place.table))?;
        // SAFETY: as for `view`; the place is the entity's.
        unsafe { self.get_from::<F>(place, entity, F::lanes(self, ids, self.tick)) }
    }

    /// # Safety
    /// As for `view_unchecked`; a fetch that writes names no column twice.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked<F: Fetch>(&self, entity: Entity, ids: F::Ids) -> Option<F::Item<'_>> {
        let lanes = F::lanes(self, ids, self.tick);
        // Whoever is in a set is alive (I10).
        let place = if F::TABLELESS && F::IN_SETS {
            Place::new(TableId::ROWLESS, Row::new(0))
        } else {
            self.place_of::<F>(entity)?
        };
        // SAFETY: the place is the entity's; access is granted by the caller.
        unsafe { self.get_from::<F>(place, entity, lanes) }
    }

    /// Where an entity is; for a fetch that needs a column, the dead may be where none is.
    #[inline(always)]
    pub(crate) fn place_of<F: Fetch>(&self, entity: Entity) -> Option<Place> {
        place_in::<F>(self.entities.as_slots(), entity)
    }

    /// # Safety
    /// The lanes are this store's. The place is that of the entity, unless the fetch is of sets alone, and access is granted
    /// as for `get_unchecked`.
    #[inline(always)]
    pub(crate) unsafe fn get_from<F: Fetch>(
        &self,
        place: Place,
        entity: Entity,
        lanes: F::Lanes,
    ) -> Option<F::Item<'_>> {
        if F::TABLELESS && F::IN_SETS {
            // SAFETY: whoever is in a set is alive (I10); no table is reached, and access is the caller's.
            unsafe {
                let ptrs = rowless_ptrs::<F>(lanes, &entity);
                return Some(F::single(ptrs, 0, F::spots(ptrs, entity)?));
            }
        }
        let table = place.table.index();
        // SAFETY: the directory names a table of this store (I4, I5).
        if !unsafe { F::present(lanes, table) } {
            return None;
        }
        // SAFETY: the table has the columns; the row is in range, for the rowless there is none and `F` reaches
        // no column (I4, I5); access is granted by the caller.
        unsafe {
            if !F::ROWED && place.table == TableId::ROWLESS {
                let ptrs = rowless_ptrs::<F>(lanes, self.entities.rowless_id(entity)?);
                return Some(F::single(ptrs, 0, F::spots(ptrs, entity)?));
            }
            let ptrs = F::ptrs(lanes, table);
            let spots = F::spots(ptrs, entity)?;
            F::mark(lanes, table, place.row.index(), 1, self.tick);
            Some(F::single(ptrs, place.row.index(), spots))
        }
    }
}

/// As [`Store::place_of`], in the slots of its directory.
#[inline(always)]
pub(crate) fn place_in<F: Fetch>(slots: &[Slot], entity: Entity) -> Option<Place> {
    Entities::find_in(slots, entity).filter(|place| F::ROWED || place.table != TableId::DEAD)
}

impl<'w, F: Fetch> View<'w, F> {
    /// Whether the view visits this entity.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        match self.find(entity) {
            None => false,
            // SAFETY: a table that is visited exists in the store the lanes are of (I6).
            Some((table, _)) => unsafe { F::DENSE || F::spots(F::ptrs(self.lanes, table), entity).is_some() },
        }
    }

    #[inline(always)]
    fn find(&self, entity: Entity) -> Option<(usize, usize)> {
        let place = Entities::find_in(self.slots, entity)?;
        if self.member.get(place.table.index()) == Some(&true) {
            return Some((place.table.index(), place.row.index()));
        }
        (!F::ROWED && self.rowless && place.table == TableId::ROWLESS)
            .then_some((place.table.index(), place.row.index()))
    }

    /// One entity's row, from any table with the columns, whether the query visits it or not. `None` without a row.
    ///
    /// Cheaper than [`View::into_get`], and the same for a query that visits all tables with its columns.
    #[inline]
    pub fn into_get_anywhere(self, entity: Entity) -> Option<F::Item<'w>> {
        if F::TABLELESS && F::IN_SETS {
            // SAFETY: as below; whoever is in a set is alive (I10).
            unsafe {
                let ptrs = rowless_ptrs::<F>(self.lanes, &entity);
                return Some(F::single(ptrs, 0, F::spots(ptrs, entity)?));
            }
        }
        let place = Entities::find_in(self.slots, entity).filter(|_| F::ROWED)?;
        // SAFETY: the directory names a table of this store (I4, I5), in which the fetch is present; that is no place of the
        // rowless, who have no columns. The view is gone, so this is its only item (I6).
        unsafe {
            if !F::present(self.lanes, place.table.index()) {
                return None;
            }
            self.item_at(place.table.index(), place.row.index(), entity)
        }
    }

    /// # Safety
    /// The table has the columns, and the row is the entity's; no other item of it is alive, unless the fetch only reads.
    #[inline(always)]
    unsafe fn item_at<'a>(&self, table: usize, row: usize, entity: Entity) -> Option<F::Item<'a>> {
        // SAFETY: forwarded (I4, I5).
        unsafe {
            let ptrs = F::ptrs(self.lanes, table);
            let spots = F::spots(ptrs, entity)?;
            F::mark(self.lanes, table, row, 1, self.now);
            Some(F::single(ptrs, row, spots))
        }
    }

    /// The item of an entity that has a row in a set's table, if its own table is visited.
    ///
    /// # Safety
    /// As for `item_of` and `spots_led`.
    #[inline(always)]
    pub(super) unsafe fn item_led<'a>(&self, entity: Entity, table: usize, row: usize) -> Option<F::Item<'a>>
    where
        'w: 'a,
    {
        let (at, place) = self.find(entity)?;
        // SAFETY: as for `item_of`.
        unsafe {
            if at == TableId::ROWLESS.index() {
                return self.item_of(entity);
            }
            let ptrs = F::ptrs(self.lanes, at);
            let spots = F::spots_led(ptrs, entity, table, row)?;
            F::mark(self.lanes, at, place, 1, self.now);
            Some(F::single(ptrs, place, spots))
        }
    }

    /// The item of a living entity for a fetch that reaches no table.
    ///
    /// # Safety
    /// As for `item_of`; the fetch is `TABLELESS`, and the entity has the row in the table, which is a set's.
    #[inline(always)]
    pub(super) unsafe fn item_of_sets<'a>(
        &self,
        entity: &Entity,
        table: usize,
        row: usize,
    ) -> Option<F::Item<'a>> {
        // SAFETY: forwarded; the fetch reaches no column where the rowless are.
        unsafe {
            let ptrs = rowless_ptrs::<F>(self.lanes, entity);
            let spots = F::spots_led(ptrs, *entity, table, row)?;
            Some(F::single(ptrs, 0, spots))
        }
    }

    /// # Safety
    /// No other item of the same entity is alive, unless the fetch only reads.
    #[inline(always)]
    pub(super) unsafe fn item_of<'a>(&self, entity: Entity) -> Option<F::Item<'a>>
    where
        'w: 'a,
    {
        let (table, row) = self.find(entity)?;
        // SAFETY: a member table has the columns (I6), and the directory's row is in range (I5); the rowless reach no column.
        unsafe {
            if !F::ROWED && table == TableId::ROWLESS.index() {
                let ptrs = rowless_ptrs::<F>(self.lanes, self.entities.rowless_id(entity)?);
                return Some(F::single(ptrs, 0, F::spots(ptrs, entity)?));
            }
            self.item_at(table, row, entity)
        }
    }

    /// One entity's row.
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Option<F::Item<'_>> {
        // SAFETY: the item borrows the view exclusively (I6).
        unsafe { self.item_of(entity) }
    }

    /// One entity's row, for as long as the view would have lived.
    #[inline]
    pub fn into_get(self, entity: Entity) -> Option<F::Item<'w>> {
        // SAFETY: the view is gone, so this is its only item (I6).
        unsafe { self.item_of(entity) }
    }

    /// Rows of several entities at once. `None` when one is not visited, or two are the same.
    pub fn get_many_mut<const N: usize>(&mut self, entities: [Entity; N]) -> Option<[F::Item<'_>; N]> {
        for (at, entity) in entities.iter().enumerate() {
            if !self.contains(*entity) || entities[..at].contains(entity) {
                return None;
            }
        }
        // SAFETY: distinct entities have distinct rows (I5), and the items borrow the view exclusively.
        Some(entities.map(|entity| unsafe { self.item_of(entity) }.expect("each entity was found before")))
    }
}

impl<'w, F: ReadFetch> View<'w, F> {
    /// One entity's row.
    #[inline]
    pub fn get(&self, entity: Entity) -> Option<F::Item<'w>> {
        // SAFETY: the fetch only reads (I6).
        unsafe { self.item_of(entity) }
    }
}
