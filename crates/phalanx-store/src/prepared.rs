//! A query after its checks: which columns, and which tables.
//!
//! Preparing checks once that no column is used twice when one of the uses writes; admitting a table
//! checks once that it has the columns and was not admitted before (I6). A run of the query afterwards
//! costs one comparison of stamps. Which tables *should* be admitted, and in which order, is decided above
//! the store.

#![forbid(unsafe_code)]

use std::fmt;

use crate::column_id::AnyColId;
use crate::fetch::{Access, Fetch};
use crate::location::TableId;
use crate::split::Split;
use crate::store::Store;

/// The columns of a query, checked against each other, and the tables it visits.
pub struct Prepared<F: Fetch> {
    pub(crate) ids: F::Ids,
    /// Boxed: a query that is made and moved is a pointer and its ids, which keeps the code for each query small.
    pub(crate) visits: Box<Visits>,
}

/// What goes on with a query when its columns are checked, whatever its type; see [`Store::prepare_with`].
pub trait Preparing {
    /// Lets the query visit tables, or hears why it cannot be.
    fn checked(&mut self, columns: Result<Admission<'_>, Alias>);
}

/// What a prepared query keeps whatever its type: one piece of code serves all of them.
#[derive(Clone)]
pub(crate) struct Visits {
    /// The uses of columns that `Fetch::visit` reports.
    uses: Box<[Access]>,
    /// Those that a lock takes the flag of: not the columns that are split.
    pub(crate) flagged: Box<[Access]>,
    /// The use of all columns but some, if there is one; then a lock takes all of these flags.
    pub(crate) whole: Option<Access>,
    pub(crate) split: Option<Box<Split>>,
    pub(crate) stamp: u64,
    pub(crate) tables: Vec<TableId>,
    /// Indexed by table: whether it is in `tables`.
    pub(crate) member: Vec<bool>,
    pub(crate) rowless: bool,
    /// Whether tables that have the columns are not visited unless they were admitted.
    pub(crate) confined: bool,
}

impl Visits {
    /// The uses of columns, in their order.
    pub(crate) fn uses(&self) -> &[Access] {
        &self.uses
    }

    /// Whether a table is visited.
    fn contains(&self, table: TableId) -> bool {
        self.member.get(table.index()).copied().unwrap_or(false)
    }

    /// Splits columns; none when there are none.
    pub(crate) fn split(&mut self, columns: &[AnyColId]) {
        let is_split = |access: &Access| !access.in_set && columns.contains(&access.column);
        let (split, flagged): (Vec<_>, Vec<_>) = flagged(&self.uses).partition(is_split);
        self.flagged = flagged.into();
        self.split = (!split.is_empty()).then(|| Box::new(Split::new(split.into())));
    }

    /// Takes note that other tables are visited from now on.
    fn tables_changed(&mut self) {
        if let Some(split) = &mut self.split {
            split.forget_tables();
        }
    }
}

/// The uses of single columns that a lock guards.
fn flagged(uses: &[Access]) -> impl Iterator<Item = Access> + '_ {
    guarded(uses).filter(|access| access.whole.is_none())
}

/// The uses that a lock guards: a column that is both copied and written is covered by the use that writes.
fn guarded(uses: &[Access]) -> impl Iterator<Item = Access> + '_ {
    let covers = |copied: &Access| {
        let column = copied.column;
        move |other: &Access| other.writes && other.reaches(column)
    };
    uses.iter().filter(move |access| !access.copies || !uses.iter().any(covers(access))).copied()
}

impl<F: Fetch> Prepared<F> {
    /// The admitted tables, in the order of their visit.
    pub fn tables(&self) -> &[TableId] {
        &self.visits.tables
    }

    /// Whether entities without a row are visited.
    pub fn visits_rowless(&self) -> bool {
        self.visits.rowless
    }

    /// Whether a table is visited.
    pub fn visits(&self, table: TableId) -> bool {
        self.visits.contains(table)
    }

    /// The column ids.
    pub fn ids(&self) -> F::Ids {
        self.ids
    }

    /// The uses of columns, in their order.
    pub fn uses(&self) -> &[Access] {
        &self.visits.uses
    }

    /// The query without its type, to let it visit tables.
    #[inline]
    pub fn admission(&mut self) -> Admission<'_> {
        Admission { visits: &mut self.visits }
    }
}

/// A prepared query of some type, which may be restricted to some tables.
///
/// It is no reference to what the query keeps, so two queries cannot exchange it.
pub struct Admission<'q> {
    visits: &'q mut Visits,
}

impl Admission<'_> {
    /// The admitted tables, in the order of their visit.
    pub fn tables(&self) -> &[TableId] {
        &self.visits.tables
    }

    /// The uses of columns, in their order.
    pub fn uses(&self) -> &[Access] {
        &self.visits.uses
    }

    /// As [`Store::reset`].
    pub fn reset(&mut self, store: &Store) {
        self.visits.tables.clear();
        self.visits.member.clear();
        self.visits.rowless = false;
        self.visits.stamp = store.stamp;
        self.visits.tables_changed();
    }

    /// Says whether entities of tables that were not admitted stay unvisited, even where the columns alone are asked
    /// for (`*_anywhere`).
    pub fn confine(&mut self, confined: bool) {
        self.visits.confined = confined;
    }

    /// As [`Prepared::split`].
    pub fn split(&mut self, columns: &[AnyColId]) {
        self.visits.split(columns);
    }

    /// As [`Store::admit`].
    ///
    /// # Panics
    /// When the query is stale.
    pub fn admit(&mut self, store: &Store, table: TableId) -> bool {
        self.admit_at(store, self.visits.tables.len(), table)
    }

    /// As [`Store::admit_at`].
    ///
    /// # Panics
    /// When the query is stale, or `position` is past the end.
    pub fn admit_at(&mut self, store: &Store, position: usize, table: TableId) -> bool {
        store.expect_stamp(self.visits.stamp);
        let live = store.tables.get(table.index()).is_some_and(|table| table.live && !table.is_set);
        if !live || self.visits.contains(table) || !store.has_columns(table, &self.visits.uses) {
            return false;
        }
        self.visits.tables.insert(position, table);
        if self.visits.member.len() <= table.index() {
            self.visits.member.resize(table.index() + 1, false);
        }
        self.visits.member[table.index()] = true;
        self.visits.tables_changed();
        true
    }

    /// As [`Store::admit_rowless`].
    ///
    /// # Panics
    /// When the query is stale.
    pub fn admit_rowless(&mut self, store: &Store) -> bool {
        store.expect_stamp(self.visits.stamp);
        self.visits.rowless = store.has_columns(TableId::ROWLESS, &self.visits.uses);
        self.visits.rowless
    }
}

impl<F: Fetch> Clone for Prepared<F> {
    fn clone(&self) -> Self {
        Self { ids: self.ids, visits: self.visits.clone() }
    }
}

impl<F: Fetch> fmt::Debug for Prepared<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("tables", &self.visits.tables)
            .field("rowless", &self.visits.rowless)
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

/// The use of all columns but some. Where there are several, none of them writes, and it reaches what one of them does.
fn whole(uses: &[Access]) -> Option<Access> {
    let mut wholes = uses.iter().filter(|access| access.whole.is_some());
    let first = *wholes.next()?;
    let same = wholes.all(|other| other.whole == first.whole);
    Some(if same { first } else { Access { whole: Some(&[]), ..first } })
}

/// All uses of columns.
fn uses<F: Fetch>(ids: F::Ids) -> Vec<Access> {
    let mut uses = Vec::new();
    F::visit(ids, &mut pushing(&mut uses));
    uses
}

/// A closure that is compiled once, since it stands in no generic function.
fn pushing(uses: &mut Vec<Access>) -> impl FnMut(Access) {
    |access| uses.push(access)
}

/// The first two uses of one column of which one writes; for single entities, where all of it is known when compiling.
#[inline(always)]
pub(crate) fn find_alias<F: Fetch>(ids: F::Ids) -> Option<Alias> {
    if F::SINGLE {
        return None;
    }
    let mut found = None;
    let mut second = 0;
    F::visit(ids, &mut |later| {
        let mut first = 0;
        F::visit(ids, &mut |earlier| {
            if first < second && found.is_none() && earlier.clashes_with(&later) {
                found = Some(Alias { column: later.column, first, second });
            }
            first += 1;
        });
        second += 1;
    });
    found
}

/// As [`find_alias`], for uses of whatever type.
fn alias_in(uses: &[Access]) -> Option<Alias> {
    for (second, later) in uses.iter().enumerate() {
        for (first, earlier) in uses[..second].iter().enumerate() {
            if earlier.clashes_with(later) {
                return Some(Alias { column: later.column, first, second });
            }
        }
    }
    None
}

impl Store {
    /// Prepares a query that visits no table yet.
    ///
    /// # Errors
    /// When a column is used twice and one of the uses writes.
    pub fn prepare<F: Fetch>(&self, ids: F::Ids) -> Result<Prepared<F>, Alias> {
        match self.visits_nothing(uses::<F>(ids), F::SPAWN_TICKS) {
            Ok(visits) => Ok(Prepared { ids, visits }),
            Err(alias) => Err(alias),
        }
    }

    /// As [`Store::prepare`]; what follows is done by `preparing`, which does not know the type. `None` when a column is used
    /// twice and one of the uses writes.
    pub fn prepare_with<F: Fetch>(&self, ids: F::Ids, preparing: &mut dyn Preparing) -> Option<Prepared<F>> {
        match self.visits_with(uses::<F>(ids), F::SPAWN_TICKS, preparing) {
            Some(visits) => Some(Prepared { ids, visits }),
            None => None,
        }
    }

    /// All of [`Store::prepare_with`] that does not depend on the type of the query.
    fn visits_with(
        &self,
        uses: Vec<Access>,
        spawn_ticks: bool,
        preparing: &mut dyn Preparing,
    ) -> Option<Box<Visits>> {
        match self.visits_nothing(uses, spawn_ticks) {
            Ok(mut visits) => {
                preparing.checked(Ok(Admission { visits: &mut visits }));
                Some(visits)
            }
            Err(alias) => {
                preparing.checked(Err(alias));
                None
            }
        }
    }

    fn visits_nothing(&self, uses: Vec<Access>, spawn_ticks: bool) -> Result<Box<Visits>, Alias> {
        if spawn_ticks {
            self.entities.ask_spawn_ticks();
        }
        match alias_in(&uses) {
            Some(alias) => Err(alias),
            None => Ok(Box::new(Visits {
                flagged: flagged(&uses).collect(),
                whole: whole(&uses),
                split: None,
                uses: uses.into(),
                stamp: self.stamp,
                tables: Vec::new(),
                member: Vec::new(),
                rowless: false,
                confined: false,
            })),
        }
    }

    /// Lets a query visit a table, after those it visits already. False when the table is none or that of a sparse
    /// set, lacks a column that is not optional, or is visited already.
    ///
    /// # Panics
    /// When the query is stale.
    pub fn admit<F: Fetch>(&self, query: &mut Prepared<F>, table: TableId) -> bool {
        query.admission().admit(self, table)
    }

    /// As [`Store::admit`], but visited as number `position`.
    ///
    /// # Panics
    /// When the query is stale, or `position` is past the end.
    pub fn admit_at<F: Fetch>(&self, query: &mut Prepared<F>, position: usize, table: TableId) -> bool {
        query.admission().admit_at(self, position, table)
    }

    /// Lets a query visit entities without a row. False when it needs a column, which they lack.
    ///
    /// # Panics
    /// When the query is stale.
    pub fn admit_rowless<F: Fetch>(&self, query: &mut Prepared<F>) -> bool {
        query.admission().admit_rowless(self)
    }

    /// Forgets the tables of a query, which makes it fresh again after tables were dropped.
    pub fn reset<F: Fetch>(&self, query: &mut Prepared<F>) {
        query.admission().reset(self);
    }

    /// Whether the query was prepared by this store since a table was last dropped.
    #[inline]
    pub fn is_fresh<F: Fetch>(&self, query: &Prepared<F>) -> bool {
        query.visits.stamp == self.stamp
    }

    #[inline(always)]
    pub(crate) fn expect_stamp(&self, stamp: u64) {
        if stamp != self.stamp {
            stale_query();
        }
    }

    /// Whether a table has each column that is needed in it.
    fn has_columns(&self, table: TableId, uses: &[Access]) -> bool {
        let needed = uses.iter().filter(|access| !access.optional && !access.in_set);
        needed.map(|access| self.cells.cell(access.column, table)).all(|cell| {
            // A column has a cell per table, which is null where the table lacks the column (I4).
            cell.is_some_and(|cell| !cell.is_absent())
        })
    }
}

#[cold]
#[inline(never)]
fn stale_query() -> ! {
    panic!(
        "a prepared query serves only its store, until a table is dropped: reset it and admit its tables anew"
    )
}
