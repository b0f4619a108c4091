//! Columns in images: blocks of copied values, shared between the images that they are the same in.
//!
//! A [`Block`] holds the values of up to 1,024 rows, holes left out, as a vector of the column's type. It never changes.
//! What copies values stands in a [`ColumnCopy`], which knows the type; the rest of an image does not.

#![forbid(unsafe_code)]

use std::any::Any;
use std::mem::needs_drop;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::column_id::{AnyColId, ColId};
use crate::duplicate::Duplicate;
use crate::location::TableId;
use crate::panics::FirstPanic;
use crate::rows::AnyValues;
use crate::store::Store;

/// How the values of one column are copied into images and back.
#[derive(Clone)]
pub struct ColumnCopy {
    pub(crate) id: AnyColId,
    /// Whether writes leave ticks, so that blocks without a new one need no copy.
    pub(crate) tracked: bool,
    pub(crate) ops: Arc<dyn Ops>,
}

impl ColumnCopy {
    /// Copies values of a column in this way. `tracked` tells whether all its writes mark the blocks: a column of which
    /// that is not true is copied every time.
    pub fn new<T: Send + Sync + 'static>(id: ColId<T>, copy: Duplicate<T>, tracked: bool) -> Self {
        Self { id: id.any(), tracked, ops: Arc::new(Typed { id, copy }) }
    }

    /// The column.
    pub fn column(&self) -> AnyColId {
        self.id
    }
}

/// The values of up to 1,024 rows.
pub(crate) struct Block {
    /// A `Rows<T>`.
    values: Box<dyn Any + Send + Sync>,
    pub(crate) bytes: usize,
    /// A number that a caller worked out for the values, kept so that it is not worked out again.
    pub(crate) note: OnceLock<u64>,
}

impl Block {
    #[cfg(test)]
    pub(super) fn new<T: Send + Sync + 'static>(values: Vec<T>, bytes: usize) -> Self {
        Self::of(Box::new(Rows(values)), bytes)
    }

    fn of(values: Box<dyn Any + Send + Sync>, bytes: usize) -> Self {
        Self { values, bytes, note: OnceLock::new() }
    }

    /// The values, if they are of this type.
    pub(super) fn rows<T: Send + Sync + 'static>(&self) -> Option<&[T]> {
        self.values.downcast_ref::<Rows<T>>().map(|rows| rows.0.as_slice())
    }
}

/// Values that are dropped one by one, all of them though some panic.
struct Rows<T>(Vec<T>);

impl<T> Rows<T> {
    /// A constant, so that nothing is compiled for types without drop glue, and nothing looked through.
    const DROP: Option<fn(&mut Vec<T>)> = if needs_drop::<T>() { Some(drop_rows::<T>) } else { None };
}

impl<T> Drop for Rows<T> {
    fn drop(&mut self) {
        if let Some(drop_rows) = Self::DROP {
            drop_rows(&mut self.0);
        }
    }
}

fn drop_rows<T>(rows: &mut Vec<T>) {
    let mut panics = FirstPanic::default();
    rows.drain(..).for_each(|value| panics.guard(|| drop(value)));
    panics.resume_unless_panicking();
}

/// What is done with the values of a column by type.
pub(crate) trait Ops: Send + Sync {
    /// Values of the column's type: none yet.
    fn no_rows(&self) -> Box<dyn Any + Send + Sync>;
    /// Adds copies of the values of some rows, and tells how many bytes there are now; `None` when a row is a hole.
    fn add_rows(
        &self,
        values: &mut dyn Any,
        store: &Store,
        table: TableId,
        rows: Range<usize>,
    ) -> Option<usize>;
    /// Whether values are copied as bytes, and not by a function.
    fn is_bytes(&self) -> bool;
    /// Makes so many copies of the first value of a block, and forgets them: values of a tag, which have no bytes.
    fn make(&self, block: &Block, count: usize);
    /// The values of a block, if they are copied as bytes: where they are, as long as the block lives, and how many.
    fn bytes(&self, block: &Block) -> Option<(*const u8, usize)>;
    /// Copies of a block's values, by the user's code.
    fn fresh(&self, block: &Block) -> Box<dyn AnyValues>;
}

impl dyn Ops {
    /// Copies the values of some rows, holes left out.
    pub(crate) fn capture(&self, store: &Store, table: TableId, rows: Range<usize>) -> Block {
        let mut values = self.no_rows();
        let bytes = self.add_rows(&mut *values, store, table, rows.clone()).unwrap_or_else(|| {
            let full = store.full_rows(table, rows).into_iter();
            let added = full.map(|row| self.add_rows(&mut *values, store, table, row..row + 1));
            added.last().flatten().unwrap_or(0)
        });
        Block::of(values, bytes)
    }
}

struct Typed<T> {
    id: ColId<T>,
    copy: Duplicate<T>,
}

impl<T: Send + Sync + 'static> Typed<T> {
    fn rows<'b>(&self, block: &'b Block) -> &'b [T] {
        match block.rows() {
            Some(rows) => rows,
            None => unreachable!("a block holds values of its column's type"),
        }
    }
}

impl<T: Send + Sync + 'static> Ops for Typed<T> {
    // Short: all of this is compiled once per component of a program.
    fn no_rows(&self) -> Box<dyn Any + Send + Sync> {
        Box::new(Rows::<T>(Vec::new()))
    }

    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    fn add_rows(
        &self,
        values: &mut dyn Any,
        store: &Store,
        table: TableId,
        rows: Range<usize>,
    ) -> Option<usize> {
        let Some(Rows(copies)) = values.downcast_mut::<Rows<T>>() else {
            unreachable!("they were made for this")
        };
        let Some(values) = store.column_rows(table, self.id, rows) else { return None };
        self.copy.append(copies, values);
        Some(size_of_val(copies.as_slice()))
    }

    fn is_bytes(&self) -> bool {
        self.copy.is_bytes()
    }

    fn make(&self, block: &Block, count: usize) {
        // Evaluated before code is made: nothing is compiled for types that are no tags.
        if const { size_of::<T>() == 0 && !needs_drop::<T>() } {
            for _ in 0..count {
                std::mem::forget(self.copy.one(&self.rows(block)[0]));
            }
        }
    }

    fn bytes(&self, block: &Block) -> Option<(*const u8, usize)> {
        let rows = self.rows(block);
        if self.copy.is_bytes() { Some((rows.as_ptr().cast(), rows.len())) } else { None }
    }

    fn fresh(&self, block: &Block) -> Box<dyn AnyValues> {
        Box::new(self.copy.many(self.rows(block)))
    }
}
