//! The term for the tick at which an entity was spawned.
//!
//! It reaches no column, only the directory's list of ticks, so it is found in every place. As a filter it skips
//! blocks to which no row came since the query's moment: an entity is spawned into a row of its own. Preparing a query
//! with it asks the store to keep these ticks.

use super::sealed::Sealed;
use super::{Access, DenseFetch, EntityIds, Fetch, Known, ReadFetch};
use crate::entities::Entities;
use crate::entity::Entity;
use crate::store::Store;
use crate::tick::Tick;

/// The tick at which the entity of each row was spawned. With `SKIPS`, a walk may skip rows whose tick is not after
/// its moment.
pub struct SpawnTick<const SKIPS: bool>;

impl<const SKIPS: bool> Sealed for SpawnTick<SKIPS> {}
// SAFETY: reaches no column of values, only entities and the directory's list of ticks, which is not written while rows
// are borrowed; every place is found.
unsafe impl<const SKIPS: bool> Fetch for SpawnTick<SKIPS> {
    type Ids = ();
    type Item<'a> = Tick;
    type Slices<'a> = ();
    type ReadOnly = Self;
    type Cells = (*const [Tick], <EntityIds as Fetch>::Cells);
    type Ptrs = (*const [Tick], <EntityIds as Fetch>::Ptrs);
    type SparseRows = ();
    const DENSE: bool = true;
    const WRITES: bool = false;
    const TABLELESS: bool = true;
    const SKIPS: bool = SKIPS;
    const SPAWN_TICKS: bool = true;

    #[inline(always)]
    fn visit((): (), _: &mut dyn FnMut(Access)) {}
    #[inline]
    fn cells(store: &Store, (): (), now: Tick) -> Self::Cells {
        (store.entities().spawn_ticks(), EntityIds::cells(store, (), now))
    }
    #[inline]
    unsafe fn find((ticks, entities): Self::Cells, table: usize) -> Option<Self::Ptrs> {
        // SAFETY: forwarded: the store has this table.
        Some((ticks, unsafe { EntityIds::find(entities, table) }?))
    }
    #[inline]
    fn rowless((ticks, entities): Self::Ptrs, entity: &Entity) -> Self::Ptrs {
        (ticks, EntityIds::rowless(entities, entity))
    }
    #[inline]
    unsafe fn sparse_rows(_: Self::Ptrs, _: Entity, _: Known) -> Option<()> {
        Some(())
    }
    #[inline]
    unsafe fn item<'a>((ticks, entities): Self::Ptrs, row: usize, (): ()) -> Self::Item<'a> {
        // SAFETY: forwarded: the row has its entity (I5, I10), and no entity is spawned while rows are borrowed, so that the list
        // of the live store stands still.
        unsafe { Entities::spawn_tick_in(&*ticks, EntityIds::item(entities, row, ()).index()) }
    }
    unsafe fn slices<'a>(_: Self::Ptrs, _: usize, _: usize) -> Self::Slices<'a> {}
    #[inline]
    unsafe fn block_is_newer(_: Self::Cells, _: usize, _: usize, moved: Tick, since: Tick) -> bool {
        !SKIPS || moved.is_after(since)
    }
}
// SAFETY: reports nothing.
unsafe impl<const SKIPS: bool> ReadFetch for SpawnTick<SKIPS> {}
// SAFETY: each row of a table has its entity.
unsafe impl<const SKIPS: bool> DenseFetch for SpawnTick<SKIPS> {}
