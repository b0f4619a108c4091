//! The values of one row as a type: a tree of tuples with [`Col<T>`] at its ends.
//!
//! `((Col<f32>, Col<f32>), Col<Health>)` is a row of three columns. Moving such a value into a row, out of
//! a row, or over what stands there compiles to plain copies. Which column a column belongs to is settled
//! when a plan is made (`plan`): a column then finds its column by its position in the plan.
//!
//! No user code runs in this file: values that were replaced are handed back, to be dropped by the caller
//! once every structure is valid again.

use std::ptr;

use crate::column_id::{AnyColId, ColId};
use crate::table_columns::Columns;

pub use maybe::Maybe;

mod maybe;
mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// The value of one column in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Col<T>(pub T);

/// As [`Col`], but where the row has a value already, that value stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep<T>(pub T);

/// What to do with values that the row has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The new value takes the place of the old one.
    Replace,
    /// The old value stays.
    Keep,
}

/// Takes the values of a row one by one.
pub trait ColumnSink {
    /// One value. `existing` says what it means for a row that has one already.
    fn column<T: Send + Sync + 'static>(&mut self, id: ColId<T>, value: T, existing: Existing);
}

/// The values of a row. Implemented for [`Col`], [`Keep`], [`Maybe`] and tuples of them; it cannot be implemented
/// elsewhere.
///
/// # Safety
/// All methods visit the same columns in the same order, which are `COLUMNS` many; `ALL` and `NONE` mask all of them and
/// none. `pointers` gives each column the data pointer of its slot, or any aligned one where there is no memory.
pub unsafe trait Values: Sized + Send + Sync + 'static + Sealed {
    /// The column ids of the value columns, in the same shape.
    type Ids: Copy;
    /// What a row held before: one optional value per column.
    #[doc(hidden)]
    type Old: Send + Sync + 'static;
    /// Base pointers of the values' columns in one table.
    #[doc(hidden)]
    type Pointers: Copy;
    /// Which columns the row has already.
    #[doc(hidden)]
    type Mask: Copy;
    /// All columns are there.
    #[doc(hidden)]
    const ALL: Self::Mask;
    /// No column is there.
    #[doc(hidden)]
    const NONE: Self::Mask;
    /// How many columns there are.
    const COLUMNS: usize;

    /// Appends the column ids in column order.
    fn list(ids: Self::Ids, out: &mut Vec<AnyColId>);

    /// The column of the only value, which is always there; `None` where there are none or several, or it may be
    /// absent.
    #[doc(hidden)]
    #[inline(always)]
    fn lone(_: Self::Ids) -> Option<AnyColId> {
        None
    }

    /// Hands each value to `sink`, in column order.
    fn scatter(self, ids: Self::Ids, sink: &mut impl ColumnSink);

    /// Whether each column may be absent from the row, in column order.
    #[doc(hidden)]
    fn optional(out: &mut Vec<bool>);

    /// Whether the values that are there are those with a column: always, but for optional columns.
    #[doc(hidden)]
    fn fits(&self, slots: &mut Columns<'_>) -> bool;

    /// Whether the table has all columns, or none.
    #[doc(hidden)]
    fn have_columns(slots: &mut Columns<'_>, all: bool) -> bool;

    /// The base pointers of the values' columns, of which there is a slot each; dangling where there is none, or no
    /// memory.
    #[doc(hidden)]
    fn pointers(slots: &mut Columns<'_>) -> Self::Pointers;

    /// Whether each optional part has all of its columns, or none.
    #[doc(hidden)]
    fn are_whole(pointers: Self::Pointers) -> bool;

    /// Appends the data pointers of the columns with memory.
    #[doc(hidden)]
    fn data(pointers: Self::Pointers, out: &mut Vec<*mut u8>);

    /// As [`Values::fits`], for columns that are whole.
    #[doc(hidden)]
    fn fits_at(&self, pointers: Self::Pointers) -> bool;

    /// Which columns are present, found likewise.
    #[doc(hidden)]
    fn mask(present: &mut std::slice::Iter<'_, bool>) -> Self::Mask;

    /// Writes to a row that holds nothing yet.
    ///
    /// # Safety
    /// The values [fit](Values::fits): each has a column. The pointer of each column that is there is its data, of the
    /// value's type, with room for `row`.
    #[doc(hidden)]
    unsafe fn write(self, pointers: Self::Pointers, row: usize);

    /// Writes to a row that holds the masked columns already, and returns what is left over.
    ///
    /// # Safety
    /// As for `write`; at `row`, masked columns that are there are initialised, and the others hold nothing.
    #[doc(hidden)]
    unsafe fn merge(
        self,
        pointers: Self::Pointers,
        mask: Self::Mask,
        row: usize,
        existing: Existing,
    ) -> Self::Old;

    /// Moves the masked columns out of a row.
    ///
    /// # Safety
    /// The pointer of each masked column is its data, of the value's type, and initialised at `row`, which must not be read
    /// as initialised there afterwards. A column that is absent is not masked, unless its whole optional part is absent.
    #[doc(hidden)]
    unsafe fn take(pointers: Self::Pointers, mask: Self::Mask, row: usize) -> Self::Old;

    /// Copies the masked columns from one row to another, whose own are not needed any more.
    ///
    /// # Safety
    /// As for `take`, from the one row; there is room for the other, which differs. Afterwards only one of them counts as
    /// initialised.
    #[doc(hidden)]
    unsafe fn shift(pointers: Self::Pointers, mask: Self::Mask, from: usize, to: usize);

    /// The whole value, when no column is missing.
    #[doc(hidden)]
    fn complete(old: Self::Old) -> Option<Self>;
}

macro_rules! single_value {
    ($value:ident, $keeps:expr) => {
        impl<T: Send + Sync + 'static> Sealed for $value<T> {}

        // SAFETY: one column, which every method visits, and whose mask is whether it is there.
        unsafe impl<T: Send + Sync + 'static> Values for $value<T> {
            type Ids = ColId<T>;
            type Old = Option<T>;
            type Pointers = *mut T;
            type Mask = bool;
            const ALL: bool = true;
            const NONE: bool = false;
            const COLUMNS: usize = 1;

            fn list(ids: Self::Ids, out: &mut Vec<AnyColId>) {
                out.push(ids.any());
            }
            #[inline(always)]
            fn lone(ids: Self::Ids) -> Option<AnyColId> {
                Some(ids.any())
            }
            fn scatter(self, ids: Self::Ids, sink: &mut impl ColumnSink) {
                sink.column(ids, self.0, if $keeps { Existing::Keep } else { Existing::Replace });
            }
            fn optional(out: &mut Vec<bool>) {
                out.push(false);
            }
            #[inline(always)]
            fn fits(&self, slots: &mut Columns<'_>) -> bool {
                slots.next();
                true
            }
            fn have_columns(slots: &mut Columns<'_>, all: bool) -> bool {
                slots.next().is_some_and(|slot| slot.is_absent() != all)
            }
            #[inline(always)]
            fn pointers(slots: &mut Columns<'_>) -> *mut T {
                match slots.next() {
                    Some(column) if size_of::<T>() > 0 => column.data().cast(),
                    // Without memory, any aligned pointer will do.
                    _ => ptr::without_provenance_mut(align_of::<T>()),
                }
            }
            #[inline(always)]
            fn are_whole(_: *mut T) -> bool {
                true
            }
            fn data(pointers: *mut T, out: &mut Vec<*mut u8>) {
                if size_of::<T>() > 0 {
                    out.push(pointers.cast());
                }
            }
            #[inline(always)]
            fn fits_at(&self, _: *mut T) -> bool {
                true
            }
            #[inline(always)]
            fn mask(present: &mut std::slice::Iter<'_, bool>) -> bool {
                present.next().copied().unwrap_or(false)
            }
            #[inline(always)]
            unsafe fn write(self, pointers: *mut T, row: usize) {
                // SAFETY: forwarded: the pointer is that of a column of `T` with room for the row (I1, I3).
                unsafe { pointers.add(row).write(self.0) }
            }
            #[inline(always)]
            unsafe fn merge(self, pointers: *mut T, mask: bool, row: usize, existing: Existing) -> Option<T> {
                if mask && ($keeps || existing == Existing::Keep) {
                    return Some(self.0);
                }
                // SAFETY: forwarded: the column has room for the row (I1, I3). Where it is masked it is initialised there (I2),
                // and moved out before it is written.
                unsafe {
                    let old = Self::take(pointers, mask, row);
                    self.write(pointers, row);
                    old
                }
            }
            #[inline(always)]
            unsafe fn take(pointers: *mut T, mask: bool, row: usize) -> Option<T> {
                // SAFETY: forwarded: a masked column holds a `T` at the row (I1, I2), which the caller forgets there.
                if mask { Some(unsafe { pointers.add(row).read() }) } else { None }
            }
            #[inline(always)]
            unsafe fn shift(pointers: *mut T, mask: bool, from: usize, to: usize) {
                if mask {
                    // SAFETY: forwarded: both rows are within the column, and differ, so that they do not overlap (I3).
                    unsafe { pointers.add(from).copy_to_nonoverlapping(pointers.add(to), 1) };
                }
            }
            #[inline]
            fn complete(old: Option<T>) -> Option<Self> {
                old.map($value)
            }
        }
    };
}
single_value!(Col, false);
single_value!(Keep, true);

macro_rules! values_tuple {
    ($(($name:ident $at:tt))*) => {
        impl<$($name: Values),*> Sealed for ($($name,)*) {}

        // SAFETY: every method visits the parts in order, and so their columns; constants are those of the parts together.
        #[allow(unused_variables, clippy::unused_unit)]
        unsafe impl<$($name: Values),*> Values for ($($name,)*) {
            type Ids = ($($name::Ids,)*);
            type Old = ($($name::Old,)*);
            type Pointers = ($($name::Pointers,)*);
            type Mask = ($($name::Mask,)*);
            const ALL: Self::Mask = ($($name::ALL,)*);
            const NONE: Self::Mask = ($($name::NONE,)*);
            const COLUMNS: usize = 0 $(+ $name::COLUMNS)*;

            fn list(ids: Self::Ids, out: &mut Vec<AnyColId>) {
                $($name::list(ids.$at, out);)*
            }
            #[inline(always)]
            fn lone(ids: Self::Ids) -> Option<AnyColId> {
                if Self::COLUMNS == 1 { None $(.or($name::lone(ids.$at)))* } else { None }
            }
            fn scatter(self, ids: Self::Ids, sink: &mut impl ColumnSink) {
                $(self.$at.scatter(ids.$at, sink);)*
            }
            fn optional(out: &mut Vec<bool>) {
                $($name::optional(out);)*
            }
            #[inline(always)]
            fn fits(&self, slots: &mut Columns<'_>) -> bool {
                true $(& self.$at.fits(slots))*
            }
            fn have_columns(slots: &mut Columns<'_>, all: bool) -> bool {
                true $(& $name::have_columns(slots, all))*
            }
            #[inline(always)]
            fn pointers(slots: &mut Columns<'_>) -> Self::Pointers {
                ($($name::pointers(slots),)*)
            }
            #[inline(always)]
            fn are_whole(pointers: Self::Pointers) -> bool {
                true $(& $name::are_whole(pointers.$at))*
            }
            fn data(pointers: Self::Pointers, out: &mut Vec<*mut u8>) {
                $($name::data(pointers.$at, out);)*
            }
            #[inline(always)]
            fn fits_at(&self, pointers: Self::Pointers) -> bool {
                true $(& self.$at.fits_at(pointers.$at))*
            }
            #[inline(always)]
            fn mask(present: &mut std::slice::Iter<'_, bool>) -> Self::Mask {
                ($($name::mask(present),)*)
            }
            #[inline(always)]
            unsafe fn write(self, pointers: Self::Pointers, row: usize) {
                // SAFETY: forwarded, part by part: what is promised for all columns is promised for those of each part.
                $(unsafe { self.$at.write(pointers.$at, row) };)*
            }
            #[inline(always)]
            unsafe fn merge(
                self,
                pointers: Self::Pointers,
                mask: Self::Mask,
                row: usize,
                existing: Existing,
            ) -> Self::Old {
                // SAFETY: forwarded, part by part, as for `write`; no two parts have a column in common (I7).
                ($(unsafe { self.$at.merge(pointers.$at, mask.$at, row, existing) },)*)
            }
            #[inline(always)]
            unsafe fn take(pointers: Self::Pointers, mask: Self::Mask, row: usize) -> Self::Old {
                // SAFETY: forwarded, part by part, as for `merge`.
                ($(unsafe { $name::take(pointers.$at, mask.$at, row) },)*)
            }
            #[inline(always)]
            unsafe fn shift(pointers: Self::Pointers, mask: Self::Mask, from: usize, to: usize) {
                // SAFETY: forwarded, part by part, as for `merge`.
                $(unsafe { $name::shift(pointers.$at, mask.$at, from, to) };)*
            }
            #[inline]
            fn complete(old: Self::Old) -> Option<Self> {
                Some(($($name::complete(old.$at)?,)*))
            }
        }
    };
}
crate::for_each_tuple!(values_tuple);
