//! What a world can do with values of a type beyond keeping them: copy them, hash them, show them.
//!
//! Checkpoints copy values, digests hash them, comparisons show them. The derives find out what a type can do: plain data
//! is copied as bytes, other types by `Clone`; digests need numbers, `Hash`, or [`#[derive(Digestible)]`](Digestible). What
//! cannot be done is reported with the name of the type when it is asked for.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Component, Clone, Digestible)]
//! struct Health {
//!     current: f32,
//!     max: f32,
//! }
//!
//! let mut world = World::new();
//! let orc = world.spawn(Health { current: 3.0, max: 10.0 }).id();
//! let before = world.digest();
//! let checkpoint = world.checkpoint();
//! world.despawn(orc);
//! world.restore(&checkpoint).unwrap();
//! assert_eq!(world.digest(), before);
//! ```

// A [`Capture`] is filled by the derives, which ask the compiler at the type (`probe`), and read by checkpoints,
// digests and comparisons. What it lacks cannot be done, and is said by name when it is asked for. Columns are kept
// without their type; [`ColumnCapture`] puts the two together again. This file knows no world.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use phalanx_store::{ColId, ColumnCopy, Duplicate, Store, TableId};

pub use digest::{Digest, DigestHasher, Digestible};

mod digest;
pub mod probe;

/// What can be done with values of `T`.
pub struct Capture<T> {
    pub(crate) copy: Copying<T>,
    digest: Option<fn(&T, &mut DigestHasher) -> bool>,
    show: Option<fn(&T, &mut Vec<Shown>)>,
    /// Left out of digests because its type says so.
    pub(crate) digest_skipped: bool,
}

/// How values come into a checkpoint.
#[derive(Debug)]
pub enum Copying<T> {
    /// They are copied.
    By(Duplicate<T>),
    /// They stay as they are, whatever is restored: the type says so.
    Skip,
    /// They cannot be copied.
    Impossible,
}

/// Whether values come into checkpoints.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanCopy {
    Yes,
    Skipped,
    No,
}

impl<T> Copying<T> {
    pub(crate) fn kind(&self) -> CanCopy {
        match self {
            Self::By(_) => CanCopy::Yes,
            Self::Skip => CanCopy::Skipped,
            Self::Impossible => CanCopy::No,
        }
    }
}

/// Goes through what a system keeps.
pub trait StateVisitor {
    /// A number, such as the tick of the last run or the place of a reader.
    fn number(&mut self, number: &mut u64);
    /// A value of any type, with the name of the type.
    fn value(&mut self, value: &mut (dyn Any + Send), type_name: &'static str);
}

/// One field of a value, for comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The field's name; empty for a value without fields.
    pub field: &'static str,
    /// The type of the field.
    pub type_name: &'static str,
    /// The field's digest; `None` when it has none.
    pub digest: Option<Digest>,
    /// The field as `Debug` shows it; `None` when it does not implement it.
    pub text: Option<String>,
    /// Whether it is left out of digests, because its type says so.
    pub skipped: bool,
}

impl<T> Clone for Copying<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Copying<T> {}

impl<T> Clone for Capture<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Capture<T> {}

impl<T> fmt::Debug for Capture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("bytes", &matches!(self.copy, Copying::By(by) if by.is_bytes()))
            .field("copies", &matches!(self.copy, Copying::By(_)))
            .field("digests", &self.digest.is_some())
            .finish()
    }
}

impl<T> Default for Capture<T> {
    fn default() -> Self {
        Self::none()
    }
}

impl<T> Capture<T> {
    /// Nothing can be done.
    pub const fn none() -> Self {
        Self { copy: Copying::Impossible, digest: None, show: None, digest_skipped: false }
    }

    /// With this way of copying.
    #[must_use]
    pub const fn copying(mut self, copy: Copying<T>) -> Self {
        self.copy = copy;
        self
    }

    /// With this digest, which returns whether the value has one, and a function that lists the value's fields.
    #[must_use]
    pub const fn digesting(
        mut self,
        digest: fn(&T, &mut DigestHasher) -> bool,
        show: fn(&T, &mut Vec<Shown>),
    ) -> Self {
        self.digest = Some(digest);
        self.show = Some(show);
        self
    }

    /// Left out of digests and comparisons.
    #[must_use]
    pub const fn without_digest(mut self) -> Self {
        self.digest_skipped = true;
        self
    }

    /// Copied by `Clone`.
    #[must_use]
    pub fn cloned(self) -> Self
    where
        T: Clone,
    {
        self.copying(Copying::By(Duplicate::with(T::clone)))
    }

    /// Hashed by [`Digestible`].
    #[must_use]
    pub fn digestible(self) -> Self
    where
        T: Digestible,
    {
        self.digesting(digest::by_trait::<T>, digest::show_by_trait::<T>)
    }

    /// Adds a value to a digest; false when it has none.
    pub fn digest(&self, value: &T, hasher: &mut DigestHasher) -> bool {
        match self.digest {
            _ if self.digest_skipped => true,
            Some(digest) => digest(value, hasher),
            None => false,
        }
    }

    /// The fields of a value; a value of which nothing is known is one field.
    pub fn show(&self, value: &T) -> Vec<Shown> {
        let mut fields = Vec::new();
        match self.show {
            Some(show) => show(value, &mut fields),
            None => fields.push(Shown::unknown::<T>("")),
        }
        fields
    }
}

impl Shown {
    /// A field of which nothing can be said.
    pub fn unknown<T>(field: &'static str) -> Self {
        Self { field, type_name: std::any::type_name::<T>(), digest: None, text: None, skipped: false }
    }
}

/// What can be done with the values of one column, whatever their type.
#[derive(Clone)]
pub struct ColumnCapture(pub(crate) Arc<dyn AnyColumn>);

impl fmt::Debug for ColumnCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.type_name())
    }
}

impl ColumnCapture {
    /// What can be done with a column of `T`.
    pub fn new<T: Send + Sync + 'static>(id: ColId<T>, capture: Capture<T>) -> Self {
        Self(Arc::new(Typed { id, capture }))
    }
}

/// A column with its type erased.
pub(crate) trait AnyColumn: Send + Sync {
    fn type_name(&self) -> &'static str;
    /// How values are copied; `None` when they cannot be. `tracked` tells whether writes leave ticks.
    fn copy(&self, tracked: bool) -> Option<ColumnCopy>;
    /// Whether values come into checkpoints.
    fn can_copy(&self) -> CanCopy;
    /// The same with `Clone`, given as the `Duplicate` of the column's type.
    fn with_copy(&self, duplicate: &dyn Any) -> Option<ColumnCapture>;
    /// Whether values are left out of digests.
    fn is_skipped(&self) -> bool;
    /// Takes in the values of some rows, and tells whether the type has a digest; `None` when some row is missing or a hole.
    fn digest_rows(
        &self,
        store: &Store,
        table: TableId,
        rows: Range<usize>,
        hasher: &mut DigestHasher,
    ) -> Option<bool>;
    /// The fields of one row.
    fn show(&self, store: &Store, table: TableId, row: usize) -> Vec<Shown>;
}

impl dyn AnyColumn {
    /// The digest of some rows, without holes; `None` when the type has none.
    pub(crate) fn digest(&self, store: &Store, table: TableId, rows: Range<usize>) -> Option<Digest> {
        let mut hasher = DigestHasher::new();
        let whole = self.digest_rows(store, table, rows.clone(), &mut hasher);
        let digested = whole.unwrap_or_else(|| {
            // Holes are among the rows: the others, one by one.
            let mut one_by_one = store.full_rows(table, rows).into_iter();
            one_by_one.all(|row| self.digest_rows(store, table, row..row + 1, &mut hasher) == Some(true))
        });
        digested.then(|| hasher.finish())
    }
}

struct Typed<T> {
    id: ColId<T>,
    capture: Capture<T>,
}

// Compiled once per component of a program: loops and matches here, not adapters with closures.
impl<T: Send + Sync + 'static> AnyColumn for Typed<T> {
    fn type_name(&self) -> &'static str {
        std::any::type_name::<T>()
    }

    fn copy(&self, tracked: bool) -> Option<ColumnCopy> {
        match self.capture.copy {
            Copying::By(copy) => Some(ColumnCopy::new(self.id, copy, tracked)),
            Copying::Skip | Copying::Impossible => None,
        }
    }

    fn can_copy(&self) -> CanCopy {
        self.capture.copy.kind()
    }

    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    fn with_copy(&self, duplicate: &dyn Any) -> Option<ColumnCapture> {
        let Some(copy) = duplicate.downcast_ref::<Duplicate<T>>() else { return None };
        Some(ColumnCapture::new(self.id, self.capture.copying(Copying::By(*copy))))
    }

    fn is_skipped(&self) -> bool {
        self.capture.digest_skipped
    }

    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    fn digest_rows(
        &self,
        store: &Store,
        table: TableId,
        rows: Range<usize>,
        hasher: &mut DigestHasher,
    ) -> Option<bool> {
        let Some(values) = store.column_rows(table, self.id, rows) else { return None };
        for value in values {
            if !self.capture.digest(value, hasher) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn show(&self, store: &Store, table: TableId, row: usize) -> Vec<Shown> {
        match store.column_rows(table, self.id, row..row + 1) {
            Some([value]) => self.capture.show(value),
            _ => Vec::new(),
        }
    }
}
