//! What a view may do, without its type.
//!
//! A [`Grant`] stands for the access of a view, or of two views together. Queries of other types get views from it, as
//! long as they ask for no more: no other column, no writing where the view only read, no other table. A grant is
//! lent as a view is, so that nothing it hands out overlaps in time, unless it only reads.

use std::borrow::Cow;
use std::fmt;

use super::{DriverChoice, View};
use crate::column_id::AnyColId;
use crate::fetch::{Access, Fetch};
use crate::location::TableId;
use crate::prepared::{Alias, Prepared};
use crate::store::Store;
use crate::tick::Tick;

/// The access of one or two views, to be used by narrower queries.
pub struct Grant<'w> {
    store: &'w Store,
    uses: Cow<'w, [Access]>,
    tables: Cow<'w, [TableId]>,
    /// Indexed by table: whether it is in `tables`.
    member: Cow<'w, [bool]>,
    rowless: bool,
    now: Tick,
    driver_choice: DriverChoice,
}

/// Why a query cannot use a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotGranted {
    /// Two uses of the query exclude each other.
    Alias(Alias),
    /// The grant does not cover the use of a column.
    Column {
        /// The column.
        column: AnyColId,
        /// The position of the use among all column uses.
        position: usize,
        /// Whether it was to be written.
        writes: bool,
    },
}

impl fmt::Display for NotGranted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alias(alias) => alias.fmt(f),
            Self::Column { column, writes, .. } => {
                let how = if *writes { "write" } else { "read" };
                write!(f, "the grant does not allow to {how} a column of {}", column.type_name())
            }
        }
    }
}

impl std::error::Error for NotGranted {}

impl<'w, F: Fetch> View<'w, F> {
    /// The same view, which stays in the tables of its query and is driven as the one that the grant is of.
    fn in_tables(mut self, driver_choice: DriverChoice) -> Self {
        (self.base.confined, self.base.driver_choice) = (true, driver_choice);
        self
    }

    /// The view's access, for queries of other types.
    pub fn into_grant(self) -> Grant<'w> {
        // The query may write what the view gave up to write: there may be several such views at once.
        let uses = match !F::WRITES && self.base.uses.iter().any(|access| access.writes) {
            true => self.base.uses.iter().map(|&access| Access { writes: false, ..access }).collect(),
            false => Cow::Borrowed(self.base.uses),
        };
        Grant {
            store: self.base.store,
            uses,
            tables: Cow::Borrowed(self.base.tables),
            member: Cow::Borrowed(self.base.member),
            rowless: self.base.rowless,
            now: self.base.now,
            driver_choice: self.base.driver_choice,
        }
    }
}

impl<'w> Grant<'w> {
    /// The access of both: their columns, in the tables that both visit.
    ///
    /// # Panics
    /// When the two are not of the same store.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        assert!(std::ptr::eq(self.store, other.store), "grants of two stores cannot be joined");
        let Self { uses, member, rowless, .. } = other;
        Self {
            uses: [&*self.uses, &*uses].concat().into(),
            tables: self.tables.iter().copied().filter(|table| is_member(&member, *table)).collect(),
            member: self.member.iter().zip(&*member).map(|(one, other)| *one && *other).collect(),
            rowless: self.rowless && rowless,
            ..self
        }
    }

    /// Prepares a query that visits those tables of the grant which have its columns, and which are wanted; of entities
    /// without a row, `wanted` is asked by [`TableId::ROWLESS`].
    ///
    /// # Errors
    /// When the query uses a column that is not granted, or twice although it writes it.
    pub fn prepare<G: Fetch>(
        &self,
        ids: G::Ids,
        wanted: impl Fn(TableId) -> bool,
    ) -> Result<Prepared<G>, NotGranted> {
        let mut query = self.store.prepare::<G>(ids).map_err(NotGranted::Alias)?;
        self.check(query.uses())?;
        let mut admission = query.admission();
        for &table in self.tables.iter().filter(|&&table| wanted(table)) {
            admission.admit(self.store, table);
        }
        if self.rowless && wanted(TableId::ROWLESS) {
            admission.admit_rowless(self.store);
        }
        Ok(query)
    }

    fn check(&self, uses: &[Access]) -> Result<(), NotGranted> {
        for (position, asked) in uses.iter().enumerate() {
            if !self.uses.iter().any(|granted| granted.covers(asked)) {
                return Err(NotGranted::Column { column: asked.column, position, writes: asked.writes });
            }
        }
        Ok(())
    }

    /// What a query visits, which was prepared by this grant.
    ///
    /// # Panics
    /// When the query asks for more than is granted.
    pub fn view<'a, G: Fetch>(&'a mut self, query: &'a Prepared<G>) -> View<'a, G> {
        self.expect_granted(query);
        // SAFETY: the grant has the access of views that are given up for `'w`. It covers the columns of the query in all
        // tables that the query visits, as was checked above, and the view stays in these (I8). The grant is itself
        // borrowed exclusively; a grant of a view that only reads, of which there may be several, allows no writing.
        let view = unsafe { self.store.view_unchecked(query, self.now) };
        view.in_tables(self.driver_choice)
    }

    /// As [`Grant::view`], for as long as the grant would have lived.
    ///
    /// # Panics
    /// When the query asks for more than is granted.
    pub fn into_view<G: Fetch>(self, query: &'w Prepared<G>) -> View<'w, G> {
        self.expect_granted(query);
        // SAFETY: the grant has the access of views that are given up for `'w`. It covers the columns in all tables that the
        // query visits, as was checked above, and the view stays in these (I8). The grant is gone; one of a view that only
        // reads, of which there may be several, allows no writing.
        let view = unsafe { self.store.view_unchecked(query, self.now) };
        view.in_tables(self.driver_choice)
    }

    fn expect_granted<G: Fetch>(&self, query: &Prepared<G>) {
        let columns = self.check(query.uses());
        let tables = query.tables().iter().all(|&table| is_member(&self.member, table));
        assert!(
            columns.is_ok() && tables && (self.rowless || !query.visits_rowless()),
            "a query can use the grant that prepared it, and no narrower one"
        );
    }
}

fn is_member(member: &[bool], table: TableId) -> bool {
    member.get(table.index()) == Some(&true)
}
