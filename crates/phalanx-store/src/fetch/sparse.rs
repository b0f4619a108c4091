//! The leaves over sparse sets.
//!
//! A sparse part of a query is looked up by entity: [`InSet<F>`] yields what `F` yields in the set's own
//! table, at the entity's row there. Rows whose entity is not in a set that is asked for are skipped, and
//! one such set may lead the walk instead of the tables ([`Fetch::drivers`]). A set's table is only ever
//! reached through its pages, so holes (I11) are never visited.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::sealed::Sealed;
use super::{Access, DenseFetch, Driver, Fetch, ReadFetch, SetFetch};
use crate::column::BLOCK_ROWS;
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::place::TableId;
use crate::sets::{Page, find, row_of_member};
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

/// How many rows a walk visits per block of a set, at least, for all of its blocks to be marked at the beginning, as those
/// of a table are; below that, each row marks its own.
const DENSE_ROWS: usize = 64;

/// A set as a query sees it, with the lanes of its columns, and where their rows are.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct SetLanes<L, P: Copy> {
    pages: *const Option<Page>,
    page_count: usize,
    table: usize,
    driver: Driver,
    now: Tick,
    /// Whether all blocks that may be written are marked already.
    marked: bool,
    lanes: L,
    /// Written, unless there is no set: nobody is found then.
    ptrs: MaybeUninit<P>,
}

impl<L, P: Copy> SetLanes<L, P> {
    /// The set of a column, as long as its table has everything, which `ptrs` tells.
    fn new(
        store: &Store,
        column: Option<AnyColId>,
        now: Tick,
        lanes: L,
        ptrs: impl FnOnce(&L, TableId) -> Option<P>,
    ) -> Self {
        let set = column.and_then(|column| store.set_of(column));
        // SAFETY: the set of a column is one of the store's (I10).
        let set = set.map(|set| unsafe { store.sets.get_unchecked(set.index()) });
        let found = set.and_then(|set| Some((set, ptrs(&lanes, set.table)?)));
        let set = found.as_ref().map(|(set, _)| *set);
        let (pages, table, ptrs): (&[Option<Page>], _, _) = match found {
            Some((set, ptrs)) => (set.pages(), set.table, MaybeUninit::new(ptrs)),
            None => (&[], TableId::DEAD, MaybeUninit::uninit()),
        };
        // SAFETY: the table of a set, and the place of the dead, have a head (I4).
        let head = unsafe { store.heads.get_unchecked(table.index()) };
        Self {
            pages: pages.as_ptr(),
            page_count: pages.len(),
            table: table.index(),
            driver: Driver {
                table,
                owners: head.owners.data.cast(),
                len: head.len as usize,
                holes: set.is_some_and(|set| set.stable) && store.has_holes(table),
            },
            now,
            marked: false,
            lanes,
            ptrs,
        }
    }

    /// # Safety
    /// The store lives, and its structure stands still.
    #[inline(always)]
    unsafe fn find(&self, entity: Entity) -> Option<usize> {
        // SAFETY: the pages were taken from the store, which the caller keeps as it is (I10).
        find(unsafe { std::slice::from_raw_parts(self.pages, self.page_count) }, entity)
    }
}

/// Marks one row; apart, so that walks which mark nothing have their registers for themselves.
///
/// # Safety
/// As for `mark`.
#[inline(never)]
unsafe fn mark_row<F: Fetch>(lanes: F::Lanes, table: usize, row: usize, now: Tick) {
    // SAFETY: forwarded.
    unsafe { F::mark_row(lanes, table, row, now) };
}

/// What `F` yields at a row of its set.
///
/// # Safety
/// The set is there and has the row, which is no hole; access is as for `item`.
#[inline(always)]
unsafe fn row_of<'a, F: DenseFetch>(set: SetLanes<F::Lanes, F::Ptrs>, row: usize) -> F::Item<'a> {
    // SAFETY: forwarded; a set that is there has its pointers, and a dense fetch has no spots to miss.
    unsafe {
        let ptrs = set.ptrs.assume_init();
        F::single(ptrs, row, F::spots(ptrs, Entity::PLACEHOLDER).unwrap_unchecked())
    }
}

impl<F: DenseFetch> Sealed for InSet<F> {}
// SAFETY: reaches what `F` reaches, in the set's table, where every entity has at most one row (I10).
unsafe impl<F: DenseFetch> Fetch for InSet<F>
where
    F::ReadOnly: DenseFetch<Ptrs = F::Ptrs>,
{
    type Ids = F::Ids;
    type Item<'a> = F::Item<'a>;
    type Slices<'a> = F::Slices<'a>;
    type ReadOnly = InSet<F::ReadOnly>;
    type Lanes = SetLanes<F::Lanes, F::Ptrs>;
    type Ptrs = SetLanes<F::Lanes, F::Ptrs>;
    type Spots = usize;
    const DENSE: bool = false;
    const TABLELESS: bool = true;
    const IN_SETS: bool = true;

    #[inline(always)]
    fn visit(ids: F::Ids, report: &mut dyn FnMut(Access)) {
        F::visit(ids, &mut |access| report(Access { in_set: true, ..access }));
    }
    #[inline]
    fn lanes(store: &Store, ids: F::Ids, now: Tick) -> Self::Lanes {
        let mut first = None;
        F::visit(ids, &mut |access| {
            first.get_or_insert(access.column);
        });
        SetLanes::new(store, first, now, F::lanes(store, ids, now), |&lanes, table| {
            // SAFETY: the lanes are of this store, which has the set's table (I4). A set that lacks one of the columns of `F`
            // has no rows to be found.
            unsafe { F::present(lanes, table.index()).then(|| F::ptrs(lanes, table.index())) }
        })
    }
    #[inline(always)]
    unsafe fn present(_: Self::Lanes, _: usize) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn ptrs(lanes: Self::Lanes, _: usize) -> Self::Ptrs {
        lanes
    }
    #[inline(always)]
    unsafe fn spots(ptrs: Self::Ptrs, entity: Entity) -> Option<usize> {
        // SAFETY: forwarded.
        unsafe { ptrs.find(entity) }
    }
    #[inline(always)]
    unsafe fn spots_led(ptrs: Self::Ptrs, entity: Entity, table: usize, row: usize) -> Option<usize> {
        // SAFETY: forwarded.
        if ptrs.table == table { Some(row) } else { unsafe { ptrs.find(entity) } }
    }
    #[inline]
    unsafe fn led(mut lanes: Self::Lanes, len: usize) -> Self::Lanes {
        let rows = lanes.driver.len;
        if F::MARKS && rows > 0 && len >= rows.div_ceil(BLOCK_ROWS) * DENSE_ROWS {
            // SAFETY: forwarded; a set with rows has the columns, and room for marks of all rows (I3).
            unsafe { F::mark(lanes.lanes, lanes.table, 0, rows, lanes.now) };
            lanes.marked = true;
        }
        lanes
    }
    #[inline]
    fn drivers(lanes: Self::Lanes, report: &mut impl FnMut(Driver)) {
        report(lanes.driver);
    }
    #[inline(always)]
    unsafe fn item<'a>(ptrs: Self::Ptrs, _: usize, spot: usize) -> F::Item<'a> {
        // SAFETY: the spot is a row of the set's table (I10), which has the columns; access is the caller's.
        unsafe {
            if F::MARKS && !ptrs.marked {
                mark_row::<F>(ptrs.lanes, ptrs.table, spot, ptrs.now);
            }
            row_of::<F>(ptrs, spot)
        }
    }
    unsafe fn slices<'a>(_: Self::Ptrs, _: usize, _: usize) -> F::Slices<'a> {
        unreachable!("only dense fetches are asked for slices of a table")
    }
}
// SAFETY: reports what `F` reports.
unsafe impl<F: ReadFetch + DenseFetch> ReadFetch for InSet<F> {}
// SAFETY: reaches what `F` reaches.
unsafe impl<F: DenseFetch> SetFetch for InSet<F>
where
    F::ReadOnly: DenseFetch<Ptrs = F::Ptrs>,
{
    unsafe fn set_slices(store: &Store, ids: F::Ids, rows: Range<usize>) -> Option<F::Slices<'_>> {
        let lanes = Self::lanes(store, ids, store.tick);
        // A fetch without columns names no set, and there are no rows to lend.
        if lanes.table == TableId::DEAD.index() {
            return None;
        }
        // SAFETY: the set's table, if it has the columns (I4), has these rows, and no hole among them (I11); access is
        // the caller's.
        unsafe {
            if !F::present(lanes.lanes, lanes.table) {
                return None;
            }
            if !rows.is_empty() {
                F::mark(lanes.lanes, lanes.table, rows.start, rows.len(), lanes.now);
            }
            Some(F::slices(F::ptrs(lanes.lanes, lanes.table), rows.start, rows.len()))
        }
    }
    fn is_whole(lanes: Self::Lanes) -> bool {
        lanes.table != TableId::DEAD.index()
    }
    unsafe fn mark_members(lanes: Self::Lanes, len: usize) {
        if len > 0 {
            // SAFETY: forwarded.
            unsafe { F::mark(lanes.lanes, lanes.table, 0, len, lanes.now) };
        }
    }
    #[inline(always)]
    unsafe fn at_row<'a>(ptrs: Self::Ptrs, row: usize) -> F::Item<'a> {
        // SAFETY: forwarded.
        unsafe { row_of::<F>(ptrs, row) }
    }
    #[inline(always)]
    unsafe fn of_member<'a>(ptrs: Self::Ptrs, entity: Entity) -> F::Item<'a> {
        // SAFETY: forwarded: who is in a set has a row there, which is no hole (I10, I11).
        unsafe { Self::item(ptrs, 0, row_of_member(ptrs.pages, entity)) }
    }
}

macro_rules! membership_leaf {
    ($leaf:ident, $spots:ty, $item:ty, $found:ident => $keep:expr, drives: $drives:expr) => {
        impl Sealed for $leaf {}
        // SAFETY: reaches no values, only which entities are in a set, which stands still while rows are borrowed.
        unsafe impl Fetch for $leaf {
            type Ids = AnyColId;
            type Item<'a> = $item;
            type Slices<'a> = $item;
            type ReadOnly = Self;
            type Lanes = SetLanes<(), ()>;
            type Ptrs = SetLanes<(), ()>;
            type Spots = $spots;
            const DENSE: bool = false;
            const TABLELESS: bool = true;
            const IN_SETS: bool = $drives;

            #[inline(always)]
            fn visit(_: AnyColId, _: &mut dyn FnMut(Access)) {}
            #[inline]
            fn lanes(store: &Store, ids: AnyColId, now: Tick) -> Self::Lanes {
                SetLanes::new(store, Some(ids), now, (), |(), _| Some(()))
            }
            #[inline(always)]
            unsafe fn present(_: Self::Lanes, _: usize) -> bool {
                true
            }
            #[inline(always)]
            unsafe fn ptrs(lanes: Self::Lanes, _: usize) -> Self::Ptrs {
                lanes
            }
            #[inline(always)]
            unsafe fn spots(ptrs: Self::Ptrs, entity: Entity) -> Option<$spots> {
                // SAFETY: forwarded.
                let $found = unsafe { ptrs.find(entity) }.is_some();
                $keep
            }
            #[inline]
            fn drivers(lanes: Self::Lanes, report: &mut impl FnMut(Driver)) {
                if $drives {
                    report(lanes.driver);
                }
            }
            #[inline(always)]
            unsafe fn item<'a>(_: Self::Ptrs, _: usize, spots: $spots) -> Self::Item<'a> {
                spots
            }
            unsafe fn slices<'a>(_: Self::Ptrs, _: usize, _: usize) -> Self::Slices<'a> {
                unreachable!("only dense fetches are asked for slices of a table")
            }
        }
        // SAFETY: reports nothing.
        unsafe impl ReadFetch for $leaf {}
    };
}
membership_leaf!(Member, (), (), found => found.then_some(()), drives: true);
membership_leaf!(NotMember, (), (), found => (!found).then_some(()), drives: false);
membership_leaf!(HasSet, bool, bool, found => Some(found), drives: false);
