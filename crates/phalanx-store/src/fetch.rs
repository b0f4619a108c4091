//! What a query visits, as a type: a tree of tuples with leaves such as [`R<T>`] and [`W<T>`].
//!
//! The store walks tables and rows itself and asks the tree for pointers once per table, so a loop over
//! `(W<f32>, R<f32>)` compiles to the loop one would write by hand over two slices.
//!
//! ```text
//!   Ids      which columns                       once per query
//!   Lanes    their lanes: a pointer per column   once per run
//!   Ptrs     their rows in one table             once per table
//!   Item     references into one row             per row
//! ```
//!
//! `Lanes` and `Ptrs` carry no lifetime, because a lifetime in them would make views invariant; `view`
//! attaches it. The trait is sealed: new kinds of leaves are added here.

use std::ptr;

use crate::column::LaneCell;
use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::store::Store;
use crate::tick::Tick;

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
}

/// A set of columns to visit together. It cannot be implemented outside this crate.
///
/// # Safety
/// `visit` reports every column the other methods reach, and `item`, `slices` and `mark` reach only these.
/// `ReadOnly` reaches the same columns and is present in the same tables.
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

    /// Reports each column in use.
    fn visit(ids: Self::Ids, report: &mut impl FnMut(Access));

    #[doc(hidden)]
    fn lanes(store: &Store, ids: Self::Ids) -> Self::Lanes;

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
    fn rowless(ptrs: Self::Ptrs, entity: &Entity) -> Self::Ptrs;

    /// Records that rows are written.
    ///
    /// # Safety
    /// As for `ptrs`; the rows are in range.
    #[doc(hidden)]
    unsafe fn mark(lanes: Self::Lanes, table: usize, start: usize, len: usize, now: Tick);

    /// # Safety
    /// `row` is in range, and for `'a` nothing else uses the row's written columns, or writes its read ones.
    #[doc(hidden)]
    unsafe fn item<'a>(ptrs: Self::Ptrs, row: usize) -> Self::Item<'a>;

    /// # Safety
    /// As for `item`, for all rows of the run.
    #[doc(hidden)]
    unsafe fn slices<'a>(ptrs: Self::Ptrs, start: usize, len: usize) -> Self::Slices<'a>;

    /// The newest tick among the blocks that hold `start`, of the columns in use.
    ///
    /// # Safety
    /// As for `ptrs`; the row is in range.
    #[doc(hidden)]
    unsafe fn block_tick(lanes: Self::Lanes, table: usize, block: usize) -> Tick;
}

/// A [`Fetch`] that writes nothing.
///
/// # Safety
/// No access that `visit` reports writes.
pub unsafe trait ReadFetch: Fetch<ReadOnly = Self> {}

/// Reads the column of `T`.
pub struct R<T>(std::marker::PhantomData<fn() -> T>);
/// Writes the column of `T`, and marks the blocks it visits.
pub struct W<T>(std::marker::PhantomData<fn() -> T>);
/// Writes the column of `T` without marking anything.
pub struct Wn<T>(std::marker::PhantomData<fn() -> T>);
/// The entity of each row.
pub struct Ents;
/// `F` where the table has it.
pub struct Opt<F>(std::marker::PhantomData<fn() -> F>);
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
            type Ptrs = *mut T;

            fn visit(ids: ColId<T>, report: &mut impl FnMut(Access)) {
                report(Access { column: ids.any(), writes: $writes, optional: false });
            }
            #[inline(always)]
            fn lanes(store: &Store, ids: ColId<T>) -> *const LaneCell {
                store.lane(ids.any())
            }
            #[inline(always)]
            unsafe fn present(lane: *const LaneCell, table: usize) -> bool {
                // SAFETY: forwarded.
                !unsafe { cell(lane, table) }.data.is_null()
            }
            #[inline(always)]
            unsafe fn ptrs(lane: *const LaneCell, table: usize) -> *mut T {
                // SAFETY: forwarded.
                unsafe { cell(lane, table) }.data.cast()
            }
            #[inline(always)]
            fn rowless(ptrs: *mut T, _: &Entity) -> *mut T {
                ptrs
            }
            #[inline(always)]
            unsafe fn mark(lane: *const LaneCell, table: usize, start: usize, len: usize, now: Tick) {
                if $marks {
                    // SAFETY: the table has the column (I4), and the rows are in range (I2).
                    unsafe { cell(lane, table).mark(start, len, size_of::<T>() > 0, now) }
                }
            }
            #[inline(always)]
            unsafe fn item<'a>(ptrs: *mut T, row: usize) -> $reference {
                // SAFETY: the row is initialised (I2), of type `T` (I1), and the caller grants access for `'a` (I6).
                unsafe { $deref(ptrs.add(row)) }
            }
            #[inline(always)]
            unsafe fn slices<'a>(ptrs: *mut T, start: usize, len: usize) -> $slice {
                // SAFETY: as for `item`, for each row of the run.
                unsafe { $from(ptrs.add(start), len) }
            }
            unsafe fn block_tick(lane: *const LaneCell, table: usize, block: usize) -> Tick {
                // SAFETY: the table has the column, and the block begins within its rows (I3, I4).
                unsafe { cell(lane, table).block_tick(block, size_of::<T>() > 0) }
            }
        }
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

impl Sealed for Ents {}
// SAFETY: entities are never written through a fetch; no component column is reached.
unsafe impl Fetch for Ents {
    type Ids = ();
    type Item<'a> = Entity;
    type Slices<'a> = &'a [Entity];
    type ReadOnly = Self;
    type Lanes = *const LaneCell;
    type Ptrs = *const Entity;

    fn visit((): (), _: &mut impl FnMut(Access)) {}
    #[inline(always)]
    fn lanes(store: &Store, (): ()) -> *const LaneCell {
        store.owners.as_ptr()
    }
    #[inline(always)]
    unsafe fn present(_: *const LaneCell, _: usize) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn ptrs(lane: *const LaneCell, table: usize) -> *const Entity {
        // SAFETY: forwarded.
        unsafe { cell(lane, table) }.data.cast()
    }
    #[inline(always)]
    fn rowless(_: *const Entity, entity: &Entity) -> *const Entity {
        ptr::from_ref(entity)
    }
    #[inline(always)]
    unsafe fn mark(_: *const LaneCell, _: usize, _: usize, _: usize, _: Tick) {}
    #[inline(always)]
    unsafe fn item<'a>(ptrs: *const Entity, row: usize) -> Self::Item<'a> {
        // SAFETY: each row has its entity (I5).
        unsafe { *ptrs.add(row) }
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: *const Entity, start: usize, len: usize) -> &'a [Entity] {
        // SAFETY: each row has its entity (I5), and entities are not written while rows are borrowed.
        unsafe { std::slice::from_raw_parts(ptrs.add(start), len) }
    }
    unsafe fn block_tick(_: *const LaneCell, _: usize, _: usize) -> Tick {
        Tick::ZERO
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for Ents {}

impl<F: Fetch> Sealed for Opt<F> {}
// SAFETY: reaches what `F` reaches.
unsafe impl<F: Fetch> Fetch for Opt<F> {
    type Ids = F::Ids;
    type Item<'a> = Option<F::Item<'a>>;
    type Slices<'a> = Option<F::Slices<'a>>;
    type ReadOnly = Opt<F::ReadOnly>;
    type Lanes = F::Lanes;
    type Ptrs = Option<F::Ptrs>;

    fn visit(ids: F::Ids, report: &mut impl FnMut(Access)) {
        F::visit(ids, &mut |access| report(Access { optional: true, ..access }));
    }
    #[inline(always)]
    fn lanes(store: &Store, ids: F::Ids) -> F::Lanes {
        F::lanes(store, ids)
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
    unsafe fn item<'a>(ptrs: Option<F::Ptrs>, row: usize) -> Option<F::Item<'a>> {
        // SAFETY: forwarded where `F` is present.
        ptrs.map(|ptrs| unsafe { F::item(ptrs, row) })
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

impl Sealed for HasCol {}
// SAFETY: reaches no values, only whether a lane is present, which does not change while rows are borrowed.
unsafe impl Fetch for HasCol {
    type Ids = AnyColId;
    type Item<'a> = bool;
    type Slices<'a> = bool;
    type ReadOnly = Self;
    type Lanes = *const LaneCell;
    type Ptrs = bool;

    fn visit(_: AnyColId, _: &mut impl FnMut(Access)) {}
    #[inline(always)]
    fn lanes(store: &Store, ids: AnyColId) -> *const LaneCell {
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
    fn rowless(ptrs: bool, _: &Entity) -> bool {
        ptrs
    }
    #[inline(always)]
    unsafe fn mark(_: *const LaneCell, _: usize, _: usize, _: usize, _: Tick) {}
    #[inline(always)]
    unsafe fn item<'a>(ptrs: bool, _: usize) -> Self::Item<'a> {
        ptrs
    }
    #[inline(always)]
    unsafe fn slices<'a>(ptrs: bool, _: usize, _: usize) -> Self::Slices<'a> {
        ptrs
    }
    unsafe fn block_tick(_: *const LaneCell, _: usize, _: usize) -> Tick {
        Tick::ZERO
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for HasCol {}

impl Sealed for Now {}
// SAFETY: reaches nothing.
unsafe impl Fetch for Now {
    type Ids = ();
    type Item<'a> = Tick;
    type Slices<'a> = Tick;
    type ReadOnly = Self;
    type Lanes = Tick;
    type Ptrs = Tick;

    fn visit((): (), _: &mut impl FnMut(Access)) {}
    #[inline(always)]
    fn lanes(store: &Store, (): ()) -> Tick {
        store.tick
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
    fn rowless(now: Tick, _: &Entity) -> Tick {
        now
    }
    #[inline(always)]
    unsafe fn mark(_: Tick, _: usize, _: usize, _: usize, _: Tick) {}
    #[inline(always)]
    unsafe fn item<'a>(now: Tick, _: usize) -> Self::Item<'a> {
        now
    }
    #[inline(always)]
    unsafe fn slices<'a>(now: Tick, _: usize, _: usize) -> Self::Slices<'a> {
        now
    }
    unsafe fn block_tick(_: Tick, _: usize, _: usize) -> Tick {
        Tick::ZERO
    }
}
// SAFETY: reports nothing.
unsafe impl ReadFetch for Now {}

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

            fn visit(ids: Self::Ids, report: &mut impl FnMut(Access)) {
                $($name::visit(ids.$at, report);)*
            }
            #[inline(always)]
            fn lanes(store: &Store, ids: Self::Ids) -> Self::Lanes {
                ($($name::lanes(store, ids.$at),)*)
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
            unsafe fn item<'a>(ptrs: Self::Ptrs, row: usize) -> Self::Item<'a> {
                // SAFETY: forwarded.
                ($(unsafe { $name::item(ptrs.$at, row) },)*)
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
        }
        // SAFETY: reports what the parts report.
        unsafe impl<$($name: ReadFetch),*> ReadFetch for ($($name,)*) {}
    };
}
crate::for_each_tuple!(fetch_tuple);
