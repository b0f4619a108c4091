//! The terms over columns of the visited table, and those that need no column.
//!
//! Each term reaches one column, found through its cells, or none at all. What they yield is a reference into the
//! row, a copy of it, or a fact about the table.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::sealed::Sealed;
use super::{Access, DenseFetch, Fetch, Known, Marked, ReadFetch};
use crate::column::ColumnCell;
use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::store::Store;
use crate::table::TableMeta;
use crate::tick::{Tick, first_after};

/// Reads the column of `T`.
pub struct Read<T>(PhantomData<fn() -> T>);
/// Writes the column of `T`, and marks the blocks it visits.
pub struct Write<T>(PhantomData<fn() -> T>);
/// Writes the column of `T` without marking anything.
pub struct WriteUntracked<T>(PhantomData<fn() -> T>);
/// Copies the tick of each row, before any part that follows may write it. Walks that have a moment may skip rows
/// whose tick is not after it.
pub struct RowTick;
/// The entity of each row.
pub struct EntityIds;
/// `F` where the table has it.
pub struct Opt<F>(PhantomData<fn() -> F>);
/// Whether the table has a column.
pub struct HasCol;
/// The tick that is written now.
pub struct Now;

/// # Safety
/// `column_cells` are those of a column in a live store that has this table, and stands still for `'a`.
#[inline(always)]
unsafe fn cell<'a>(column_cells: *const ColumnCell, table: usize) -> &'a ColumnCell {
    // SAFETY: forwarded: every column has a cell per table (I4).
    unsafe { &*column_cells.add(table) }
}

macro_rules! column_term {
    ($term:ident, writes: $writes:expr, marks: $marks:expr, $item:ident => $reference:ty, $slice:ty, $value:ident => $lent:expr, $from:ident) => {
        impl<T: Send + Sync + 'static> Sealed for $term<T> {}

        // SAFETY: only the reported column is reached, and found in each table that has it (I4).
        unsafe impl<T: Send + Sync + 'static> Fetch for $term<T> {
            type Ids = ColId<T>;
            type Item<'a> = $reference;
            type Slices<'a> = $slice;
            type ReadOnly = Read<T>;
            type Cells = *const ColumnCell;
            type Ptrs = NonNull<T>;
            type SparseRows = ();
            const DENSE: bool = true;
            const ROWED: bool = true;
            const MARKS: bool = $marks;
            const SINGLE: bool = true;
            const WRITES: bool = $writes;

            #[inline(always)]
            fn visit(ids: ColId<T>, report: &mut dyn FnMut(Access)) {
                report(Access {
                    column: ids.any(),
                    writes: $writes,
                    optional: false,
                    in_set: false,
                    copies: false,
                    whole: None,
                });
            }
            #[inline(always)]
            fn cells(store: &Store, ids: ColId<T>, _: Tick) -> *const ColumnCell {
                store.column_cells(ids.any())
            }
            #[inline(always)]
            unsafe fn find(column_cells: *const ColumnCell, table: usize) -> Option<NonNull<T>> {
                // SAFETY: forwarded: the store has this table.
                NonNull::new(unsafe { cell(column_cells, table) }.data.cast())
            }
            #[inline(always)]
            unsafe fn mark(column_cells: *const ColumnCell, table: usize, rows: Marked, now: Tick) {
                if !$marks {
                    return;
                }
                // SAFETY: forwarded: the table has the column (I4), and room for the rows (I3).
                unsafe {
                    let cell = cell(column_cells, table);
                    match rows {
                        Marked::Run(start, len) => cell.mark(start, len, size_of::<T>() > 0, now),
                        Marked::Row(row) => cell.mark_single(row, size_of::<T>() > 0, now),
                    }
                }
            }
            #[inline(always)]
            unsafe fn sparse_rows(_: Self::Ptrs, _: Entity, _: Known) -> Option<()> {
                Some(())
            }
            #[inline(always)]
            unsafe fn item<'a>(ptrs: NonNull<T>, row: usize, (): ()) -> $reference {
                // SAFETY: forwarded: the row is in range, so it is initialised (I2), of type `T` (I1), at an aligned address
                // (I3); the caller grants access for `'a`.
                unsafe {
                    let $value = ptrs.add(row).as_ptr();
                    // Otherwise the compiler checks again whether an optional item is there.
                    #[cfg(not(debug_assertions))]
                    std::hint::assert_unchecked($value.addr() != 0);
                    $lent
                }
            }
            #[inline(always)]
            unsafe fn slices<'a>(ptrs: NonNull<T>, start: usize, len: usize) -> $slice {
                // SAFETY: forwarded: as for `item`, for each row of the run (I1, I2, I3), which are within one allocation.
                unsafe { std::slice::$from(ptrs.as_ptr().add(start), len) }
            }
            unsafe fn block_tick(column_cells: *const ColumnCell, table: usize, block: usize) -> Tick {
                // SAFETY: forwarded: the table has the column, and the block begins within its rows (I3, I4).
                unsafe { cell(column_cells, table).block_tick(block, size_of::<T>() > 0) }
            }
        }
        // SAFETY: a column of the visited table.
        unsafe impl<T: Send + Sync + 'static> DenseFetch for $term<T> {}
    };
}

column_term!(Read, writes: false, marks: false, a => &'a T, &'a [T], value => &*value, from_raw_parts);
column_term!(Write, writes: true, marks: true, a => &'a mut T, &'a mut [T], value => &mut *value, from_raw_parts_mut);
column_term!(WriteUntracked, writes: true, marks: false, a => &'a mut T, &'a mut [T], value => &mut *value, from_raw_parts_mut);
// SAFETY: reports a read.
unsafe impl<T: Send + Sync + 'static> ReadFetch for Read<T> {}

impl Sealed for RowTick {}
// SAFETY: only the reported column is reached, and found in each table that has it (I4); no reference to it is kept.
unsafe impl Fetch for RowTick {
    type Ids = ColId<Tick>;
    type Item<'a> = Tick;
    type Slices<'a> = ();
    type ReadOnly = Self;
    type Cells = *const ColumnCell;
    type Ptrs = NonNull<Tick>;
    type SparseRows = ();
    const DENSE: bool = true;
    const WRITES: bool = false;
    const ROWED: bool = true;
    const SKIPS: bool = true;

    #[inline(always)]
    fn visit(ids: ColId<Tick>, report: &mut dyn FnMut(Access)) {
        report(Access {
            column: ids.any(),
            writes: false,
            optional: false,
            in_set: false,
            copies: true,
            whole: None,
        });
    }
    #[inline(always)]
    fn cells(store: &Store, ids: ColId<Tick>, _: Tick) -> *const ColumnCell {
        store.column_cells(ids.any())
    }
    #[inline(always)]
    unsafe fn find(column_cells: *const ColumnCell, table: usize) -> Option<NonNull<Tick>> {
        // SAFETY: forwarded: the store has this table.
        NonNull::new(unsafe { cell(column_cells, table) }.data.cast())
    }
    #[inline(always)]
    unsafe fn sparse_rows(_: Self::Ptrs, _: Entity, _: Known) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: NonNull<Tick>, row: usize, (): ()) -> Self::Item<'a> {
        // SAFETY: forwarded: the row is initialised (I2), of this type (I1). Parts that write it come later (I6), and
        // nothing writes the row before this returns.
        unsafe { ptrs.add(row).read() }
    }
    unsafe fn slices<'a>(_: NonNull<Tick>, _: usize, _: usize) -> Self::Slices<'a> {}
    #[inline(always)]
    unsafe fn block_is_newer(
        column_cells: *const ColumnCell,
        table: usize,
        block: usize,
        moved: Tick,
        since: Tick,
    ) -> bool {
        // Whatever writes the tick of a row marks the block, and rows with ticks of their own come only by moving.
        // SAFETY: forwarded: the table has the column, and the block begins within its rows (I3, I4).
        moved.is_after(since) || unsafe { cell(column_cells, table).block_tick(block, true) }.is_after(since)
    }
    #[inline(always)]
    unsafe fn next_newer(ptrs: NonNull<Tick>, row: usize, end: usize, since: Tick) -> usize {
        // SAFETY: forwarded: the rows are initialised (I2), of this type (I1), and were not yielded yet, so that no part of an
        // item writes them (I6). The slice is gone before one does.
        let ticks = unsafe { std::slice::from_raw_parts(ptrs.as_ptr().add(row), end - row) };
        row + first_after(ticks, since)
    }
}
// SAFETY: reports a read.
unsafe impl ReadFetch for RowTick {}
// SAFETY: a column of the visited table.
unsafe impl DenseFetch for RowTick {}

impl Sealed for EntityIds {}
// SAFETY: entities are never written through a fetch; no column of values is reached, and every place is found.
unsafe impl Fetch for EntityIds {
    type Ids = ();
    type Item<'a> = Entity;
    type Slices<'a> = &'a [Entity];
    type ReadOnly = Self;
    type Cells = *const TableMeta;
    type Ptrs = *const Entity;
    type SparseRows = ();
    const DENSE: bool = true;
    const WRITES: bool = false;
    const TABLELESS: bool = true;

    #[inline(always)]
    fn visit((): (), _: &mut dyn FnMut(Access)) {}
    #[inline(always)]
    fn cells(store: &Store, (): (), _: Tick) -> *const TableMeta {
        store.metas.as_ptr()
    }
    #[inline(always)]
    unsafe fn find(metas: *const TableMeta, table: usize) -> Option<*const Entity> {
        // SAFETY: forwarded: the store has a meta per table (I4).
        Some(unsafe { (*metas.add(table)).owners.data.cast() })
    }
    #[inline(always)]
    fn rowless(_: *const Entity, entity: &Entity) -> *const Entity {
        ptr::from_ref(entity)
    }
    #[inline(always)]
    unsafe fn sparse_rows(_: Self::Ptrs, _: Entity, _: Known) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: *const Entity, row: usize, (): ()) -> Self::Item<'a> {
        // SAFETY: forwarded: each row has its entity (I5, I10), or the pointer is to the id of an entity without a row, whose
        // only row is 0.
        unsafe { *ptrs.add(row) }
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: *const Entity, start: usize, len: usize) -> &'a [Entity] {
        // SAFETY: forwarded: each row has its entity (I5, I10), or the pointer is to the id of an entity without a row, whose
        // only row is 0; the structure stands still while rows are borrowed.
        unsafe { std::slice::from_raw_parts(ptrs.add(start), len) }
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for EntityIds {}
// SAFETY: each row of a table has its entity.
unsafe impl DenseFetch for EntityIds {}

impl<F: Fetch> Sealed for Opt<F> {}
// SAFETY: reaches what `F` reaches, where `F` is found; every place is found, with or without it.
unsafe impl<F: Fetch> Fetch for Opt<F> {
    type Ids = F::Ids;
    type Item<'a> = Option<F::Item<'a>>;
    type Slices<'a> = Option<F::Slices<'a>>;
    type ReadOnly = Opt<F::ReadOnly>;
    type Cells = F::Cells;
    type Ptrs = Option<F::Ptrs>;
    type SparseRows = Option<F::SparseRows>;
    const DENSE: bool = F::DENSE;
    const MARKS: bool = F::MARKS;
    const WRITES: bool = F::WRITES;
    const TABLELESS: bool = F::TABLELESS;
    const SPAWN_TICKS: bool = F::SPAWN_TICKS;
    const FAR: bool = F::FAR;

    #[inline(always)]
    fn visit(ids: F::Ids, report: &mut dyn FnMut(Access)) {
        F::visit(ids, &mut |access| report(Access { optional: true, ..access }));
    }
    #[inline(always)]
    fn cells(store: &Store, ids: F::Ids, now: Tick) -> F::Cells {
        F::cells(store, ids, now)
    }
    #[inline(always)]
    unsafe fn find(cells: F::Cells, table: usize) -> Option<Option<F::Ptrs>> {
        // SAFETY: forwarded.
        Some(unsafe { F::find(cells, table) })
    }
    #[inline(always)]
    fn some_found(ptrs: Option<F::Ptrs>, sparse_rows: Option<Self::SparseRows>) -> bool {
        ptrs.is_some() && sparse_rows.is_none_or(|sparse_rows| sparse_rows.is_some())
    }
    #[inline(always)]
    fn rowless(ptrs: Option<F::Ptrs>, entity: &Entity) -> Option<F::Ptrs> {
        ptrs.map(|ptrs| F::rowless(ptrs, entity))
    }
    #[inline(always)]
    unsafe fn mark(cells: F::Cells, table: usize, rows: Marked, now: Tick) {
        // SAFETY: forwarded where `F` is found.
        unsafe {
            if F::MARKS && F::find(cells, table).is_some() {
                F::mark(cells, table, rows, now);
            }
        }
    }
    #[inline(always)]
    fn is_marked(ptrs: Option<F::Ptrs>) -> bool {
        ptrs.is_none_or(F::is_marked)
    }
    #[inline(always)]
    unsafe fn sparse_rows(ptrs: Option<F::Ptrs>, entity: Entity, known: Known) -> Option<Self::SparseRows> {
        // SAFETY: forwarded where `F` is found.
        Some(ptrs.and_then(|ptrs| unsafe { F::sparse_rows(ptrs, entity, known) }))
    }
    #[inline(always)]
    unsafe fn item<'a>(
        ptrs: Option<F::Ptrs>,
        row: usize,
        sparse_rows: Option<F::SparseRows>,
    ) -> Option<F::Item<'a>> {
        // SAFETY: forwarded where `F` is found.
        ptrs.zip(sparse_rows).map(|(ptrs, sparse_rows)| unsafe { F::item(ptrs, row, sparse_rows) })
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: Option<F::Ptrs>, start: usize, len: usize) -> Option<F::Slices<'a>> {
        // SAFETY: forwarded where `F` is found.
        ptrs.map(|ptrs| unsafe { F::slices(ptrs, start, len) })
    }
    unsafe fn block_tick(cells: F::Cells, table: usize, block: usize) -> Tick {
        // SAFETY: forwarded where `F` is found.
        unsafe {
            match F::find(cells, table) {
                Some(_) => F::block_tick(cells, table, block),
                None => Tick::ZERO,
            }
        }
    }
}
// SAFETY: reports what `F` reports.
unsafe impl<F: ReadFetch> ReadFetch for Opt<F> {}
// SAFETY: a table has all of `F`, or nothing of it.
unsafe impl<F: DenseFetch> DenseFetch for Opt<F> {}

/// Whether the data of a cell is there: else it is null (I4). It is never at 1, being aligned to more (I3), and comparing with
/// null would let the compiler write null down on one way from the answer, for the next row to ask again.
#[inline(always)]
fn is_present(data: usize) -> bool {
    data > 1
}

impl Sealed for HasCol {}
// SAFETY: reaches no values, only whether a cell is present, which does not change while rows are borrowed; every place is
// found.
unsafe impl Fetch for HasCol {
    type Ids = AnyColId;
    type Item<'a> = bool;
    type Slices<'a> = bool;
    type ReadOnly = Self;
    type Cells = *const ColumnCell;
    type Ptrs = usize;
    type SparseRows = ();
    const DENSE: bool = true;
    const WRITES: bool = false;

    #[inline(always)]
    fn visit(_: AnyColId, _: &mut dyn FnMut(Access)) {}
    #[inline(always)]
    fn cells(store: &Store, ids: AnyColId, _: Tick) -> *const ColumnCell {
        store.column_cells(ids)
    }
    #[inline(always)]
    unsafe fn find(column_cells: *const ColumnCell, table: usize) -> Option<usize> {
        // SAFETY: forwarded: the store has this table.
        Some(unsafe { cell(column_cells, table) }.data.addr())
    }
    #[inline(always)]
    unsafe fn sparse_rows(_: Self::Ptrs, _: Entity, _: Known) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: usize, _: usize, (): ()) -> Self::Item<'a> {
        is_present(ptrs)
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: usize, _: usize, _: usize) -> Self::Slices<'a> {
        is_present(ptrs)
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for HasCol {}
// SAFETY: the same for every row.
unsafe impl DenseFetch for HasCol {}

impl Sealed for Now {}
// SAFETY: reaches nothing, and every place is found.
unsafe impl Fetch for Now {
    type Ids = ();
    type Item<'a> = Tick;
    type Slices<'a> = Tick;
    type ReadOnly = Self;
    type Cells = Tick;
    type Ptrs = Tick;
    type SparseRows = ();
    const DENSE: bool = true;
    const WRITES: bool = false;
    const TABLELESS: bool = true;

    #[inline(always)]
    fn visit((): (), _: &mut dyn FnMut(Access)) {}
    #[inline(always)]
    fn cells(_: &Store, (): (), now: Tick) -> Tick {
        now
    }
    #[inline(always)]
    unsafe fn find(now: Tick, _: usize) -> Option<Tick> {
        Some(now)
    }
    #[inline(always)]
    unsafe fn sparse_rows(_: Self::Ptrs, _: Entity, _: Known) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    unsafe fn item<'a>(now: Tick, _: usize, (): ()) -> Self::Item<'a> {
        now
    }
    #[inline(always)]
    unsafe fn slices<'a>(now: Tick, _: usize, _: usize) -> Self::Slices<'a> {
        now
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for Now {}
// SAFETY: the same for every row.
unsafe impl DenseFetch for Now {}
