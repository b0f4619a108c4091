//! Single entities, through a view or straight from the store.
//!
//! One entity's row is found through the directory, in a table that the view visits; a query that visits all tables
//! with its columns need not ask whether it visits this one, since its cells tell which tables have them. Whatever the
//! way to a row, it is [`Found`] first, and its item made by [`Found::item`] then.

use super::{View, rowless_ptrs};
use crate::entities::{Entities, Slot};
use crate::entity::Entity;
use crate::fetch::{Fetch, Known, Marked, ReadFetch};
use crate::location::{EntityLocation, Row, TableId};
use crate::prepared::find_alias;
use crate::store::Store;
use crate::tick::Tick;

/// Where the parts of one entity are: the row of a table with the columns, and rows of sets. The rowless have the
/// first row of themselves.
#[doc(hidden)]
pub struct Found<F: Fetch> {
    pub(super) ptrs: F::Ptrs,
    table: TableId,
    row: usize,
    sparse_rows: F::SparseRows,
}

impl<F: Fetch> Clone for Found<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: Fetch> Copy for Found<F> {}

impl<F: Fetch> Found<F> {
    /// The parts of an entity with a row.
    ///
    /// # Safety
    /// The pointers are those of the table, in a live store where the row is the entity's; it has the row that is known. The
    /// caller has the access that `F` needs.
    #[inline(always)]
    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    pub(crate) unsafe fn in_row(
        ptrs: F::Ptrs,
        location: EntityLocation,
        entity: Entity,
        known: Known,
    ) -> Option<Self> {
        // SAFETY: forwarded: the pointers are the entity's, in a live store; access is the caller's.
        let Some(sparse_rows) = (unsafe { F::sparse_rows(ptrs, entity, known) }) else { return None };
        Some(Self { ptrs, table: location.table, row: location.row.index(), sparse_rows })
    }

    /// The parts of an entity without a row.
    ///
    /// # Safety
    /// The cells are of a live store, and the fetch is found where the rowless are. The entity, which has the row that
    /// is known, is alive, unless the fetch is of sets alone; its id stays where it is while the parts are used. The caller
    /// has the access that `F` needs.
    #[inline(always)]
    pub(crate) unsafe fn rowless(cells: F::Cells, entity: &Entity, known: Known) -> Option<Self> {
        // SAFETY: forwarded: the pointers are the entity's, in a live store; access is the caller's.
        unsafe {
            let ptrs = rowless_ptrs::<F>(cells, entity);
            let sparse_rows = F::sparse_rows(ptrs, *entity, known)?;
            Some(Self { ptrs, table: TableId::ROWLESS, row: 0, sparse_rows })
        }
    }

    /// The item of the entity: every way to a single entity ends here.
    ///
    /// # Safety
    /// It was found with these cells, of a store that stands still since. For `'a`, access is granted to the entity, and
    /// no other item of it is alive, unless the fetch only reads.
    #[inline(always)]
    pub(crate) unsafe fn item<'a>(&self, cells: F::Cells, now: Tick) -> F::Item<'a> {
        // SAFETY: forwarded: the table has the columns (I4), and the row is initialised (I2); where there is no row, no column
        // of a table is reached or marked (I14).
        unsafe {
            if F::MARKS && (F::ROWED || self.table != TableId::ROWLESS) {
                F::mark(cells, self.table.index(), Marked::Row(self.row), now);
            }
            F::item(self.ptrs, self.row, self.sparse_rows)
        }
    }
}

impl<F: ReadFetch> Found<F> {
    /// The item of the entity, of a fetch that marks nothing.
    ///
    /// # Safety
    /// As for `item`.
    #[inline(always)]
    pub(crate) unsafe fn read<'a>(&self) -> F::Item<'a> {
        // SAFETY: forwarded: a fetch that only reads marks nothing (I14).
        unsafe { F::item(self.ptrs, self.row, self.sparse_rows) }
    }
}

impl Store {
    /// Reads columns of one entity. `None` when it is dead or lacks one that is not optional.
    #[inline]
    pub fn get<F: ReadFetch>(&self, entity: Entity, ids: F::Ids) -> Option<F::Item<'_>> {
        // SAFETY: the fetch only reads, and no column is written while the store is borrowed shared (I8).
        unsafe { self.get_unchecked::<F>(entity, ids, self.tick) }
    }

    /// Reads and writes columns of one entity. `None` when it is dead, lacks a column that is not optional, or
    /// the columns alias each other.
    #[inline]
    pub fn get_mut<F: Fetch>(&mut self, entity: Entity, ids: F::Ids) -> Option<F::Item<'_>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the store is borrowed exclusively, and no two parts of the fetch alias (I6).
        unsafe { self.get_unchecked::<F>(entity, ids, self.tick) }
    }

    /// As [`Store::get`], for an entity whose table is one of those wanted; that is checked before anything is read.
    #[inline(always)]
    pub fn get_where<F: ReadFetch>(
        &self,
        entity: Entity,
        ids: F::Ids,
        wanted: impl FnOnce(TableId) -> bool,
    ) -> Option<F::Item<'_>> {
        let location =
            location_in::<F>(self.entities.as_slots(), entity).filter(|location| wanted(location.table))?;
        // SAFETY: the fetch only reads, and no column is written while the store is borrowed shared (I8); the directory gave
        // the location, which is the entity's (I5).
        unsafe { self.get_from::<F>(location, entity, F::cells(self, ids, self.tick), self.tick) }
    }

    /// Columns of one entity; what is written carries the tick `now`.
    ///
    /// # Safety
    /// As for `view_unchecked`, for the columns of `ids`; a fetch that writes names no column twice.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked<F: Fetch>(
        &self,
        entity: Entity,
        ids: F::Ids,
        now: Tick,
    ) -> Option<F::Item<'_>> {
        let cells = F::cells(self, ids, now);
        let location = if F::TABLELESS && F::IN_SETS {
            // What is in a set is alive (I10).
            EntityLocation::new(TableId::ROWLESS, Row::new(0))
        } else {
            location_in::<F>(self.entities.as_slots(), entity)?
        };
        // SAFETY: the directory gave the location, which is the entity's (I5), unless only sets are asked; access is granted
        // by the caller.
        unsafe { self.get_from::<F>(location, entity, cells, now) }
    }

    /// # Safety
    /// The cells are this store's. The place is that of the entity, unless the fetch is of sets alone, and access is
    /// granted as for `get_unchecked`.
    #[inline(always)]
    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    pub(crate) unsafe fn get_from<F: Fetch>(
        &self,
        location: EntityLocation,
        entity: Entity,
        cells: F::Cells,
        now: Tick,
    ) -> Option<F::Item<'_>> {
        // SAFETY: forwarded.
        unsafe {
            let Some(found) = find_anywhere::<F>(cells, location, &entity, &self.entities) else {
                return None;
            };
            Some(found.item(cells, now))
        }
    }
}

/// As [`Entities::locate`]; for a fetch that needs a column, the dead may be where none is.
#[inline(always)]
pub(crate) fn location_in<F: Fetch>(slots: &[Slot], entity: Entity) -> Option<EntityLocation> {
    let location = Entities::find_in(slots, entity)?;
    if F::ROWED || location.table != TableId::DEAD { Some(location) } else { None }
}

/// The parts of an entity that is at a place, if the table there has the columns.
///
/// # Safety
/// The cells are of a live store, whose directory this is and in which the location is the entity's, unless the fetch
/// is of sets alone. The id stays where it is while the parts are used, and the caller has the access that `F` needs.
#[inline(always)]
#[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
unsafe fn find_anywhere<F: Fetch>(
    cells: F::Cells,
    location: EntityLocation,
    entity: &Entity,
    directory: &Entities,
) -> Option<Found<F>> {
    // SAFETY: forwarded: the directory names a table of this store (I4), and the row in it (I5). A fetch of sets alone reaches
    // no column of a table (I14), and what is in a set is alive (I10). The rowless are found where the fetch is.
    unsafe {
        if F::TABLELESS && F::IN_SETS {
            return Found::rowless(cells, entity, Known::Nothing);
        }
        let Some(ptrs) = F::find(cells, location.table.index()) else { return None };
        if !F::ROWED && location.table == TableId::ROWLESS {
            return Found::rowless(cells, directory.rowless_id(*entity)?, Known::Nothing);
        }
        Found::in_row(ptrs, location, *entity, Known::Alive)
    }
}

impl<'w, F: Fetch> View<'w, F> {
    /// Whether the view visits this entity.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.find(entity).is_some()
    }

    /// The parts of an entity that the view visits.
    #[inline(always)]
    pub(super) fn find(&self, entity: Entity) -> Option<Found<F>> {
        // SAFETY: locally: nothing is known but that it lives, which is checked first; the view has the access to links.
        unsafe { self.find_known(entity, Known::Alive) }
    }

    /// As `find`.
    ///
    /// # Safety
    /// What is known of the entity is true, if it lives, which is checked first.
    #[inline(always)]
    pub(super) unsafe fn find_known(&self, entity: Entity, known: Known) -> Option<Found<F>> {
        let location = Entities::find_in(self.base.slots, entity)?;
        // SAFETY: forwarded; a table that is visited exists in the store that the cells are of, and has the columns (I6); so
        // does the place of the rowless, where they are visited. The directory names the entity's row (I5), and keeps its
        // ids where they are while the store is borrowed.
        unsafe {
            if self.base.member.get(location.table.index()) == Some(&true) {
                let ptrs = F::ptrs(self.cells, location.table.index());
                return Found::in_row(ptrs, location, entity, known);
            }
            if F::ROWED || !self.base.rowless || location.table != TableId::ROWLESS {
                return None;
            }
            Found::rowless(self.cells, self.base.entities.rowless_id(entity)?, known)
        }
    }

    /// One entity's row, from any table with the columns, whether the query visits it or not. `None` without a row.
    ///
    /// Cheaper than [`View::into_get`], and the same for a query that visits all tables with its columns.
    #[inline]
    pub fn into_get_anywhere(self, entity: Entity) -> Option<F::Item<'w>> {
        if self.base.confined {
            return self.into_get(entity);
        }
        let location = match F::TABLELESS && F::IN_SETS {
            // What is in a set is alive (I10).
            true => EntityLocation::new(TableId::ROWLESS, Row::new(0)),
            false => Entities::find_in(self.base.slots, entity).filter(|_| F::ROWED)?,
        };
        // SAFETY: the directory names a table of this store (I4, I5), and the row in it. The view is gone, so this is
        // its only item (I6). It is not confined, so that it has its access in all tables (I8).
        unsafe {
            let found = find_anywhere::<F>(self.cells, location, &entity, self.base.entities)?;
            Some(found.item(self.cells, self.base.now))
        }
    }

    /// The item of what was found.
    ///
    /// # Safety
    /// The view has found it. No other item of the same entity is alive, unless the fetch only reads.
    #[inline(always)]
    pub(super) unsafe fn lend<'a>(&self, found: &Found<F>) -> F::Item<'a>
    where
        'w: 'a,
    {
        // SAFETY: forwarded: it was found with the cells of the view, which has the access.
        unsafe { found.item(self.cells, self.base.now) }
    }

    /// One entity's row.
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Option<F::Item<'_>> {
        self.reborrow().into_get(entity)
    }

    /// One entity's row, for as long as the view would have lived.
    #[inline]
    pub fn into_get(self, entity: Entity) -> Option<F::Item<'w>> {
        let found = self.find(entity)?;
        // SAFETY: the view is gone, so this is its only item (I6).
        Some(unsafe { self.lend(&found) })
    }

    /// Rows of several entities at once. `None` when one is not visited, or two are the same.
    pub fn get_many_mut<const N: usize>(&mut self, entities: [Entity; N]) -> Option<[F::Item<'_>; N]> {
        self.reborrow().into_get_many(entities)
    }

    /// As [`View::get_many_mut`], for as long as the view would have lived.
    pub fn into_get_many<const N: usize>(self, entities: [Entity; N]) -> Option<[F::Item<'w>; N]> {
        let found = entities.map(|entity| self.find(entity));
        let repeated = entities.iter().enumerate().any(|(at, entity)| entities[..at].contains(entity));
        if repeated || found.iter().any(Option::is_none) {
            return None;
        }
        let found = found.map(|found| found.expect("each entity was found"));
        // SAFETY: distinct entities have distinct rows, in tables (I5) and in sets (I10), and the view is gone, so these are
        // its only items (I6).
        Some(found.map(|found| unsafe { self.lend(&found) }))
    }
}

impl<'w, F: ReadFetch> View<'w, F> {
    /// One entity's row.
    #[inline]
    pub fn get(&self, entity: Entity) -> Option<F::Item<'w>> {
        self.into_get(entity)
    }
}
