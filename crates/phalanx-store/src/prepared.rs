//! A query after its checks: which columns, and which tables.
//!
//! Preparing checks once that no column is used twice when one of the uses writes; admitting a table
//! checks once that it has the columns and was not admitted before (I6). A run of the query afterwards
//! costs one comparison of stamps. Which tables *should* be admitted, and in which order, is decided above
//! the store.

use std::fmt;

use crate::column_id::AnyColId;
use crate::fetch::Fetch;
use crate::place::TableId;
use crate::store::Store;

/// The columns of a query, checked against each other, and the tables it visits.
pub struct Prepared<F: Fetch> {
    pub(crate) ids: F::Ids,
    pub(crate) stamp: u64,
    pub(crate) tables: Vec<TableId>,
    /// Indexed by table: whether it is in `tables`.
    pub(crate) member: Vec<bool>,
    pub(crate) rowless: bool,
}

impl<F: Fetch> Prepared<F> {
    /// The admitted tables, in the order of their visit.
    pub fn tables(&self) -> &[TableId] {
        &self.tables
    }

    /// Whether entities without a row are visited.
    pub fn visits_rowless(&self) -> bool {
        self.rowless
    }

    /// Whether a table is visited.
    pub fn visits(&self, table: TableId) -> bool {
        self.member.get(table.index()).copied().unwrap_or(false)
    }

    /// The column ids.
    pub fn ids(&self) -> F::Ids {
        self.ids
    }
}

impl<F: Fetch> Clone for Prepared<F> {
    fn clone(&self) -> Self {
        Self {
            ids: self.ids,
            stamp: self.stamp,
            tables: self.tables.clone(),
            member: self.member.clone(),
            rowless: self.rowless,
        }
    }
}

impl<F: Fetch> fmt::Debug for Prepared<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("tables", &self.tables)
            .field("rowless", &self.rowless)
            .finish_non_exhaustive()
    }
}

/// Two uses of one column that cannot go together, because at least one of them writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// The column used twice.
    pub column: AnyColId,
    /// The position of the first use among all column uses.
    pub first: usize,
    /// The position of the second use.
    pub second: usize,
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second, name) = (self.first, self.second, self.column.type_name());
        write!(f, "column uses {first} and {second} are the same column of {name}, and one of them writes")
    }
}

impl std::error::Error for Alias {}

/// The first two uses of one column of which one writes.
pub(crate) fn find_alias<F: Fetch>(ids: F::Ids) -> Option<Alias> {
    let mut found = None;
    let mut second = 0;
    F::visit(ids, &mut |later| {
        let mut first = 0;
        F::visit(ids, &mut |earlier| {
            let clash = earlier.column == later.column && (earlier.writes || later.writes) && !earlier.copies;
            if first < second && clash && found.is_none() {
                found = Some(Alias { column: later.column, first, second });
            }
            first += 1;
        });
        second += 1;
    });
    found
}

impl Store {
    /// Prepares a query that visits no table yet.
    ///
    /// # Errors
    /// When a column is used twice and one of the uses writes.
    pub fn prepare<F: Fetch>(&self, ids: F::Ids) -> Result<Prepared<F>, Alias> {
        match find_alias::<F>(ids) {
            Some(alias) => Err(alias),
            None => Ok(Prepared {
                ids,
                stamp: self.stamp,
                tables: Vec::new(),
                member: Vec::new(),
                rowless: false,
            }),
        }
    }

    /// Lets a query visit a table, after those it visits already. False when the table is none or that of a sparse
    /// set, lacks a column that is not optional, or is visited already.
    ///
    /// # Panics
    /// When the query is stale.
    pub fn admit<F: Fetch>(&self, query: &mut Prepared<F>, table: TableId) -> bool {
        self.admit_at(query, query.tables.len(), table)
    }

    /// As [`Store::admit`], but visited as number `position`.
    ///
    /// # Panics
    /// When the query is stale, or `position` is past the end.
    pub fn admit_at<F: Fetch>(&self, query: &mut Prepared<F>, position: usize, table: TableId) -> bool {
        self.expect_fresh(query);
        let live = self.tables.get(table.index()).is_some_and(|table| table.live && !table.is_set);
        let lanes = F::lanes(self, query.ids, self.tick);
        // SAFETY: the lanes are this store's, which has the table (I4).
        if !live || query.visits(table) || !unsafe { F::present(lanes, table.index()) } {
            return false;
        }
        query.tables.insert(position, table);
        if query.member.len() <= table.index() {
            query.member.resize(table.index() + 1, false);
        }
        query.member[table.index()] = true;
        true
    }

    /// Lets a query visit entities without a row. False when it needs a column, which they lack.
    ///
    /// # Panics
    /// When the query is stale.
    pub fn admit_rowless<F: Fetch>(&self, query: &mut Prepared<F>) -> bool {
        self.expect_fresh(query);
        // SAFETY: the lanes are this store's, where the rowless have a cell like a table (I4).
        query.rowless = unsafe { F::present(F::lanes(self, query.ids, self.tick), TableId::ROWLESS.index()) };
        query.rowless
    }

    /// Forgets the tables of a query, which makes it fresh again after tables were dropped.
    pub fn reset<F: Fetch>(&self, query: &mut Prepared<F>) {
        query.tables.clear();
        query.member.clear();
        query.rowless = false;
        query.stamp = self.stamp;
    }

    /// Whether the query was prepared by this store since a table was last dropped.
    #[inline]
    pub fn is_fresh<F: Fetch>(&self, query: &Prepared<F>) -> bool {
        query.stamp == self.stamp
    }

    #[inline(always)]
    pub(crate) fn expect_fresh<F: Fetch>(&self, query: &Prepared<F>) {
        if query.stamp != self.stamp {
            stale_query();
        }
    }
}

#[cold]
#[inline(never)]
fn stale_query() -> ! {
    panic!(
        "a prepared query serves only its store, until a table is dropped: reset it and admit its tables anew"
    )
}
