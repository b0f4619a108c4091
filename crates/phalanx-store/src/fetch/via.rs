//! Parts of another entity: the one that a link of the visited entity leads to.
//!
//! [`Via<L, F>`] yields what `F` yields for the target of the link `L`, or for the nearest one over several links. It is
//! looked up per row, as sparse parts are, and rows without it are skipped. The target may be in any table, so the
//! columns of `F` are reported as those of a set: the visited table need not have them, they are never split between
//! locks, and no narrower query gets them from a grant of tables.

use std::marker::PhantomData;

use super::sealed::Sealed;
use super::{Access, Driver, Fetch, Known, ReadFetch};
use crate::entities::Entities;
use crate::entity::Entity;
use crate::location::TableId;
use crate::store::Store;
use crate::tick::Tick;
use crate::view::{Found, rowless_ptrs};

/// A sparse part that names another entity.
pub trait Link: 'static {
    /// The part. It reaches sets alone.
    type Fetch: ReadFetch;
    /// Whether links are followed until something is found, and not only the first.
    const NEAREST: bool;

    /// The entity that is named.
    fn target(link: <Self::Fetch as Fetch>::Item<'_>) -> Entity;
}

/// What `F` yields for the entity that the link `L` leads to.
pub struct Via<L, F>(PhantomData<fn() -> (L, F)>);

/// The cells of the link and of the parts, with the store in which other entities are found.
#[doc(hidden)]
pub struct ViaCells<L: Link, F: Fetch> {
    link: <L::Fetch as Fetch>::Cells,
    parts: F::Cells,
    store: *const Store,
}

impl<L: Link, F: Fetch> Clone for ViaCells<L, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<L: Link, F: Fetch> Copy for ViaCells<L, F> {}

impl<L: Link, F: Fetch> ViaCells<L, F> {
    /// Where the link of an entity leads.
    ///
    /// # Safety
    /// The cells are of a live store that stands still, and what the link and the parts read is not written meanwhile. The
    /// entity has the row that is known, in the table of a set.
    #[inline(always)]
    unsafe fn target(&self, entity: Entity, known: Known) -> Option<Entity> {
        // SAFETY: forwarded: the part reaches no table, and is found where the rowless are (I14), as is asserted by `cells`; its
        // access is granted, the item is gone when this returns, and the id outlives it.
        unsafe {
            let ptrs = rowless_ptrs::<L::Fetch>(self.link, &entity);
            let rows = L::Fetch::sparse_rows(ptrs, entity, known)?;
            Some(L::target(L::Fetch::item(ptrs, 0, rows)))
        }
    }

    /// The parts of an entity, wherever it is.
    ///
    /// # Safety
    /// As for `target`.
    #[inline(always)]
    unsafe fn find(&self, entity: Entity) -> Option<Found<F>> {
        // SAFETY: forwarded: the store outlives its cells. The directory names a table of this store, and the row of the
        // entity in it (I4, I5); the id of an entity without a row stays where it is in the directory.
        unsafe {
            let directory = &(*self.store).entities;
            let location = Entities::find_in(directory.as_slots(), entity)?;
            if location.table == TableId::DEAD {
                return None;
            }
            let ptrs = F::find(self.parts, location.table.index())?;
            if location.table == TableId::ROWLESS {
                return Found::rowless(self.parts, directory.rowless_id(entity)?, Known::Nothing);
            }
            Found::in_row(ptrs, location, entity, Known::Alive)
        }
    }
}

impl<L: Link, F: ReadFetch> Sealed for Via<L, F> {}
// SAFETY: reaches the columns of the link and of `F`, and reports both, those of `F` as if they were in a set: whichever
// tables are visited, all of them are held. Neither counts as copied, since other rows than the visited one are read. Reads
// only; every place is found.
unsafe impl<L: Link, F: ReadFetch> Fetch for Via<L, F> {
    type Ids = (<L::Fetch as Fetch>::Ids, F::Ids);
    type Item<'a> = F::Item<'a>;
    type Slices<'a> = F::Slices<'a>;
    type ReadOnly = Self;
    type Cells = ViaCells<L, F>;
    type Ptrs = ViaCells<L, F>;
    type SparseRows = Found<F>;
    const DENSE: bool = false;
    const WRITES: bool = false;
    const TABLELESS: bool = true;
    const IN_SETS: bool = true;
    const SPAWN_TICKS: bool = F::SPAWN_TICKS;
    const FAR: bool = true;

    #[inline(always)]
    fn visit((link, parts): Self::Ids, report: &mut dyn FnMut(Access)) {
        // What is copied here may be in another row than the visited one, where a reference to it may be alive: that of the
        // target, and the links that a chain of them goes along.
        L::Fetch::visit(link, &mut |access| report(Access { copies: false, ..access }));
        F::visit(parts, &mut |access| report(Access { in_set: true, copies: false, ..access }));
    }
    #[inline]
    fn cells(store: &Store, (link, parts): Self::Ids, now: Tick) -> Self::Cells {
        const { assert!(L::Fetch::TABLELESS && L::Fetch::IN_SETS, "a link is a sparse part") };
        ViaCells { link: L::Fetch::cells(store, link, now), parts: F::cells(store, parts, now), store }
    }
    #[inline(always)]
    unsafe fn find(cells: Self::Cells, _: usize) -> Option<Self::Ptrs> {
        Some(cells)
    }
    #[inline]
    unsafe fn sparse_rows(ptrs: Self::Ptrs, entity: Entity, known: Known) -> Option<Found<F>> {
        // SAFETY: forwarded: the caller has the access of the fetch, and the store stands still.
        unsafe {
            let mut at = ptrs.target(entity, known)?;
            // Links may form a cycle: it is noticed when an entity comes again that was kept at a power of two.
            let (mut kept, mut steps) = (entity, 0_u64);
            loop {
                let found = ptrs.find(at);
                if found.is_some() || !L::NEAREST || at == kept {
                    return found;
                }
                steps += 1;
                if steps.is_power_of_two() {
                    kept = at;
                }
                at = ptrs.target(at, Known::Nothing)?;
            }
        }
    }
    #[inline]
    fn drivers(cells: Self::Cells, report: &mut impl FnMut(Driver)) {
        L::Fetch::drivers(cells.link, report);
    }
    #[inline(always)]
    unsafe fn item<'a>(_: Self::Ptrs, _: usize, found: Found<F>) -> F::Item<'a> {
        // SAFETY: forwarded: `sparse_rows` of this fetch found it, in a store that stands still since; the caller grants access
        // to the columns of `F` in all tables for `'a` (I8). They are only read, so there is nothing to mark (I14).
        unsafe { found.read() }
    }
    unsafe fn slices<'a>(_: Self::Ptrs, _: usize, _: usize) -> F::Slices<'a> {
        unreachable!("only dense fetches are asked for slices of a table")
    }
}
// SAFETY: both parts read.
unsafe impl<L: Link, F: ReadFetch> ReadFetch for Via<L, F> {}
