//! What a query visits, as a type: a tree of tuples with leaves such as [`R<T>`] and [`W<T>`].
//!
//! The store walks tables and rows itself and asks the tree for pointers once per table, so a loop over
//! `(W<f32>, R<f32>)` compiles to the loop one would write by hand over two slices.
//!
//! ```text
//!   Ids      which columns                       once per query
//!   Lanes    their lanes: a pointer per column   once per run
//!   Ptrs     their rows in one table             once per table
//!   Spots    the entity's rows in sparse sets    per row, nothing for table columns
//!   Item     references into one row             per row
//! ```
//!
//! `Lanes` and `Ptrs` carry no lifetime, because a lifetime in them would make views invariant; `view`
//! attaches it. The trait is sealed: new kinds of leaves are added here.

use std::ops::Range;

use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::place::TableId;
use crate::store::Store;
use crate::tick::Tick;

pub use leaves::{Ents, HasCol, Now, Opt, R, RowTick, W, Wn};
pub use sparse::{HasSet, InSet, Member, NotMember};

mod leaves;
mod sparse;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// How a leaf uses its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The column.
    pub column: AnyColId,
    /// Whether values are written.
    pub writes: bool,
    /// Whether tables without the column are visited as well.
    pub optional: bool,
    /// Whether the column is one of a sparse set, which the visited table need not have.
    pub in_set: bool,
    /// Whether values are copied before parts that follow get their references, so that these may write them.
    pub copies: bool,
}

impl Access {
    /// Whether a use that comes before another one cannot go together with it.
    #[inline(always)]
    pub(crate) fn clashes_with(&self, later: &Self) -> bool {
        self.column == later.column && (self.writes || later.writes) && !self.copies
    }
}

/// A set of columns to visit together. It cannot be implemented outside this crate.
///
/// # Safety
/// `visit` reports every column the other methods reach, and `item`, `slices` and `mark` reach only these.
/// `ReadOnly` reaches the same columns and is present in the same tables: those that have each column which `visit`
/// reports as neither optional nor in a set.
pub unsafe trait Fetch: 'static + Sealed {
    /// Which columns.
    type Ids: Copy + Send + Sync + 'static;
    /// One row.
    type Item<'a>;
    /// A run of rows of one table.
    type Slices<'a>;
    /// The same columns, none of them written.
    type ReadOnly: ReadFetch<Ids = Self::Ids, Lanes = Self::Lanes>;
    #[doc(hidden)]
    type Lanes: Copy;
    #[doc(hidden)]
    type Ptrs: Copy;
    #[doc(hidden)]
    type Spots: Copy;

    /// Whether every row of a table that is visited has everything, so that nothing is looked up per row.
    const DENSE: bool;
    /// Whether only entities with a row can be visited: some column is not optional.
    #[doc(hidden)]
    const ROWED: bool = false;
    /// Whether no column of the visited table is reached, only sets and the entity itself.
    #[doc(hidden)]
    const TABLELESS: bool = false;
    /// Whether only entities in some set can be visited: one that is not optional.
    #[doc(hidden)]
    const IN_SETS: bool = false;
    /// Whether a walk may pass over rows, and whole blocks, that are not newer than its moment.
    #[doc(hidden)]
    const SKIPS: bool = false;

    /// Whether `mark` does anything.
    #[doc(hidden)]
    const MARKS: bool = false;

    /// Reports each column in use.
    fn visit(ids: Self::Ids, report: &mut dyn FnMut(Access));

    #[doc(hidden)]
    fn lanes(store: &Store, ids: Self::Ids, now: Tick) -> Self::Lanes;

    /// Whether a table has what is not optional.
    ///
    /// # Safety
    /// The lanes are of a live store that has this table.
    #[doc(hidden)]
    unsafe fn present(lanes: Self::Lanes, table: usize) -> bool;

    /// # Safety
    /// As for `present`, which is true for the table.
    #[doc(hidden)]
    unsafe fn ptrs(lanes: Self::Lanes, table: usize) -> Self::Ptrs;

    /// Puts an entity without a row in the place of the table's entities.
    #[doc(hidden)]
    #[inline(always)]
    fn rowless(ptrs: Self::Ptrs, _entity: &Entity) -> Self::Ptrs {
        ptrs
    }

    /// Records that rows are written.
    ///
    /// # Safety
    /// As for `ptrs`; the rows are in range.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn mark(_lanes: Self::Lanes, _table: usize, _start: usize, _len: usize, _now: Tick) {}

    /// As `mark`, for one row.
    ///
    /// # Safety
    /// As for `mark`.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn mark_row(_lanes: Self::Lanes, _table: usize, _row: usize, _now: Tick) {}

    /// Finds the sparse parts of an entity; `None` when one is missing that is not optional.
    ///
    /// # Safety
    /// The pointers are of a live store.
    #[doc(hidden)]
    unsafe fn spots(ptrs: Self::Ptrs, entity: Entity) -> Option<Self::Spots>;

    /// As `spots`, for the entity of a row of a set's table, which need not be looked up there.
    ///
    /// # Safety
    /// As for `spots`; the entity has this row in the table of a set.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn spots_led(ptrs: Self::Ptrs, entity: Entity, _table: usize, _row: usize) -> Option<Self::Spots> {
        // SAFETY: forwarded.
        unsafe { Self::spots(ptrs, entity) }
    }

    /// The lanes for a walk along so many rows of a set. Where these are most of another set, all of that is marked at once.
    ///
    /// # Safety
    /// As for `ptrs`; the caller has the access that the fetch needs.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn led(lanes: Self::Lanes, _len: usize) -> Self::Lanes {
        lanes
    }

    /// Reports each set that every entity visited is in.
    #[doc(hidden)]
    #[inline(always)]
    fn drivers(_lanes: Self::Lanes, _report: &mut impl FnMut(Driver)) {}

    /// # Safety
    /// `row` is in range, `spots` are those of its entity, and for `'a` nothing else uses the row's written columns, or writes its read ones.
    #[doc(hidden)]
    unsafe fn item<'a>(ptrs: Self::Ptrs, row: usize, spots: Self::Spots) -> Self::Item<'a>;

    /// As `item`, for a row that is looked up for itself: whoever asks whether it was found need not look at references to
    /// know that they are some.
    ///
    /// # Safety
    /// As for `item`.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn single<'a>(ptrs: Self::Ptrs, row: usize, spots: Self::Spots) -> Self::Item<'a> {
        // SAFETY: forwarded.
        unsafe { Self::item(ptrs, row, spots) }
    }

    /// # Safety
    /// As for `item`, for all rows of the run; the fetch is dense.
    #[doc(hidden)]
    unsafe fn slices<'a>(ptrs: Self::Ptrs, start: usize, len: usize) -> Self::Slices<'a>;

    /// The newest tick among the blocks that hold `start`, of the columns in use.
    ///
    /// # Safety
    /// As for `ptrs`; the row is in range.
    #[doc(hidden)]
    unsafe fn block_tick(_lanes: Self::Lanes, _table: usize, _block: usize) -> Tick {
        Tick::ZERO
    }

    /// Whether a row of the block may be newer than `since`, as far as it is asked for; `moved` is when rows of it
    /// last came, went or moved.
    ///
    /// # Safety
    /// As for `block_tick`.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn block_is_newer(
        _lanes: Self::Lanes,
        _table: usize,
        _block: usize,
        _moved: Tick,
        _since: Tick,
    ) -> bool {
        true
    }

    /// The first row from `row` on that may be newer than `since`; `end` when there is none before.
    ///
    /// # Safety
    /// As for `item`, for the rows from `row` to `end`, which is not below it, reading only.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn next_newer(_ptrs: Self::Ptrs, row: usize, _end: usize, _since: Tick) -> usize {
        row
    }
}

/// A [`Fetch`] that writes nothing.
///
/// # Safety
/// No access that `visit` reports writes.
pub unsafe trait ReadFetch: Fetch<ReadOnly = Self> {}

/// A [`Fetch`] without sparse parts: runs of rows are slices.
///
/// # Safety
/// `DENSE` is true, and `slices` is implemented.
#[diagnostic::on_unimplemented(
    message = "a part of this query lives in a sparse set",
    label = "slices of a table need every part to be in the table",
    note = "iterate rows with `iter` or `iter_mut`, or make a group of the sparse components"
)]
pub unsafe trait DenseFetch: Fetch {}

/// A [`Fetch`] of sparse sets alone, of which runs of rows can be had as slices.
///
/// # Safety
/// `set_slices` reaches only the columns that `visit` reports.
pub unsafe trait SetFetch: Fetch {
    /// `None` when columns that belong together are not in one set.
    ///
    /// # Safety
    /// Every column reported is one of a set that has these rows, none of them a hole, and the caller has the access
    /// that the fetch needs for as long as the store is borrowed.
    #[doc(hidden)]
    unsafe fn set_slices(store: &Store, ids: Self::Ids, rows: Range<usize>) -> Option<Self::Slices<'_>>;

    /// Whether every part has a set, with all of its columns.
    #[doc(hidden)]
    fn is_whole(lanes: Self::Lanes) -> bool;

    /// Records that the first rows of each set are written.
    ///
    /// # Safety
    /// The lanes are whole, of a live store, and each set has as many rows.
    #[doc(hidden)]
    unsafe fn mark_members(lanes: Self::Lanes, len: usize);

    /// What stands at one row of each set.
    ///
    /// # Safety
    /// The pointers are whole, of a live store. Each set has the row, which is no hole, and access is as for `item`.
    #[doc(hidden)]
    unsafe fn at_row<'a>(ptrs: Self::Ptrs, row: usize) -> Self::Item<'a>;

    /// What an entity has in each set.
    ///
    /// # Safety
    /// The pointers are whole, of a live store. The entity is in each set, and access is as for `item`.
    #[doc(hidden)]
    unsafe fn of_member<'a>(ptrs: Self::Ptrs, entity: Entity) -> Self::Item<'a>;
}

/// The dense side of a set that a query can follow.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Driver {
    /// The table of the set's rows.
    pub(crate) table: TableId,
    /// The entities of the rows; the placeholder, which is never found, in holes.
    pub(crate) owners: *const Entity,
    pub(crate) len: usize,
    /// Whether rows of the set are holes.
    pub(crate) holes: bool,
}

impl Driver {
    /// The entities of the set's rows.
    ///
    /// # Safety
    /// The store lives for `'w`, and its structure stands still.
    #[inline(always)]
    pub(crate) unsafe fn entities<'w>(self) -> &'w [Entity] {
        if self.len == 0 {
            // A set that does not exist has no memory, either.
            return &[];
        }
        // SAFETY: each row of a set has an owner (I10, I11); the caller keeps them where they are.
        unsafe { std::slice::from_raw_parts(self.owners, self.len) }
    }
}

macro_rules! fetch_tuple {
    ($(($name:ident $at:tt))*) => {
        impl<$($name: Fetch),*> Sealed for ($($name,)*) {}

        // SAFETY: reaches what the parts reach; all methods forward, part by part.
        #[allow(unused_variables, clippy::unused_unit)]
        unsafe impl<$($name: Fetch),*> Fetch for ($($name,)*) {
            type Ids = ($($name::Ids,)*);
            type Item<'a> = ($($name::Item<'a>,)*);
            type Slices<'a> = ($($name::Slices<'a>,)*);
            type ReadOnly = ($($name::ReadOnly,)*);
            type Lanes = ($($name::Lanes,)*);
            type Ptrs = ($($name::Ptrs,)*);
            type Spots = ($($name::Spots,)*);
            const DENSE: bool = true $(&& $name::DENSE)*;
            const ROWED: bool = false $(|| $name::ROWED)*;
            const TABLELESS: bool = true $(&& $name::TABLELESS)*;
            const IN_SETS: bool = false $(|| $name::IN_SETS)*;
            const MARKS: bool = false $(|| $name::MARKS)*;
            const SKIPS: bool = false $(|| $name::SKIPS)*;

            #[inline(always)]
            fn visit(ids: Self::Ids, report: &mut dyn FnMut(Access)) {
                $($name::visit(ids.$at, report);)*
            }
            #[inline(always)]
            fn lanes(store: &Store, ids: Self::Ids, now: Tick) -> Self::Lanes {
                ($($name::lanes(store, ids.$at, now),)*)
            }
            #[inline(always)]
            unsafe fn present(lanes: Self::Lanes, table: usize) -> bool {
                // SAFETY: forwarded.
                true $(&& unsafe { $name::present(lanes.$at, table) })*
            }
            #[inline(always)]
            unsafe fn ptrs(lanes: Self::Lanes, table: usize) -> Self::Ptrs {
                // SAFETY: forwarded.
                ($(unsafe { $name::ptrs(lanes.$at, table) },)*)
            }
            #[inline(always)]
            fn rowless(ptrs: Self::Ptrs, entity: &Entity) -> Self::Ptrs {
                ($($name::rowless(ptrs.$at, entity),)*)
            }
            #[inline(always)]
            unsafe fn mark(lanes: Self::Lanes, table: usize, start: usize, len: usize, now: Tick) {
                // SAFETY: forwarded.
                $(unsafe { $name::mark(lanes.$at, table, start, len, now) };)*
            }
            #[inline(always)]
            unsafe fn mark_row(lanes: Self::Lanes, table: usize, row: usize, now: Tick) {
                // SAFETY: forwarded.
                $(unsafe { $name::mark_row(lanes.$at, table, row, now) };)*
            }
            #[inline(always)]
            unsafe fn spots(ptrs: Self::Ptrs, entity: Entity) -> Option<Self::Spots> {
                // SAFETY: forwarded.
                Some(($(match unsafe { $name::spots(ptrs.$at, entity) } {
                    Some(spots) => spots,
                    None => return None,
                },)*))
            }
            #[inline(always)]
            unsafe fn spots_led(
                ptrs: Self::Ptrs,
                entity: Entity,
                table: usize,
                row: usize,
            ) -> Option<Self::Spots> {
                // SAFETY: forwarded.
                Some(($(unsafe { $name::spots_led(ptrs.$at, entity, table, row) }?,)*))
            }
            #[inline(always)]
            unsafe fn led(lanes: Self::Lanes, len: usize) -> Self::Lanes {
                // SAFETY: forwarded.
                ($(unsafe { $name::led(lanes.$at, len) },)*)
            }
            #[inline]
            fn drivers(lanes: Self::Lanes, report: &mut impl FnMut(Driver)) {
                $($name::drivers(lanes.$at, report);)*
            }
            #[inline(always)]
            unsafe fn item<'a>(ptrs: Self::Ptrs, row: usize, spots: Self::Spots) -> Self::Item<'a> {
                // SAFETY: forwarded.
                ($(unsafe { $name::item(ptrs.$at, row, spots.$at) },)*)
            }
            #[inline(always)]
            unsafe fn single<'a>(ptrs: Self::Ptrs, row: usize, spots: Self::Spots) -> Self::Item<'a> {
                // SAFETY: forwarded.
                ($(unsafe { $name::single(ptrs.$at, row, spots.$at) },)*)
            }
            #[inline(always)]
            unsafe fn slices<'a>(ptrs: Self::Ptrs, start: usize, len: usize) -> Self::Slices<'a> {
                // SAFETY: forwarded.
                ($(unsafe { $name::slices(ptrs.$at, start, len) },)*)
            }
            unsafe fn block_tick(lanes: Self::Lanes, table: usize, block: usize) -> Tick {
                // SAFETY: forwarded.
                Tick::ZERO$(.max(unsafe { $name::block_tick(lanes.$at, table, block) }))*
            }
            #[inline(always)]
            unsafe fn block_is_newer(lanes: Self::Lanes, table: usize, block: usize, moved: Tick, since: Tick) -> bool {
                // SAFETY: forwarded.
                true $(&& unsafe { $name::block_is_newer(lanes.$at, table, block, moved, since) })*
            }
            #[inline(always)]
            unsafe fn next_newer(ptrs: Self::Ptrs, row: usize, end: usize, since: Tick) -> usize {
                // Each part passes over what it does not want; what is left may still be passed over by an earlier one.
                // SAFETY: forwarded: each answer is within the rows.
                $(let row = unsafe { $name::next_newer(ptrs.$at, row, end, since) };)*
                row
            }
        }
        // SAFETY: reports what the parts report.
        unsafe impl<$($name: ReadFetch),*> ReadFetch for ($($name,)*) {}
        // SAFETY: all parts are dense.
        unsafe impl<$($name: DenseFetch),*> DenseFetch for ($($name,)*) {}
        // SAFETY: forwarded, part by part.
        #[allow(unused_variables, clippy::unused_unit)]
        unsafe impl<$($name: SetFetch),*> SetFetch for ($($name,)*) {
            unsafe fn set_slices(store: &Store, ids: Self::Ids, rows: Range<usize>) -> Option<Self::Slices<'_>> {
                // SAFETY: forwarded.
                Some(($(unsafe { $name::set_slices(store, ids.$at, rows.clone()) }?,)*))
            }
            fn is_whole(lanes: Self::Lanes) -> bool {
                true $(&& $name::is_whole(lanes.$at))*
            }
            unsafe fn mark_members(lanes: Self::Lanes, len: usize) {
                // SAFETY: forwarded.
                $(unsafe { $name::mark_members(lanes.$at, len) };)*
            }
            #[inline(always)]
            unsafe fn at_row<'a>(ptrs: Self::Ptrs, row: usize) -> Self::Item<'a> {
                // SAFETY: forwarded.
                ($(unsafe { $name::at_row(ptrs.$at, row) },)*)
            }
            #[inline(always)]
            unsafe fn of_member<'a>(ptrs: Self::Ptrs, entity: Entity) -> Self::Item<'a> {
                // SAFETY: forwarded.
                ($(unsafe { $name::of_member(ptrs.$at, entity) },)*)
            }
        }
    };
}
crate::for_each_tuple!(fetch_tuple);
