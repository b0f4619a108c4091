//! Where an entity's components are: a table, and a row in it.
//!
//! Two ids name no real table. [`TableId::DEAD`] is the table of a slot that holds no entity, and
//! [`TableId::ROWLESS`] that of an entity which has no components yet; real tables are numbered from
//! [`TableId::FIRST`]. Both numbers are taken from the front, so that an array of tables can be indexed
//! by the id as it is, with two empty tables at its start.
//!
//! A location is a plain value. It does not know whether the table or the row exists, nor whose they are:
//! code that follows one either got it from the entity directory or checks it.

#![forbid(unsafe_code)]

// Every `u32` index of the crate is used as a `usize` without a check.
const _: () = assert!(usize::BITS >= u32::BITS);

/// Names one table of a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct TableId(u32);

impl TableId {
    /// The table of a slot that holds no entity.
    pub const DEAD: Self = Self(0);
    /// The table of an entity that is alive and occupies no row of any table.
    pub const ROWLESS: Self = Self(1);
    /// The first id that names a real table.
    pub const FIRST: Self = Self(2);
    /// An id that no slot has, and no table gets: for the store alone.
    pub(crate) const NOWHERE: Self = Self(u32::MAX);

    /// Returns the id with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the id of the table at this position of the array of tables: for the store alone, whose
    /// positions all fit.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "checked in debug builds, and true by construction")]
    pub(crate) const fn from_index(index: usize) -> Self {
        debug_assert!(index <= u32::MAX as usize);
        Self(index as u32)
    }

    /// Returns the number of the table.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the number of the table, to index an array of tables with.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns `true` if the id names a real table: neither `DEAD` nor `ROWLESS`.
    #[inline]
    pub const fn has_rows(self) -> bool {
        self.0 >= Self::FIRST.0
    }
}

/// Names one row of a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Row(u32);

impl Row {
    /// Returns the row with this number, counted from 0.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the row at this position of a column: for the store alone, whose positions all fit.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "checked in debug builds, and true by construction")]
    pub(crate) const fn from_index(index: usize) -> Self {
        debug_assert!(index <= u32::MAX as usize);
        Self(index as u32)
    }

    /// Returns the number of the row.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the number of the row, to index a column with.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A table, and a row in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EntityLocation {
    /// The table, or [`TableId::ROWLESS`].
    pub table: TableId,
    /// The row in that table; for a rowless entity, the entity's own index.
    pub row: Row,
}

impl EntityLocation {
    /// Returns the location of this row in this table.
    #[inline]
    pub const fn new(table: TableId, row: Row) -> Self {
        Self { table, row }
    }
}
