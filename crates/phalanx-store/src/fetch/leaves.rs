//! The leaves over columns of the visited table, and those that need no column.
//!
//! Each leaf reaches one column, found through its lane, or none at all. What they yield is a reference into the
//! row, a copy of it, or a fact about the table.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::sealed::Sealed;
use super::{Access, DenseFetch, Fetch, ReadFetch};
use crate::column::LaneCell;
use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::store::Store;
use crate::table::Head;
use crate::tick::{Tick, first_after};

/// Reads the column of `T`.
pub struct R<T>(PhantomData<fn() -> T>);
/// Writes the column of `T`, and marks the blocks it visits.
pub struct W<T>(PhantomData<fn() -> T>);
/// Writes the column of `T` without marking anything.
pub struct Wn<T>(PhantomData<fn() -> T>);
/// Copies the tick of each row, before any part that follows may write it. Walks that have a moment may pass over rows
/// whose tick is not after it.
pub struct RowTick;
/// The entity of each row.
pub struct Ents;
/// `F` where the table has it.
pub struct Opt<F>(PhantomData<fn() -> F>);
/// Whether the table has a column.
pub struct HasCol;
/// The tick that is written now.
pub struct Now;

/// # Safety
/// `lane` is a lane of a live store that has this table.
#[inline(always)]
unsafe fn cell<'a>(lane: *const LaneCell, table: usize) -> &'a LaneCell {
    // SAFETY: every lane has a cell per table (I4).
    unsafe { &*lane.add(table) }
}

macro_rules! column_leaf {
    ($leaf:ident, writes: $writes:expr, marks: $marks:expr, $item:ident => $reference:ty, $slice:ty, $deref:expr, $from:expr) => {
        impl<T: Send + Sync + 'static> Sealed for $leaf<T> {}

        // SAFETY: only the reported column is reached.
        unsafe impl<T: Send + Sync + 'static> Fetch for $leaf<T> {
            type Ids = ColId<T>;
            type Item<'a> = $reference;
            type Slices<'a> = $slice;
            type ReadOnly = R<T>;
            type Lanes = *const LaneCell;
            type Ptrs = NonNull<T>;
            type Spots = ();
            const DENSE: bool = true;
            const ROWED: bool = true;
            const MARKS: bool = $marks;

            #[inline(always)]
            fn visit(ids: ColId<T>, report: &mut dyn FnMut(Access)) {
                report(Access {
                    column: ids.any(),
                    writes: $writes,
                    optional: false,
                    in_set: false,
                    copies: false,
                });
            }
            #[inline(always)]
            fn lanes(store: &Store, ids: ColId<T>, _: Tick) -> *const LaneCell {
                store.lane(ids.any())
            }
            #[inline(always)]
            unsafe fn present(lane: *const LaneCell, table: usize) -> bool {
                // SAFETY: forwarded.
                !unsafe { cell(lane, table) }.data.is_null()
            }
            #[inline(always)]
            unsafe fn ptrs(lane: *const LaneCell, table: usize) -> NonNull<T> {
                // SAFETY: forwarded; a column that the table has does not lie at null (I4).
                unsafe { NonNull::new_unchecked(cell(lane, table).data.cast()) }
            }
            #[inline(always)]
            unsafe fn mark(lane: *const LaneCell, table: usize, start: usize, len: usize, now: Tick) {
                if $marks {
                    // SAFETY: the table has the column (I4), and the rows are in range (I2).
                    unsafe { cell(lane, table).mark(start, len, size_of::<T>() > 0, now) }
                }
            }
            #[inline(always)]
            unsafe fn mark_row(lane: *const LaneCell, table: usize, row: usize, now: Tick) {
                if $marks {
                    // SAFETY: as for `mark`.
                    unsafe { cell(lane, table).mark_single(row, size_of::<T>() > 0, now) }
                }
            }
            #[inline(always)]
            unsafe fn spots(_: Self::Ptrs, _: Entity) -> Option<()> {
                Some(())
            }
            #[inline(always)]
            unsafe fn item<'a>(ptrs: NonNull<T>, row: usize, (): ()) -> $reference {
                // SAFETY: the row is initialised (I2), of type `T` (I1), and the caller grants access for `'a` (I6).
                unsafe { $deref(ptrs.add(row).as_ptr()) }
            }
            #[inline(always)]
            unsafe fn single<'a>(ptrs: NonNull<T>, row: usize, (): ()) -> $reference {
                // SAFETY: as for `item`; rows of a column that is there do not lie at null (I3, I4).
                unsafe {
                    std::hint::assert_unchecked(!ptrs.as_ptr().add(row).is_null());
                    $deref(ptrs.as_ptr().add(row))
                }
            }
            #[inline(always)]
            unsafe fn slices<'a>(ptrs: NonNull<T>, start: usize, len: usize) -> $slice {
                // SAFETY: as for `item`, for each row of the run.
                unsafe { $from(ptrs.as_ptr().add(start), len) }
            }
            unsafe fn block_tick(lane: *const LaneCell, table: usize, block: usize) -> Tick {
                // SAFETY: the table has the column, and the block begins within its rows (I3, I4).
                unsafe { cell(lane, table).block_tick(block, size_of::<T>() > 0) }
            }
        }
        // SAFETY: a column of the visited table.
        unsafe impl<T: Send + Sync + 'static> DenseFetch for $leaf<T> {}
    };
}

/// # Safety
/// As for dereferencing as `&'a T`.
#[inline(always)]
unsafe fn shared<'a, T>(value: *mut T) -> &'a T {
    // SAFETY: forwarded.
    unsafe { &*value }
}
/// # Safety
/// As for dereferencing as `&'a mut T`.
#[inline(always)]
unsafe fn exclusive<'a, T>(value: *mut T) -> &'a mut T {
    // SAFETY: forwarded.
    unsafe { &mut *value }
}
/// # Safety
/// As for `slice::from_raw_parts`.
#[inline(always)]
unsafe fn shared_run<'a, T>(first: *mut T, len: usize) -> &'a [T] {
    // SAFETY: forwarded.
    unsafe { std::slice::from_raw_parts(first, len) }
}
column_leaf!(R, writes: false, marks: false, a => &'a T, &'a [T], shared, shared_run);
column_leaf!(W, writes: true, marks: true, a => &'a mut T, &'a mut [T], exclusive, std::slice::from_raw_parts_mut);
column_leaf!(Wn, writes: true, marks: false, a => &'a mut T, &'a mut [T], exclusive, std::slice::from_raw_parts_mut);
// SAFETY: reports a read.
unsafe impl<T: Send + Sync + 'static> ReadFetch for R<T> {}

impl Sealed for RowTick {}
// SAFETY: only the reported column is reached, and no reference to it is kept.
unsafe impl Fetch for RowTick {
    type Ids = ColId<Tick>;
    type Item<'a> = Tick;
    type Slices<'a> = ();
    type ReadOnly = Self;
    type Lanes = *const LaneCell;
    type Ptrs = *const Tick;
    type Spots = ();
    const DENSE: bool = true;
    const ROWED: bool = true;
    const SKIPS: bool = true;

    #[inline(always)]
    fn visit(ids: ColId<Tick>, report: &mut dyn FnMut(Access)) {
        report(Access { column: ids.any(), writes: false, optional: false, in_set: false, copies: true });
    }
    #[inline(always)]
    fn lanes(store: &Store, ids: ColId<Tick>, _: Tick) -> *const LaneCell {
        store.lane(ids.any())
    }
    #[inline(always)]
    unsafe fn present(lane: *const LaneCell, table: usize) -> bool {
        // SAFETY: forwarded.
        !unsafe { cell(lane, table) }.data.is_null()
    }
    #[inline(always)]
    unsafe fn ptrs(lane: *const LaneCell, table: usize) -> *const Tick {
        // SAFETY: forwarded.
        unsafe { cell(lane, table) }.data.cast()
    }
    #[inline(always)]
    unsafe fn spots(_: Self::Ptrs, _: Entity) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: *const Tick, row: usize, (): ()) -> Self::Item<'a> {
        // SAFETY: the row is initialised (I2), of this type (I1), and no reference to it exists yet (I6).
        unsafe { *ptrs.add(row) }
    }
    unsafe fn slices<'a>(_: *const Tick, _: usize, _: usize) -> Self::Slices<'a> {}
    #[inline(always)]
    unsafe fn block_is_newer(
        lane: *const LaneCell,
        table: usize,
        block: usize,
        moved: Tick,
        since: Tick,
    ) -> bool {
        // Who writes the tick of a row marks the block, and rows with ticks of their own come only by moving.
        // SAFETY: the table has the column, and the block begins within its rows (I3, I4).
        moved.is_after(since) || unsafe { cell(lane, table).block_tick(block, true) }.is_after(since)
    }
    #[inline(always)]
    unsafe fn next_newer(ptrs: *const Tick, row: usize, end: usize, since: Tick) -> usize {
        // SAFETY: the rows are initialised (I2), of this type (I1), and no reference to them exists yet (I6).
        let ticks = unsafe { std::slice::from_raw_parts(ptrs.add(row), end - row) };
        row + first_after(ticks, since)
    }
}
// SAFETY: reports a read.
unsafe impl ReadFetch for RowTick {}
// SAFETY: a column of the visited table.
unsafe impl DenseFetch for RowTick {}

impl Sealed for Ents {}
// SAFETY: entities are never written through a fetch; no component column is reached.
unsafe impl Fetch for Ents {
    type Ids = ();
    type Item<'a> = Entity;
    type Slices<'a> = &'a [Entity];
    type ReadOnly = Self;
    type Lanes = *const Head;
    type Ptrs = *const Entity;
    type Spots = ();
    const DENSE: bool = true;
    const TABLELESS: bool = true;

    #[inline(always)]
    fn visit((): (), _: &mut dyn FnMut(Access)) {}
    #[inline(always)]
    fn lanes(store: &Store, (): (), _: Tick) -> *const Head {
        store.heads.as_ptr()
    }
    #[inline(always)]
    unsafe fn present(_: *const Head, _: usize) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn ptrs(lane: *const Head, table: usize) -> *const Entity {
        // SAFETY: the store has a head per table (I4).
        unsafe { (*lane.add(table)).owners.data.cast() }
    }
    #[inline(always)]
    fn rowless(_: *const Entity, entity: &Entity) -> *const Entity {
        ptr::from_ref(entity)
    }
    #[inline(always)]
    unsafe fn spots(_: Self::Ptrs, _: Entity) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: *const Entity, row: usize, (): ()) -> Self::Item<'a> {
        // SAFETY: each row has its entity (I5).
        unsafe { *ptrs.add(row) }
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: *const Entity, start: usize, len: usize) -> &'a [Entity] {
        // SAFETY: each row has its entity (I5), and entities are not written while rows are borrowed.
        unsafe { std::slice::from_raw_parts(ptrs.add(start), len) }
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for Ents {}
// SAFETY: each row of a table has its entity.
unsafe impl DenseFetch for Ents {}

impl<F: Fetch> Sealed for Opt<F> {}
// SAFETY: reaches what `F` reaches.
unsafe impl<F: Fetch> Fetch for Opt<F> {
    type Ids = F::Ids;
    type Item<'a> = Option<F::Item<'a>>;
    type Slices<'a> = Option<F::Slices<'a>>;
    type ReadOnly = Opt<F::ReadOnly>;
    type Lanes = F::Lanes;
    type Ptrs = Option<F::Ptrs>;
    type Spots = Option<F::Spots>;
    const DENSE: bool = F::DENSE;
    const MARKS: bool = F::MARKS;
    const TABLELESS: bool = F::TABLELESS;

    #[inline(always)]
    fn visit(ids: F::Ids, report: &mut dyn FnMut(Access)) {
        F::visit(ids, &mut |access| report(Access { optional: true, ..access }));
    }
    #[inline(always)]
    fn lanes(store: &Store, ids: F::Ids, now: Tick) -> F::Lanes {
        F::lanes(store, ids, now)
    }
    #[inline(always)]
    unsafe fn present(_: F::Lanes, _: usize) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn ptrs(lanes: F::Lanes, table: usize) -> Option<F::Ptrs> {
        // SAFETY: forwarded; `F` is asked for pointers only where it is present.
        unsafe { F::present(lanes, table).then(|| F::ptrs(lanes, table)) }
    }
    #[inline(always)]
    fn rowless(ptrs: Option<F::Ptrs>, entity: &Entity) -> Option<F::Ptrs> {
        ptrs.map(|ptrs| F::rowless(ptrs, entity))
    }
    #[inline(always)]
    unsafe fn mark(lanes: F::Lanes, table: usize, start: usize, len: usize, now: Tick) {
        // SAFETY: forwarded where `F` is present.
        unsafe {
            if F::present(lanes, table) {
                F::mark(lanes, table, start, len, now);
            }
        }
    }
    #[inline(always)]
    unsafe fn mark_row(lanes: F::Lanes, table: usize, row: usize, now: Tick) {
        // SAFETY: forwarded where `F` is present.
        unsafe {
            if F::present(lanes, table) {
                F::mark_row(lanes, table, row, now);
            }
        }
    }
    #[inline(always)]
    unsafe fn spots(ptrs: Option<F::Ptrs>, entity: Entity) -> Option<Self::Spots> {
        // SAFETY: forwarded where `F` is present.
        Some(ptrs.and_then(|ptrs| unsafe { F::spots(ptrs, entity) }))
    }
    #[inline(always)]
    unsafe fn spots_led(
        ptrs: Option<F::Ptrs>,
        entity: Entity,
        table: usize,
        row: usize,
    ) -> Option<Self::Spots> {
        // SAFETY: forwarded where `F` is present.
        Some(ptrs.and_then(|ptrs| unsafe { F::spots_led(ptrs, entity, table, row) }))
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: Option<F::Ptrs>, row: usize, spots: Option<F::Spots>) -> Option<F::Item<'a>> {
        // SAFETY: forwarded where `F` is present.
        ptrs.zip(spots).map(|(ptrs, spots)| unsafe { F::item(ptrs, row, spots) })
    }
    #[inline(always)]
    unsafe fn single<'a>(ptrs: Option<F::Ptrs>, row: usize, spots: Option<F::Spots>) -> Option<F::Item<'a>> {
        // SAFETY: forwarded where `F` is present.
        ptrs.zip(spots).map(|(ptrs, spots)| unsafe { F::single(ptrs, row, spots) })
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: Option<F::Ptrs>, start: usize, len: usize) -> Option<F::Slices<'a>> {
        // SAFETY: forwarded where `F` is present.
        ptrs.map(|ptrs| unsafe { F::slices(ptrs, start, len) })
    }
    unsafe fn block_tick(lanes: F::Lanes, table: usize, block: usize) -> Tick {
        // SAFETY: forwarded where `F` is present.
        unsafe { if F::present(lanes, table) { F::block_tick(lanes, table, block) } else { Tick::ZERO } }
    }
}
// SAFETY: reports what `F` reports.
unsafe impl<F: ReadFetch> ReadFetch for Opt<F> {}
// SAFETY: a table has all of `F`, or nothing of it.
unsafe impl<F: DenseFetch> DenseFetch for Opt<F> {}

impl Sealed for HasCol {}
// SAFETY: reaches no values, only whether a lane is present, which does not change while rows are borrowed.
unsafe impl Fetch for HasCol {
    type Ids = AnyColId;
    type Item<'a> = bool;
    type Slices<'a> = bool;
    type ReadOnly = Self;
    type Lanes = *const LaneCell;
    type Ptrs = bool;
    type Spots = ();
    const DENSE: bool = true;

    #[inline(always)]
    fn visit(_: AnyColId, _: &mut dyn FnMut(Access)) {}
    #[inline(always)]
    fn lanes(store: &Store, ids: AnyColId, _: Tick) -> *const LaneCell {
        store.lane(ids)
    }
    #[inline(always)]
    unsafe fn present(_: *const LaneCell, _: usize) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn ptrs(lane: *const LaneCell, table: usize) -> bool {
        // SAFETY: forwarded.
        !unsafe { cell(lane, table) }.data.is_null()
    }
    #[inline(always)]
    unsafe fn spots(_: Self::Ptrs, _: Entity) -> Option<()> {
        Some(())
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: bool, _: usize, (): ()) -> Self::Item<'a> {
        ptrs
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: bool, _: usize, _: usize) -> Self::Slices<'a> {
        ptrs
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for HasCol {}
// SAFETY: the same for every row.
unsafe impl DenseFetch for HasCol {}

impl Sealed for Now {}
// SAFETY: reaches nothing.
unsafe impl Fetch for Now {
    type Ids = ();
    type Item<'a> = Tick;
    type Slices<'a> = Tick;
    type ReadOnly = Self;
    type Lanes = Tick;
    type Ptrs = Tick;
    type Spots = ();
    const DENSE: bool = true;
    const TABLELESS: bool = true;

    #[inline(always)]
    fn visit((): (), _: &mut dyn FnMut(Access)) {}
    #[inline(always)]
    fn lanes(_: &Store, (): (), now: Tick) -> Tick {
        now
    }
    #[inline(always)]
    unsafe fn present(_: Tick, _: usize) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn ptrs(now: Tick, _: usize) -> Tick {
        now
    }
    #[inline(always)]
    unsafe fn spots(_: Self::Ptrs, _: Entity) -> Option<()> {
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
