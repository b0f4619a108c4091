//! A part of a row that may be absent: what a pool's optional components are spawned with.
//!
//! Whether the part is there must agree with the plan: a value for which the table has no column, or a
//! column for which there is no value, is refused before anything is written ([`Values::fits`]).

use super::sealed::Sealed;
use super::{ColumnSink, Existing, Values};
use crate::column_id::AnyColId;
use crate::table_columns::Columns;

/// Values that the row has or lacks as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maybe<V>(pub Option<V>);

impl<V: Values> Sealed for Maybe<V> {}

/// The pointers of a part, and whether they point anywhere.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Found<P> {
    pointers: P,
    /// The table has every column: values are written there.
    whole: bool,
    /// The table has none: nothing is taken. A row may have a part of what is removed.
    absent: bool,
}

// SAFETY: every method visits the columns of `V`, in its order. Where they are absent, `Found` says so, and no pointer is
// followed.
unsafe impl<V: Values> Values for Maybe<V> {
    type Ids = V::Ids;
    type Old = Option<V::Old>;
    type Pointers = Found<V::Pointers>;
    type Mask = V::Mask;
    const ALL: V::Mask = V::ALL;
    const NONE: V::Mask = V::NONE;
    const COLUMNS: usize = V::COLUMNS;

    fn list(ids: Self::Ids, out: &mut Vec<AnyColId>) {
        V::list(ids, out);
    }
    fn scatter(self, ids: Self::Ids, sink: &mut impl ColumnSink) {
        if let Some(values) = self.0 {
            values.scatter(ids, sink);
        }
    }
    fn optional(out: &mut Vec<bool>) {
        let first = out.len();
        V::optional(out);
        out[first..].fill(true);
    }
    #[inline]
    fn fits(&self, slots: &mut Columns<'_>) -> bool {
        let columns = slots.clone();
        let agrees = V::have_columns(slots, self.0.is_some());
        agrees && self.0.as_ref().is_none_or(|values| values.fits(&mut columns.clone()))
    }
    fn have_columns(slots: &mut Columns<'_>, all: bool) -> bool {
        V::have_columns(slots, all)
    }
    #[inline(always)]
    fn pointers(slots: &mut Columns<'_>) -> Self::Pointers {
        let whole = V::have_columns(&mut slots.clone(), true);
        let absent = !whole && V::have_columns(&mut slots.clone(), false);
        Found { pointers: V::pointers(slots), whole, absent }
    }
    #[inline(always)]
    fn are_whole(pointers: Self::Pointers) -> bool {
        (pointers.whole | pointers.absent) & V::are_whole(pointers.pointers)
    }
    fn data(pointers: Self::Pointers, out: &mut Vec<*mut u8>) {
        if pointers.whole {
            V::data(pointers.pointers, out);
        }
    }
    #[inline(always)]
    fn fits_at(&self, pointers: Self::Pointers) -> bool {
        match &self.0 {
            Some(values) => pointers.whole & values.fits_at(pointers.pointers),
            // Without columns there is nothing to be missed.
            None => !pointers.whole | (V::COLUMNS == 0),
        }
    }
    #[inline(always)]
    fn mask(present: &mut std::slice::Iter<'_, bool>) -> Self::Mask {
        V::mask(present)
    }
    #[inline(always)]
    unsafe fn write(self, pointers: Self::Pointers, row: usize) {
        if let Some(values) = self.0.filter(|_| pointers.whole) {
            // SAFETY: forwarded: the table has each column, so the pointers are those of `V` there.
            unsafe { values.write(pointers.pointers, row) }
        }
    }
    #[inline(always)]
    unsafe fn merge(
        self,
        pointers: Self::Pointers,
        mask: Self::Mask,
        row: usize,
        existing: Existing,
    ) -> Self::Old {
        let values = self.0.filter(|_| pointers.whole)?;
        // SAFETY: forwarded: the table has each column, so the pointers are those of `V` there.
        Some(unsafe { values.merge(pointers.pointers, mask, row, existing) })
    }
    #[inline(always)]
    unsafe fn take(pointers: Self::Pointers, mask: Self::Mask, row: usize) -> Self::Old {
        // SAFETY: forwarded: a column is there, and those that are not are not masked.
        (!pointers.absent).then(|| unsafe { V::take(pointers.pointers, mask, row) })
    }
    #[inline(always)]
    unsafe fn shift(pointers: Self::Pointers, mask: Self::Mask, from: usize, to: usize) {
        if !pointers.absent {
            // SAFETY: forwarded: a column is there, and those that are not are not masked.
            unsafe { V::shift(pointers.pointers, mask, from, to) };
        }
    }
    fn complete(old: Self::Old) -> Option<Self> {
        match old {
            None => Some(Self(None)),
            Some(old) => V::complete(old).map(|values| Self(Some(values))),
        }
    }
}
