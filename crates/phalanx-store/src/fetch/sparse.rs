//! The terms over sparse sets.
//!
//! A sparse part of a query is looked up by entity: [`InSet<F>`] yields what `F` yields in the set's own
//! table, at the entity's row there. Rows whose entity is not in a set that is asked for are skipped, and
//! one such set may drive the walk instead of the tables ([`Fetch::drivers`]). A set's table is only ever
//! reached through its pages, so holes (I11) are never visited.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::sealed::Sealed;
use super::{Access, DenseFetch, Driver, Fetch, Known, Marked, ReadFetch, SetFetch, dense_sparse_rows};
use crate::column::BLOCK_ROWS;
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::location::TableId;
use crate::sets::{Page, find, find_living, row_of_member};
use crate::store::Store;
use crate::tick::Tick;

/// What `F` yields at the entity's row in the sparse set that holds its columns.
pub struct InSet<F>(PhantomData<fn() -> F>);
/// Entities in the set of a column; yields nothing.
pub struct Member;
/// Entities not in the set of a column; yields nothing.
pub struct NotMember;
/// Whether the entity is in the set of a column.
pub struct HasSet;

/// How many rows a walk visits per block of a set, at least, for all of its blocks to be marked at the beginning, as
/// those of a table are; below that, each row marks its own. A walk along the set itself visits all of its rows.
const DENSE_ROWS: usize = 64;

/// A set as a query sees it, with the cells of its columns, and where their rows are.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct SetCells<L, P: Copy> {
    pages: *const Option<Page>,
    page_count: usize,
    driver: Driver,
    now: Tick,
    /// Whether all blocks that may be written are marked already.
    marked: bool,
    cells: L,
    /// Written, unless there is no set: no entity is found then.
    ptrs: MaybeUninit<P>,
}

impl<L, P: Copy> SetCells<L, P> {
    /// The set of a column, as long as its table has everything, which `ptrs` tells.
    fn new(
        store: &Store,
        column: Option<AnyColId>,
        now: Tick,
        cells: L,
        ptrs: impl FnOnce(&L, TableId) -> Option<P>,
    ) -> Self {
        let set = column.and_then(|column| store.set_of(column));
        let set = set.map(|set| &store.sets[set.index()]);
        let found = set.and_then(|set| Some((set, ptrs(&cells, set.table)?)));
        let set = found.as_ref().map(|(set, _)| *set);
        let (pages, table, ptrs): (&[Option<Page>], _, _) = match found {
            Some((set, ptrs)) => (set.pages(), set.table, MaybeUninit::new(ptrs)),
            None => (&[], TableId::DEAD, MaybeUninit::uninit()),
        };
        let meta = &store.metas[table.index()];
        Self {
            pages: pages.as_ptr(),
            page_count: pages.len(),
            driver: Driver {
                table,
                len: meta.len as usize,
                holes: set.is_some_and(|set| set.stable) && store.has_holes(table),
            },
            now,
            marked: false,
            cells,
            ptrs,
        }
    }

    /// The table of the set.
    #[inline(always)]
    fn table(&self) -> usize {
        self.driver.table.index()
    }

    /// The row of an entity in the set.
    ///
    /// # Safety
    /// The store lives, and its structure stands still. What is known of the entity is true.
    #[inline(always)]
    unsafe fn find(&self, entity: Entity, known: Known) -> Option<usize> {
        // SAFETY: forwarded: the pages were taken from a set of the store, and are where they were (I10). Whatever is known of
        // an entity, it lives.
        unsafe {
            let pages = std::slice::from_raw_parts(self.pages, self.page_count);
            match known {
                Known::Row(table, row) if self.driver.table == table => Some(row),
                Known::Nothing => find(pages, entity),
                Known::Alive | Known::Row(..) => find_living(pages, entity),
            }
        }
    }
}

/// Marks one row; apart, so that walks which mark nothing have their registers for themselves.
///
/// # Safety
/// As for [`Fetch::mark`], for a row of the set's table.
#[inline(never)]
unsafe fn mark_row<F: Fetch>(cells: F::Cells, table: usize, row: usize, now: Tick) {
    // SAFETY: forwarded.
    unsafe { F::mark(cells, table, Marked::Row(row), now) };
}

/// What `F` yields at a row of its set.
///
/// # Safety
/// `set.table` is not that of the dead, so that its pointers are written; the set has the row, which is no hole, and
/// access is as for [`Fetch::item`].
#[inline(always)]
unsafe fn row_of<'a, F: DenseFetch>(set: SetCells<F::Cells, F::Ptrs>, row: usize) -> F::Item<'a> {
    // SAFETY: forwarded: a set that is there has its pointers, and a dense fetch misses nothing (I14).
    unsafe {
        let ptrs = set.ptrs.assume_init();
        F::item(ptrs, row, dense_sparse_rows::<F>(ptrs))
    }
}

impl<F: DenseFetch> Sealed for InSet<F> {}
// SAFETY: reaches what `F` reaches, in the set's table, where every entity has at most one row (I10); every place is found.
unsafe impl<F: DenseFetch> Fetch for InSet<F>
where
    F::ReadOnly: DenseFetch<Ptrs = F::Ptrs>,
{
    type Ids = F::Ids;
    type Item<'a> = F::Item<'a>;
    type Slices<'a> = F::Slices<'a>;
    type ReadOnly = InSet<F::ReadOnly>;
    type Cells = SetCells<F::Cells, F::Ptrs>;
    type Ptrs = SetCells<F::Cells, F::Ptrs>;
    type SparseRows = usize;
    const DENSE: bool = false;
    const TABLELESS: bool = true;
    const IN_SETS: bool = true;
    const WRITES: bool = F::WRITES;

    #[inline(always)]
    fn visit(ids: F::Ids, report: &mut dyn FnMut(Access)) {
        F::visit(ids, &mut |access| report(Access { in_set: true, ..access }));
    }
    #[inline]
    fn cells(store: &Store, ids: F::Ids, now: Tick) -> Self::Cells {
        let mut first = None;
        F::visit(ids, &mut |access| {
            first.get_or_insert(access.column);
        });
        SetCells::new(store, first, now, F::cells(store, ids, now), |&cells, table| {
            // SAFETY: the cells are of this store, which has the set's table (I4). A set that lacks one of the columns
            // of `F` has no rows to be found.
            unsafe { F::find(cells, table.index()) }
        })
    }
    #[inline(always)]
    unsafe fn find(cells: Self::Cells, _: usize) -> Option<Self::Ptrs> {
        Some(cells)
    }
    #[inline(always)]
    unsafe fn sparse_rows(ptrs: Self::Ptrs, entity: Entity, known: Known) -> Option<usize> {
        // SAFETY: forwarded: the store lives and stands still.
        unsafe { ptrs.find(entity, known) }
    }
    #[inline]
    unsafe fn drive(mut cells: Self::Cells, len: usize) -> Self::Cells {
        let rows = cells.driver.len;
        if F::MARKS && rows > 0 && len >= rows.min(rows.div_ceil(BLOCK_ROWS) * DENSE_ROWS) {
            // SAFETY: forwarded: a set with rows was found with the columns, and has room for marks of all rows (I3).
            unsafe { F::mark(cells.cells, cells.table(), Marked::Run(0, rows), cells.now) };
            cells.marked = true;
        }
        cells
    }
    #[inline(always)]
    fn is_marked(ptrs: Self::Ptrs) -> bool {
        !F::MARKS || ptrs.marked
    }
    #[inline]
    fn drivers(cells: Self::Cells, report: &mut impl FnMut(Driver)) {
        report(cells.driver);
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: Self::Ptrs, _: usize, sparse_row: usize) -> F::Item<'a> {
        // SAFETY: forwarded: the sparse row is the entity's row in the set's table (I10), so that the set is there, with the
        // columns, and the row is no hole (I11); access is the caller's.
        unsafe {
            if F::MARKS && !ptrs.marked {
                mark_row::<F>(ptrs.cells, ptrs.table(), sparse_row, ptrs.now);
            }
            row_of::<F>(ptrs, sparse_row)
        }
    }
    unsafe fn slices<'a>(_: Self::Ptrs, _: usize, _: usize) -> F::Slices<'a> {
        unreachable!("only dense fetches are asked for slices of a table")
    }
}
// SAFETY: reports what `F` reports.
unsafe impl<F: ReadFetch + DenseFetch> ReadFetch for InSet<F> {}
// SAFETY: reaches what `F` reaches, which are the columns that `visit` reports.
unsafe impl<F: DenseFetch> SetFetch for InSet<F>
where
    F::ReadOnly: DenseFetch<Ptrs = F::Ptrs>,
{
    unsafe fn set_slices(store: &Store, ids: F::Ids, rows: Range<usize>) -> Option<F::Slices<'_>> {
        let cells = Self::cells(store, ids, store.tick);
        // A fetch without columns names no set, and there are no rows to lend.
        if cells.driver.table == TableId::DEAD {
            return None;
        }
        // SAFETY: the set's table, if it has the columns (I4), has these rows, and no hole among them (I11); access is
        // the caller's.
        unsafe {
            let ptrs = F::find(cells.cells, cells.table())?;
            if !rows.is_empty() {
                F::mark(cells.cells, cells.table(), Marked::Run(rows.start, rows.len()), cells.now);
            }
            Some(F::slices(ptrs, rows.start, rows.len()))
        }
    }
    fn is_whole(cells: Self::Cells) -> bool {
        cells.driver.table != TableId::DEAD
    }
    unsafe fn mark_members(cells: Self::Cells, len: usize) {
        if len > 0 {
            // SAFETY: forwarded: the set is there, with the columns, and has as many rows (I3).
            unsafe { F::mark(cells.cells, cells.table(), Marked::Run(0, len), cells.now) };
        }
    }
    #[inline(always)]
    unsafe fn at_row<'a>(ptrs: Self::Ptrs, row: usize) -> F::Item<'a> {
        // SAFETY: forwarded: the pointers are whole, so the set is there.
        unsafe { row_of::<F>(ptrs, row) }
    }
    #[inline(always)]
    unsafe fn of_member<'a>(ptrs: Self::Ptrs, entity: Entity) -> F::Item<'a> {
        // SAFETY: forwarded: an entity in a set has a row there, which is no hole (I10, I11). The row of a table is not looked
        // at (I14).
        unsafe { Self::item(ptrs, 0, row_of_member(ptrs.pages, entity)) }
    }
}

macro_rules! membership_term {
    ($term:ident, $sparse_rows:ty, $item:ty, $found:ident => $keep:expr, drives: $drives:expr) => {
        impl Sealed for $term {}
        // SAFETY: reaches no values, only which entities are in a set, which stands still while rows are borrowed; every
        // place is found.
        unsafe impl Fetch for $term {
            type Ids = AnyColId;
            type Item<'a> = $item;
            type Slices<'a> = $item;
            type ReadOnly = Self;
            type Cells = SetCells<(), ()>;
            type Ptrs = SetCells<(), ()>;
            type SparseRows = $sparse_rows;
            const DENSE: bool = false;
            const WRITES: bool = false;
            const TABLELESS: bool = true;
            const IN_SETS: bool = $drives;

            #[inline(always)]
            fn visit(_: AnyColId, _: &mut dyn FnMut(Access)) {}
            #[inline]
            fn cells(store: &Store, ids: AnyColId, now: Tick) -> Self::Cells {
                SetCells::new(store, Some(ids), now, (), |(), _| Some(()))
            }
            #[inline(always)]
            unsafe fn find(cells: Self::Cells, _: usize) -> Option<Self::Ptrs> {
                Some(cells)
            }
            #[inline(always)]
            unsafe fn sparse_rows(ptrs: Self::Ptrs, entity: Entity, known: Known) -> Option<$sparse_rows> {
                // SAFETY: forwarded: the store lives and stands still.
                let $found = unsafe { ptrs.find(entity, known) }.is_some();
                $keep
            }
            #[inline]
            fn drivers(cells: Self::Cells, report: &mut impl FnMut(Driver)) {
                if $drives {
                    report(cells.driver);
                }
            }
            #[inline(always)]
            unsafe fn item<'a>(_: Self::Ptrs, _: usize, sparse_rows: $sparse_rows) -> Self::Item<'a> {
                sparse_rows
            }
            unsafe fn slices<'a>(_: Self::Ptrs, _: usize, _: usize) -> Self::Slices<'a> {
                unreachable!("only dense fetches are asked for slices of a table")
            }
        }
        // SAFETY: reports nothing.
        unsafe impl ReadFetch for $term {}
    };
}
membership_term!(Member, (), (), found => found.then_some(()), drives: true);
membership_term!(NotMember, (), (), found => (!found).then_some(()), drives: false);
membership_term!(HasSet, bool, bool, found => Some(found), drives: false);
