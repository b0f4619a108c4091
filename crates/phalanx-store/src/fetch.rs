//! What a query visits, as a type: a tree of tuples over terms such as [`Read<T>`] and [`Write<T>`].
//!
//! The store walks tables and rows itself and asks the tree for pointers once per table, so a loop over
//! `(Write<f32>, Read<f32>)` compiles to the loop one would write by hand over two slices.
//!
//! ```text
//!   Ids          which columns                       once per query
//!   Cells        their cells: a pointer per column   once per run
//!   Ptrs         their rows in one table             once per table
//!   SparseRows   the entity's rows in sparse sets    per row, nothing for table columns
//!   Item         references into one row             per row
//! ```
//!
//! `Cells` and `Ptrs` carry no lifetime, because a lifetime in them would make views invariant; `view`
//! attaches it. The trait is sealed: new kinds of terms are added here.

use std::ops::Range;
use std::ptr::NonNull;

use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::location::TableId;
use crate::store::Store;
use crate::tick::Tick;

pub use columns::{EntityIds, HasCol, Now, Opt, Read, RowTick, Write, WriteUntracked};
pub use one_of::OneOf;
pub use sparse::{HasSet, InSet, Member, NotMember};
pub use spawn_tick::SpawnTick;
pub use via::{Link, Via};
pub use whole::{TableOf, WholeRow, WholeRowMut};

mod columns;
mod one_of;
mod sparse;
mod spawn_tick;
mod via;
mod whole;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// How a term uses its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The column.
    pub column: AnyColId,
    /// Whether values are written.
    pub writes: bool,
    /// Whether tables without the column are visited as well.
    pub optional: bool,
    /// Whether the column is one of a sparse set, or of the table of another entity, so that the visited table need not
    /// have it.
    pub in_set: bool,
    /// Whether values are copied before parts that follow get their references, so that these may write them.
    pub copies: bool,
    /// Where it is not this column that is used but every one except these, whatever columns there are.
    pub whole: Option<&'static [AnyColId]>,
}

impl Access {
    /// Whether it uses a column.
    pub fn reaches(&self, column: AnyColId) -> bool {
        match self.whole {
            None => self.column == column,
            Some(except) => !except.contains(&column),
        }
    }

    /// Whether this access includes another one: the same column, written only where it is written here,
    /// needed only where it is needed here. Whether values are copied makes no difference: the flag of a copied column is
    /// held like any other.
    pub fn covers(&self, asked: &Self) -> bool {
        self.column == asked.column
            && self.in_set == asked.in_set
            && self.whole == asked.whole
            && (self.writes || !asked.writes)
            && (asked.optional || !self.optional)
    }

    /// Whether a use that comes before another one cannot go together with it.
    #[inline(always)]
    pub(crate) fn clashes_with(&self, later: &Self) -> bool {
        let meet = match (self.whole, later.whole) {
            (None, None) => self.column == later.column,
            (_, None) => self.reaches(later.column),
            (None, _) => later.reaches(self.column),
            (Some(_), Some(_)) => true,
        };
        meet && (self.writes || later.writes) && !self.copies
    }
}

/// Which rows are written.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Marked {
    /// So many from the first on.
    Run(usize, usize),
    /// One.
    Row(usize),
}

/// What is known of an entity before it is looked up in sets.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// It lives.
    Alive,
    /// It lives, and has this row in the table of a set. A table of no set tells only that it lives.
    Row(TableId, usize),
}

/// A set of columns to visit together. It cannot be implemented outside this crate.
///
/// # Safety
/// `visit` reports every column the other methods reach, and `item`, `slices` and `mark` reach only these.
/// `ptrs` serves each table, and the place of those without rows, that has each column which `visit` reports as neither
/// optional nor in a set: these are the ones that a query may visit. `ReadOnly` reaches the same columns, in the same
/// places. What `visit` reports as copied is read by `item`, of the visited entity, and by `next_newer` alone. `sparse_rows`
/// reads no value but those of links, which `visit` reports, and not as copied. The constants are true, and so is
/// `is_marked`; `Cells`, `Ptrs` and `SparseRows` are pointers into the fetch's store, ids, ticks and numbers, which may be used
/// on any thread, and sparse rows of no size are units (I14).
pub unsafe trait Fetch: 'static + Sealed {
    /// Which columns.
    type Ids: Copy + Send + Sync + 'static;
    /// One row.
    type Item<'a>;
    /// A run of rows of one table.
    type Slices<'a>;
    /// The same columns, none of them written.
    type ReadOnly: ReadFetch<Ids = Self::Ids, Cells = Self::Cells>;
    #[doc(hidden)]
    type Cells: Copy;
    #[doc(hidden)]
    type Ptrs: Copy;
    #[doc(hidden)]
    type SparseRows: Copy;

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
    /// Whether nothing but sets is asked, and one of them can drive.
    #[doc(hidden)]
    const SETS_ALONE: bool = Self::TABLELESS && Self::IN_SETS;
    /// Whether `visit` reports one column, so that no two parts can alias.
    #[doc(hidden)]
    const SINGLE: bool = false;
    /// Whether a walk may skip rows, and whole blocks, that are not newer than its moment.
    #[doc(hidden)]
    const SKIPS: bool = false;
    /// Whether the store has to keep the ticks at which entities are spawned.
    #[doc(hidden)]
    const SPAWN_TICKS: bool = false;

    /// Whether rows of other entities than the visited one are reached, those that links lead to.
    #[doc(hidden)]
    const FAR: bool = false;

    /// Whether `SparseRows` is made of units: there is nothing to find, and nothing is compiled to find it.
    #[doc(hidden)]
    const UNITS: bool = Self::DENSE && size_of::<Self::SparseRows>() == 0;

    /// Whether `mark` does anything.
    #[doc(hidden)]
    const MARKS: bool = false;

    /// Whether a column may be written: never of a fetch that only reads.
    #[doc(hidden)]
    const WRITES: bool;

    /// Reports each column in use.
    fn visit(ids: Self::Ids, report: &mut dyn FnMut(Access));

    #[doc(hidden)]
    fn cells(store: &Store, ids: Self::Ids, now: Tick) -> Self::Cells;

    /// Where the columns are in a table; `None` when it lacks one that is not optional.
    ///
    /// # Safety
    /// The cells are of a live store that has this table, and whose structure did not change since they were taken.
    #[doc(hidden)]
    unsafe fn find(cells: Self::Cells, table: usize) -> Option<Self::Ptrs>;

    /// As `find`, where the columns are known to be there.
    ///
    /// # Safety
    /// As for `find`; the table has each column that is neither optional nor in a set.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn ptrs(cells: Self::Cells, table: usize) -> Self::Ptrs {
        // SAFETY: forwarded: a fetch is found in each table that has the columns which it cannot do without, by the promise
        // of the trait; `OneOf`, which is not, has a `ptrs` of its own (I4).
        unsafe { Self::find(cells, table).unwrap_unchecked() }
    }

    /// Whether a part of a tuple is there for an entity with these sparse rows; without them, whether it may be there
    /// in rows of the table.
    #[doc(hidden)]
    #[inline(always)]
    fn some_found(_ptrs: Self::Ptrs, _sparse_rows: Option<Self::SparseRows>) -> bool {
        true
    }

    /// Puts an entity without a row in the place of the table's entities.
    #[doc(hidden)]
    #[inline(always)]
    fn rowless(ptrs: Self::Ptrs, _entity: &Entity) -> Self::Ptrs {
        ptrs
    }

    /// Records that rows are written.
    ///
    /// # Safety
    /// The columns were found in the table, which has the rows, and the caller has the access to write them.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn mark(_cells: Self::Cells, _table: usize, _rows: Marked, _now: Tick) {}

    /// Finds the sparse parts of an entity; `None` when one is missing that is not optional.
    ///
    /// # Safety
    /// The pointers are of a live store that stands still, and the caller has the access that the fetch needs: links are
    /// read. What is known of the entity is true, unless nothing of the fetch is looked up (`DENSE`).
    #[doc(hidden)]
    unsafe fn sparse_rows(ptrs: Self::Ptrs, entity: Entity, known: Known) -> Option<Self::SparseRows>;

    /// The cells for a walk along so many rows of a set. Where these are most of another set, all of that is marked at
    /// once.
    ///
    /// # Safety
    /// The cells are of a live store; the caller has the access that the fetch needs.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn drive(cells: Self::Cells, _len: usize) -> Self::Cells {
        cells
    }

    /// Whether `item` marks nothing for these pointers: all blocks of sets that may be written are marked already.
    #[doc(hidden)]
    #[inline(always)]
    fn is_marked(_ptrs: Self::Ptrs) -> bool {
        true
    }

    /// Reports each set that every entity visited is in.
    #[doc(hidden)]
    #[inline(always)]
    fn drivers(_cells: Self::Cells, _report: &mut impl FnMut(Driver)) {}

    /// # Safety
    /// The pointers are those of the table of `row`, which is in range, or of an entity without a row, and `row` is 0; a
    /// fetch that reaches no table (I14) looks at neither. `sparse_rows` were found with them for the row's entity, and for
    /// `'a` nothing else uses the row's written columns, or writes its read ones.
    #[doc(hidden)]
    unsafe fn item<'a>(ptrs: Self::Ptrs, row: usize, sparse_rows: Self::SparseRows) -> Self::Item<'a>;

    /// # Safety
    /// As for `item`, for all rows of the run; the fetch is dense.
    #[doc(hidden)]
    unsafe fn slices<'a>(ptrs: Self::Ptrs, start: usize, len: usize) -> Self::Slices<'a>;

    /// The newest tick of a block, among the columns in use.
    ///
    /// # Safety
    /// The columns were found in the table, and the block begins within its rows.
    #[doc(hidden)]
    unsafe fn block_tick(_cells: Self::Cells, _table: usize, _block: usize) -> Tick {
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
        _cells: Self::Cells,
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

/// The sparse rows of a dense fetch, for which no entity is looked up.
///
/// # Safety
/// The fetch is dense, and the pointers are of a live store.
#[inline(always)]
pub(crate) unsafe fn dense_sparse_rows<F: Fetch>(ptrs: F::Ptrs) -> F::SparseRows {
    if F::UNITS {
        // SAFETY: sparse rows of no size are units (I14), which have one value and no bytes.
        unsafe { NonNull::<F::SparseRows>::dangling().read() }
    } else {
        // SAFETY: forwarded: a dense fetch misses nothing (I14).
        unsafe { F::sparse_rows(ptrs, Entity::PLACEHOLDER, Known::Nothing).unwrap_unchecked() }
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
    fn is_whole(cells: Self::Cells) -> bool;

    /// Records that the first rows of each set are written.
    ///
    /// # Safety
    /// The cells are whole, of a live store, and each set has as many rows; the caller has the access to write them.
    #[doc(hidden)]
    unsafe fn mark_members(cells: Self::Cells, len: usize);

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
    pub(crate) len: usize,
    /// Whether rows of the set are holes.
    pub(crate) holes: bool,
}

macro_rules! fetch_tuple {
    ($(($name:ident $at:tt))*) => {
        impl<$($name: Fetch),*> Sealed for ($($name,)*) {}

        // SAFETY: reaches what the parts reach, and is found where all of them are; all methods forward, part by part.
        #[allow(unused_variables, clippy::unused_unit)]
        unsafe impl<$($name: Fetch),*> Fetch for ($($name,)*) {
            type Ids = ($($name::Ids,)*);
            type Item<'a> = ($($name::Item<'a>,)*);
            type Slices<'a> = ($($name::Slices<'a>,)*);
            type ReadOnly = ($($name::ReadOnly,)*);
            type Cells = ($($name::Cells,)*);
            type Ptrs = ($($name::Ptrs,)*);
            type SparseRows = ($($name::SparseRows,)*);
            const DENSE: bool = true $(&& $name::DENSE)*;
            const ROWED: bool = false $(|| $name::ROWED)*;
            const TABLELESS: bool = true $(&& $name::TABLELESS)*;
            const IN_SETS: bool = false $(|| $name::IN_SETS)*;
            const MARKS: bool = false $(|| $name::MARKS)*;
            const SKIPS: bool = false $(|| $name::SKIPS)*;
            const SPAWN_TICKS: bool = false $(|| $name::SPAWN_TICKS)*;
            const FAR: bool = false $(|| $name::FAR)*;
            const WRITES: bool = false $(|| $name::WRITES)*;

            #[inline(always)]
            fn visit(ids: Self::Ids, report: &mut dyn FnMut(Access)) {
                $($name::visit(ids.$at, report);)*
            }
            #[inline(always)]
            fn cells(store: &Store, ids: Self::Ids, now: Tick) -> Self::Cells {
                ($($name::cells(store, ids.$at, now),)*)
            }
            #[inline(always)]
            unsafe fn find(cells: Self::Cells, table: usize) -> Option<Self::Ptrs> {
                // SAFETY: forwarded, part by part.
                Some(($(unsafe { $name::find(cells.$at, table) }?,)*))
            }
            // Not by `find`: the compiler would ask after all whether each part is there.
            #[inline(always)]
            unsafe fn ptrs(cells: Self::Cells, table: usize) -> Self::Ptrs {
                // SAFETY: forwarded, part by part.
                ($(unsafe { $name::ptrs(cells.$at, table) },)*)
            }
            #[inline(always)]
            fn some_found(ptrs: Self::Ptrs, sparse_rows: Option<Self::SparseRows>) -> bool {
                false $(|| $name::some_found(ptrs.$at, sparse_rows.map(|sparse_rows| sparse_rows.$at)))*
            }
            #[inline(always)]
            fn rowless(ptrs: Self::Ptrs, entity: &Entity) -> Self::Ptrs {
                ($($name::rowless(ptrs.$at, entity),)*)
            }
            #[inline(always)]
            unsafe fn mark(cells: Self::Cells, table: usize, rows: Marked, now: Tick) {
                // SAFETY: forwarded, part by part.
                $(unsafe { $name::mark(cells.$at, table, rows, now) };)*
            }
            #[inline(always)]
            unsafe fn sparse_rows(ptrs: Self::Ptrs, entity: Entity, known: Known) -> Option<Self::SparseRows> {
                // SAFETY: forwarded, part by part.
                Some(($(match unsafe { $name::sparse_rows(ptrs.$at, entity, known) } {
                    Some(sparse_rows) => sparse_rows,
                    None => return None,
                },)*))
            }
            #[inline(always)]
            unsafe fn drive(cells: Self::Cells, len: usize) -> Self::Cells {
                // SAFETY: forwarded, part by part.
                ($(unsafe { $name::drive(cells.$at, len) },)*)
            }
            #[inline(always)]
            fn is_marked(ptrs: Self::Ptrs) -> bool {
                true $(&& $name::is_marked(ptrs.$at))*
            }
            #[inline]
            fn drivers(cells: Self::Cells, report: &mut impl FnMut(Driver)) {
                $($name::drivers(cells.$at, report);)*
            }
            #[inline(always)]
            unsafe fn item<'a>(ptrs: Self::Ptrs, row: usize, sparse_rows: Self::SparseRows) -> Self::Item<'a> {
                // SAFETY: forwarded, part by part.
                ($(unsafe { $name::item(ptrs.$at, row, sparse_rows.$at) },)*)
            }
            #[inline(always)]
            unsafe fn slices<'a>(ptrs: Self::Ptrs, start: usize, len: usize) -> Self::Slices<'a> {
                // SAFETY: forwarded, part by part.
                ($(unsafe { $name::slices(ptrs.$at, start, len) },)*)
            }
            unsafe fn block_tick(cells: Self::Cells, table: usize, block: usize) -> Tick {
                // SAFETY: forwarded, part by part.
                Tick::ZERO$(.max(unsafe { $name::block_tick(cells.$at, table, block) }))*
            }
            #[inline(always)]
            unsafe fn block_is_newer(cells: Self::Cells, table: usize, block: usize, moved: Tick, since: Tick) -> bool {
                // SAFETY: forwarded, part by part.
                true $(&& unsafe { $name::block_is_newer(cells.$at, table, block, moved, since) })*
            }
            #[inline(always)]
            unsafe fn next_newer(ptrs: Self::Ptrs, row: usize, end: usize, since: Tick) -> usize {
                // Each part skips what it does not want; what is left may still be skipped by an earlier one.
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
                // SAFETY: forwarded, part by part.
                Some(($(unsafe { $name::set_slices(store, ids.$at, rows.clone()) }?,)*))
            }
            fn is_whole(cells: Self::Cells) -> bool {
                true $(&& $name::is_whole(cells.$at))*
            }
            unsafe fn mark_members(cells: Self::Cells, len: usize) {
                // SAFETY: forwarded, part by part.
                $(unsafe { $name::mark_members(cells.$at, len) };)*
            }
            #[inline(always)]
            unsafe fn at_row<'a>(ptrs: Self::Ptrs, row: usize) -> Self::Item<'a> {
                // SAFETY: forwarded, part by part.
                ($(unsafe { $name::at_row(ptrs.$at, row) },)*)
            }
            #[inline(always)]
            unsafe fn of_member<'a>(ptrs: Self::Ptrs, entity: Entity) -> Self::Item<'a> {
                // SAFETY: forwarded, part by part.
                ($(unsafe { $name::of_member(ptrs.$at, entity) },)*)
            }
        }
    };
}
crate::for_each_tuple!(fetch_tuple);
