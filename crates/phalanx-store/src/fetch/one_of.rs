//! Several optional parts of which at least one is there.
//!
//! [`OneOf<F>`] yields what `F`, a tuple of [`Opt`](super::Opt), yields, where one of the parts is there. Tables decide
//! for columns; where a part may be in a sparse set, rows decide. Which tables a query visits is decided above the store,
//! where it is known which have a part: a table that has none can be admitted, and yields rows without any.

use std::marker::PhantomData;

use super::sealed::Sealed;
use super::{Access, DenseFetch, Fetch, Known, Marked, ReadFetch};
use crate::entity::Entity;
use crate::store::Store;
use crate::tick::Tick;

/// What a tuple of optional parts yields, where one of them is there; in tables that a query visits although they have
/// none of them, nothing but `None`.
pub struct OneOf<F>(PhantomData<fn() -> F>);

impl<F: Fetch> Sealed for OneOf<F> {}
// SAFETY: reaches what `F` reaches, in fewer rows; where something is found, `F` has found it, and every table that may be
// visited serves, as it does for `F`.
unsafe impl<F: Fetch> Fetch for OneOf<F> {
    type Ids = F::Ids;
    type Item<'a> = F::Item<'a>;
    type Slices<'a> = F::Slices<'a>;
    type ReadOnly = OneOf<F::ReadOnly>;
    type Cells = F::Cells;
    type Ptrs = F::Ptrs;
    type SparseRows = F::SparseRows;
    const DENSE: bool = F::DENSE;
    const MARKS: bool = F::MARKS;
    const WRITES: bool = F::WRITES;
    const SPAWN_TICKS: bool = F::SPAWN_TICKS;
    const FAR: bool = F::FAR;

    #[inline(always)]
    fn visit(ids: F::Ids, report: &mut dyn FnMut(Access)) {
        F::visit(ids, report);
    }
    #[inline(always)]
    fn cells(store: &Store, ids: F::Ids, now: Tick) -> F::Cells {
        F::cells(store, ids, now)
    }
    #[inline(always)]
    unsafe fn find(cells: F::Cells, table: usize) -> Option<F::Ptrs> {
        // SAFETY: forwarded.
        unsafe { F::find(cells, table) }.filter(|&ptrs| F::some_found(ptrs, None))
    }
    // Not by `find`, which finds nothing in a table without any of the parts, though it may be visited.
    #[inline(always)]
    unsafe fn ptrs(cells: F::Cells, table: usize) -> F::Ptrs {
        // SAFETY: forwarded: the columns that `F` cannot do without are those that are reported as such, which are this
        // fetch's.
        unsafe { F::ptrs(cells, table) }
    }
    #[inline(always)]
    fn rowless(ptrs: F::Ptrs, entity: &Entity) -> F::Ptrs {
        F::rowless(ptrs, entity)
    }
    #[inline(always)]
    unsafe fn mark(cells: F::Cells, table: usize, rows: Marked, now: Tick) {
        // SAFETY: forwarded.
        unsafe { F::mark(cells, table, rows, now) }
    }
    #[inline(always)]
    unsafe fn sparse_rows(ptrs: F::Ptrs, entity: Entity, known: Known) -> Option<F::SparseRows> {
        // SAFETY: forwarded.
        let found = unsafe { F::sparse_rows(ptrs, entity, known) };
        found.filter(|&rows| F::DENSE || F::some_found(ptrs, Some(rows)))
    }
    #[inline(always)]
    unsafe fn drive(cells: F::Cells, len: usize) -> F::Cells {
        // SAFETY: forwarded.
        unsafe { F::drive(cells, len) }
    }
    #[inline(always)]
    fn is_marked(ptrs: F::Ptrs) -> bool {
        F::is_marked(ptrs)
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: F::Ptrs, row: usize, sparse_rows: F::SparseRows) -> F::Item<'a> {
        // SAFETY: forwarded.
        unsafe { F::item(ptrs, row, sparse_rows) }
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: F::Ptrs, start: usize, len: usize) -> F::Slices<'a> {
        // SAFETY: forwarded.
        unsafe { F::slices(ptrs, start, len) }
    }
    unsafe fn block_tick(cells: F::Cells, table: usize, block: usize) -> Tick {
        // SAFETY: forwarded.
        unsafe { F::block_tick(cells, table, block) }
    }
}
// SAFETY: reports what `F` reports.
unsafe impl<F: ReadFetch> ReadFetch for OneOf<F> {}
// SAFETY: where `F` is dense, a table has a part in every row or in none.
unsafe impl<F: DenseFetch> DenseFetch for OneOf<F> {}
