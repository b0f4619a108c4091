//! Single entities, through a view or straight from the store.
//!
//! One entity's row is found through the directory, in a table that the view visits; a query that visits all tables
//! with its columns need not ask whether it visits this one, since a lane tells which tables have them. Whatever the way
//! to a row, [`item`] makes the item: pointers, sparse parts, mark, item, in this order.

use super::{View, rowless_ptrs};
use crate::entities::{Entities, Slot};
use crate::entity::Entity;
use crate::fetch::{Fetch, ReadFetch};
use crate::place::{Place, Row, TableId};
use crate::prepared::find_alias;
use crate::store::Store;
use crate::tick::Tick;

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
        let place = place_in::<F>(self.entities.as_slots(), entity).filter(|place| wanted(place.table))?;
        // SAFETY: as for `view`; the place is the entity's.
        unsafe { self.get_from::<F>(place, entity, F::lanes(self, ids, self.tick)) }
    }

    /// # Safety
    /// As for `view_unchecked`; a fetch that writes names no column twice.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked<F: Fetch>(&self, entity: Entity, ids: F::Ids) -> Option<F::Item<'_>> {
        let lanes = F::lanes(self, ids, self.tick);
        let place = match F::TABLELESS && F::IN_SETS {
            // Whoever is in a set is alive (I10).
            true => Place::new(TableId::ROWLESS, Row::new(0)),
            false => place_in::<F>(self.entities.as_slots(), entity)?,
        };
        // SAFETY: the place is the entity's; access is granted by the caller.
        unsafe { self.get_from::<F>(place, entity, lanes) }
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
        // SAFETY: the directory names a table of this store (I4, I5), and the row in it; access is granted by the caller.
        unsafe {
            let parts = find::<F>(lanes, place, &entity, &self.entities)?;
            item::<F>(lanes, parts, self.tick, |ptrs| F::spots(ptrs, entity))
        }
    }
}

/// Where the parts of one entity are.
#[derive(Clone, Copy)]
pub(crate) enum Parts<'e> {
    /// In a row of a table, and in sets.
    Row { table: usize, row: usize },
    /// In sets, or nowhere: the fetch reaches no table.
    Rowless(&'e Entity),
}

/// As [`Entities::locate`]; for a fetch that needs a column, the dead may be where none is.
#[inline(always)]
pub(crate) fn place_in<F: Fetch>(slots: &[Slot], entity: Entity) -> Option<Place> {
    Entities::find_in(slots, entity).filter(|place| F::ROWED || place.table != TableId::DEAD)
}

/// The parts of an entity that is at a place, if the table there has the columns.
///
/// # Safety
/// The lanes are of a live store, whose directory this is and in which the place is the entity's, unless the fetch is of
/// sets alone.
#[inline(always)]
unsafe fn find<'e, F: Fetch>(
    lanes: F::Lanes,
    place: Place,
    entity: &'e Entity,
    directory: &'e Entities,
) -> Option<Parts<'e>> {
    if F::TABLELESS && F::IN_SETS {
        // Whoever is in a set is alive (I10), and nobody asks for the entity as it stands in the directory.
        return Some(Parts::Rowless(entity));
    }
    let table = place.table.index();
    // SAFETY: the directory names a table of this store (I4, I5).
    if !unsafe { F::present(lanes, table) } {
        return None;
    }
    if !F::ROWED && place.table == TableId::ROWLESS {
        return directory.rowless_id(*entity).map(Parts::Rowless);
    }
    Some(Parts::Row { table, row: place.row.index() })
}

/// The item of one entity: every way to a single entity ends here.
///
/// # Safety
/// The lanes are of a live store, and the parts those of an entity there: the table has the columns, and the row is in
/// range; the rowless are asked of a fetch that is present without a row. `spots` finds the sparse parts of the same entity.
/// For `'a`, access is granted to the entity, and no other item of it is alive, unless the fetch only reads.
#[inline(always)]
pub(crate) unsafe fn item<'a, F: Fetch>(
    lanes: F::Lanes,
    parts: Parts<'_>,
    now: Tick,
    spots: impl FnOnce(F::Ptrs) -> Option<F::Spots>,
) -> Option<F::Item<'a>> {
    // SAFETY: forwarded: the table has the columns (I4), and the row is initialised (I2); without a row no column is reached.
    unsafe {
        match parts {
            Parts::Row { table, row } => {
                let ptrs = F::ptrs(lanes, table);
                let spots = spots(ptrs)?;
                F::mark_row(lanes, table, row, now);
                Some(F::single(ptrs, row, spots))
            }
            Parts::Rowless(entity) => {
                let ptrs = rowless_ptrs::<F>(lanes, entity);
                Some(F::single(ptrs, 0, spots(ptrs)?))
            }
        }
    }
}

impl<'w, F: Fetch> View<'w, F> {
    /// Whether the view visits this entity.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        match self.find(entity) {
            None => false,
            Some(_) if F::DENSE => true,
            // SAFETY: a table that is visited exists in the store the lanes are of (I6), as does the place of the rowless.
            Some(parts) => unsafe {
                let table =
                    if let Parts::Row { table, .. } = parts { table } else { TableId::ROWLESS.index() };
                F::spots(F::ptrs(self.lanes, table), entity).is_some()
            },
        }
    }

    /// The parts of an entity that the view visits.
    #[inline(always)]
    fn find(&self, entity: Entity) -> Option<Parts<'w>> {
        let place = Entities::find_in(self.slots, entity)?;
        if self.member.get(place.table.index()) == Some(&true) {
            return Some(Parts::Row { table: place.table.index(), row: place.row.index() });
        }
        let rowless = !F::ROWED && self.rowless && place.table == TableId::ROWLESS;
        if rowless { self.entities.rowless_id(entity).map(Parts::Rowless) } else { None }
    }

    /// One entity's row, from any table with the columns, whether the query visits it or not. `None` without a row.
    ///
    /// Cheaper than [`View::into_get`], and the same for a query that visits all tables with its columns.
    #[inline]
    pub fn into_get_anywhere(self, entity: Entity) -> Option<F::Item<'w>> {
        let place = match F::TABLELESS && F::IN_SETS {
            // Whoever is in a set is alive (I10).
            true => Place::new(TableId::ROWLESS, Row::new(0)),
            false => Entities::find_in(self.slots, entity).filter(|_| F::ROWED)?,
        };
        // SAFETY: the directory names a table of this store (I4, I5), and the row in it. The view is gone, so this is its only
        // item (I6).
        unsafe {
            let parts = find::<F>(self.lanes, place, &entity, self.entities)?;
            item::<F>(self.lanes, parts, self.now, |ptrs| F::spots(ptrs, entity))
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
        let parts = self.find(entity)?;
        // SAFETY: as for `item_of`.
        unsafe { item::<F>(self.lanes, parts, self.now, |ptrs| F::spots_led(ptrs, entity, table, row)) }
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
        let spots = |ptrs| {
            // SAFETY: forwarded.
            unsafe { F::spots_led(ptrs, *entity, table, row) }
        };
        // SAFETY: forwarded; the fetch reaches no column where the rowless are.
        unsafe { item::<F>(self.lanes, Parts::Rowless(entity), self.now, spots) }
    }

    /// # Safety
    /// No other item of the same entity is alive, unless the fetch only reads.
    #[inline(always)]
    pub(super) unsafe fn item_of<'a>(&self, entity: Entity) -> Option<F::Item<'a>>
    where
        'w: 'a,
    {
        let parts = self.find(entity)?;
        // SAFETY: a member table has the columns (I6), and the directory's row is in range (I5); the rowless reach no column.
        unsafe { item::<F>(self.lanes, parts, self.now, |ptrs| F::spots(ptrs, entity)) }
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
