//! How rows get from one table to another, worked out once.
//!
//! An [`Edge`] says for each column of the target where its value comes from, and for each column of the
//! source where its value goes. The store makes edges and checks that nothing is left open (I7); following
//! one later is a comparison of its stamp and a run of copies.
//!
//! ```text
//!   source table      target table
//!   A  ───────────▶   A          copied
//!   B  ──▶ column                  taken by the values that are removed
//!   C  ──▶ removed                dropped when everything else is done
//!          column  ─▶   D          from the values that are inserted
//!          init  ─▶   E          made by a function: components that were required
//! ```
//!
//! Spawning is following an edge from [`TableId::ROWLESS`]; there is no second mechanism.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::column_id::AnyColId;
use crate::location::TableId;
use crate::store::Store;
use crate::table::Table;
use crate::table_columns::{Column, ColumnList, ColumnPairs, Comparison};
use crate::tick::Tick;
use crate::values::Values;

/// Makes values and writes them to a row of some columns. It has the duty of [`PlannedInit::run`], which alone calls it: there
/// is no type of closures that are unsafe to call.
type Write = dyn Fn(Tick, &ColumnList, usize) + Send + Sync;

/// Makes the values of columns that were not given.
#[derive(Clone)]
pub struct Init {
    columns: Arc<[AnyColId]>,
    write: Arc<Write>,
}

impl Init {
    /// Values for the columns `ids`, made by `make` when a row needs them.
    pub fn new<V: Values>(ids: V::Ids, make: impl Fn(Tick) -> V + Send + Sync + 'static) -> Self {
        let write: Arc<Write> = Arc::new(move |now: Tick, slots: &ColumnList, row: usize| {
            let values = make(now);
            assert!(values.fits(&mut slots.iter()), "{UNFIT}");
            // SAFETY: `PlannedInit::run`, which alone calls this, passes the slots that were found for these ids in a
            // table that lives (I1, I7), with room for the row (I3), which holds nothing yet (I2). The values fit, as was
            // asked just now.
            unsafe { values.write(V::pointers(&mut slots.iter()), row) };
        });
        let mut columns = Vec::new();
        V::list(ids, &mut columns);
        Self::writing(columns, write)
    }

    /// Apart, so that it is compiled once.
    #[inline(never)]
    fn writing(columns: Vec<AnyColId>, write: Arc<Write>) -> Self {
        Self { columns: columns.into(), write }
    }

    /// The columns that are written.
    pub fn columns(&self) -> &[AnyColId] {
        &self.columns
    }
}

impl fmt::Debug for Init {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Init").field("columns", &self.columns).finish_non_exhaustive()
    }
}

pub(crate) struct PlannedInit {
    init: Init,
    pub(crate) slots: ColumnList,
}

impl PlannedInit {
    /// # Safety
    /// The edge is fresh, and its target has room for `row`, which holds nothing yet.
    pub(crate) unsafe fn run(&self, now: Tick, row: usize) {
        (self.init.write)(now, &self.slots, row);
    }
}

/// A checked edge from one table to another.
pub struct Edge {
    pub(crate) stamp: u64,
    pub(crate) values: TypeId,
    pub(crate) source: TableId,
    pub(crate) target: TableId,
    /// The columns that both tables have, in the source and in the target.
    copies: ColumnPairs,
    /// The columns of the source that the target lacks.
    pub(crate) left: ColumnList,
    /// Whether a row goes from table to table, and each value is copied, given or taken: nothing is made or dropped,
    /// and nothing given is there already.
    pub(crate) plain: bool,
    /// The leaves' columns, in column order: in the source of an edge that takes, else in the target.
    pub(crate) slots: ColumnList,
    /// The ids of `slots`, for an edge whose columns are filled one by one.
    pub(crate) filled: Box<[AnyColId]>,
    /// Which columns the source has.
    pub(crate) present: Box<[bool]>,
    pub(crate) inits: Box<[PlannedInit]>,
    /// Columns of the source with drop glue whose values go nowhere.
    pub(crate) removed: Box<[u16]>,
    pub(crate) takes: bool,
}

/// Why optional values are refused.
const UNFIT: &str = "optional values must be there exactly where the table has a column for them";

impl Edge {
    /// Where the edge begins.
    pub fn source(&self) -> TableId {
        self.source
    }

    /// Where the edge ends.
    pub fn target(&self) -> TableId {
        self.target
    }

    /// Panics unless the values that are there are those with a column (I7).
    #[inline(always)]
    pub(crate) fn expect_fit<V: Values>(&self, values: &V) {
        assert!(values.fits(&mut self.slots.iter()), "{UNFIT}");
    }

    fn with_kind(self) -> Self {
        let moves = self.source != self.target && self.source.has_rows() && self.target.has_rows();
        let alone = self.inits.is_empty() && self.removed.is_empty();
        Self { plain: moves && alone && (self.takes || !self.present.contains(&true)), ..self }
    }

    /// How many columns are copied from row to row.
    pub fn copied_columns(&self) -> usize {
        self.copies.len()
    }

    /// The columns that both tables have, in the source and in the target.
    #[inline(always)]
    pub(crate) fn copies(&self) -> impl Iterator<Item = (&Column, &Column)> {
        self.copies.iter()
    }

    /// Where the columns of the values are.
    ///
    /// # Safety
    /// The edge is for `V`.
    #[inline(always)]
    pub(crate) unsafe fn pointers<V: Values>(&self) -> V::Pointers {
        // SAFETY: forwarded: the edge has a slot for each column of `V`, and no other (I7).
        V::pointers(&mut unsafe { self.slots.exactly(V::COLUMNS) })
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge")
            .field("source", &self.source)
            .field("target", &self.target)
            .field("copies", &self.copies.len())
            .field("removed", &self.removed)
            .finish_non_exhaustive()
    }
}

/// Why two tables and a set of values do not make an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// A table id that names no table.
    NoTable(TableId),
    /// A column that two of the given values claim.
    Repeated(AnyColId),
    /// A column of the target that nothing fills.
    Unfilled(AnyColId),
    /// A column of the given values that the target lacks, or on removal still has.
    ColumnMismatch(AnyColId),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTable(table) => write!(f, "there is no table {table:?}"),
            Self::Repeated(column) => write!(f, "two values for one column of {}", column.type_name()),
            Self::Unfilled(column) => write!(f, "no value for a column of {}", column.type_name()),
            Self::ColumnMismatch(column) => {
                write!(f, "the tables do not fit a value of {}", column.type_name())
            }
        }
    }
}

impl std::error::Error for PlanError {}

impl Store {
    /// The edge that brings `V` into rows of `source` and takes them to `target`.
    ///
    /// Columns of the target that neither `source` nor `V` has come from `inits`; columns of the source that
    /// the target lacks are dropped.
    ///
    /// # Errors
    /// When a column of the target would stay empty, or the columns of `V` do not fit.
    pub fn insert_edge<V: Values>(
        &self,
        source: TableId,
        target: TableId,
        ids: V::Ids,
        inits: &[Init],
    ) -> Result<Edge, PlanError> {
        self.insert_edge_of(&ValueColumns::of::<V>(ids), source, target, inits)
    }

    /// The edge that takes rows of `source` to `target`, whose columns `given`, which the source lacks, are filled one
    /// by one by the caller; see [`Store::insert_filled`].
    ///
    /// # Errors
    /// When a column of the target would stay empty, or one is given twice, or the target lacks it.
    pub fn fill_edge(
        &self,
        source: TableId,
        target: TableId,
        given: &[AnyColId],
        inits: &[Init],
    ) -> Result<Edge, PlanError> {
        let from = self.table_for_plan(source)?;
        if let Some(&column) = given.iter().find(|&&column| from.has(column)) {
            return Err(PlanError::Repeated(column));
        }
        let value_columns = ValueColumns {
            of: TypeId::of::<Filled>(),
            columns: given.to_vec(),
            optional: vec![false; given.len()],
        };
        Ok(Edge { filled: given.into(), ..self.insert_edge_of(&value_columns, source, target, inits)? })
    }

    fn insert_edge_of(
        &self,
        values: &ValueColumns,
        source: TableId,
        target: TableId,
        inits: &[Init],
    ) -> Result<Edge, PlanError> {
        let (from, to) = (self.table_for_plan(source)?, self.table_for_plan(target)?);
        self.edge_into(values, source, target, from, to, inits)
    }

    fn edge_into(
        &self,
        values: &ValueColumns,
        source: TableId,
        target: TableId,
        from: &Table,
        to: &Table,
        inits: &[Init],
    ) -> Result<Edge, PlanError> {
        let value_columns = values.distinct()?;
        // Which columns of the target get a value that does not come from the source.
        let mut given = vec![false; to.width()];
        for (&column, &may_lack) in value_columns.iter().zip(&values.optional) {
            match to.number(column) {
                Some(at) => given[at] = true,
                None if may_lack => {}
                None => return Err(PlanError::ColumnMismatch(column)),
            }
        }
        for &column in inits.iter().flat_map(Init::columns) {
            let at = to.number(column).ok_or(PlanError::ColumnMismatch(column))?;
            if std::mem::replace(&mut given[at], true) || from.has(column) {
                return Err(PlanError::Repeated(column));
            }
        }
        let Comparison { shared, left, new } = from.columns.compare(&to.columns);
        let is_given = |&column: &AnyColId| to.number(column).is_some_and(|at| given[at]);
        if let Some(column) = new_ids(&new, from, to).find(|column| !is_given(column)) {
            return Err(PlanError::Unfilled(column));
        }
        let inits =
            inits.iter().map(|init| PlannedInit { init: init.clone(), slots: to.select(init.columns()) });
        Ok(Edge {
            inits: inits.collect(),
            removed: left_droppers(from, &left, &[]),
            ..self.edge(values, source, target, to, (shared, left))
        }
        .with_kind())
    }

    /// The edge that takes what rows of `source` have of `V` away, and them to `target`.
    ///
    /// Other columns of the source that the target lacks are dropped.
    ///
    /// # Errors
    /// When the target has a column that the source lacks, or keeps one of `V`.
    pub fn remove_edge<V: Values>(
        &self,
        source: TableId,
        target: TableId,
        ids: V::Ids,
    ) -> Result<Edge, PlanError> {
        self.remove_edge_of(&ValueColumns::of::<V>(ids), source, target)
    }

    fn remove_edge_of(
        &self,
        values: &ValueColumns,
        source: TableId,
        target: TableId,
    ) -> Result<Edge, PlanError> {
        let (from, to) = (self.table_for_plan(source)?, self.table_for_plan(target)?);
        let value_columns = values.distinct()?;
        if let Some(&column) = value_columns.iter().find(|&&column| to.has(column)) {
            return Err(PlanError::ColumnMismatch(column));
        }
        let Comparison { shared, left, new } = from.columns.compare(&to.columns);
        if let Some(column) = new_ids(&new, from, to).next() {
            return Err(PlanError::Unfilled(column));
        }
        Ok(Edge {
            removed: left_droppers(from, &left, value_columns),
            takes: true,
            ..self.edge(values, source, target, from, (shared, left))
        }
        .with_kind())
    }

    /// The edge on which the columns of a set are filled one by one.
    pub(crate) fn set_fill_edge(&self, table: TableId, given: &[AnyColId]) -> Result<Edge, PlanError> {
        let to = &self.tables[table.index()];
        let from = &self.tables[TableId::ROWLESS.index()];
        let columns = given.to_vec();
        let optional = vec![false; given.len()];
        let values = ValueColumns { of: TypeId::of::<Filled>(), columns, optional };
        self.edge_into(&values, TableId::ROWLESS, table, from, to, &[])
    }

    /// The edge on which functions alone fill a row of a set.
    pub(crate) fn set_edge(&self, table: TableId, inits: &[Init]) -> Result<Edge, PlanError> {
        let to = &self.tables[table.index()];
        let from = &self.tables[TableId::ROWLESS.index()];
        self.edge_into(&ValueColumns::of::<()>(()), TableId::ROWLESS, table, from, to, inits)
    }

    fn edge(
        &self,
        values: &ValueColumns,
        source: TableId,
        target: TableId,
        home: &Table,
        (copies, left): (ColumnPairs, ColumnList),
    ) -> Edge {
        let value_columns = &values.columns;
        let from = &self.tables[source.index()];
        Edge {
            copies,
            left,
            plain: false,
            stamp: self.stamp,
            values: values.of,
            source,
            target,
            slots: home.select(value_columns),
            filled: Box::new([]),
            present: value_columns.iter().map(|&column| from.has(column)).collect(),
            inits: Box::new([]),
            removed: Box::new([]),
            takes: false,
        }
    }

    fn table_for_plan(&self, id: TableId) -> Result<&Table, PlanError> {
        let real = |table: &&Table| (table.live && !table.is_set) || id == TableId::ROWLESS;
        let table = self.tables.get(id.index()).filter(real);
        table.ok_or(PlanError::NoTable(id))
    }

    /// Panics unless the edge was made by this store to be filled, since a table was last dropped (I7).
    pub(crate) fn expect_fill_edge(&self, edge: &Edge) {
        if edge.stamp != self.stamp || edge.values != TypeId::of::<Filled>() {
            stale_edge();
        }
    }

    /// Panics unless the edge was made by this store, for `V`, since a table was last dropped (I7).
    #[inline(always)]
    pub(crate) fn expect_edge<V: Values>(&self, edge: &Edge, takes: bool) {
        if edge.stamp != self.stamp || edge.values != TypeId::of::<V>() || edge.takes != takes {
            stale_edge();
        }
    }
}

/// Stands for the values of an edge whose columns are filled one by one.
struct Filled;

#[cold]
#[inline(never)]
fn stale_edge() -> ! {
    panic!(
        "an edge serves only the store and the values it was made for, until a table is dropped: make it anew"
    )
}

/// The columns that values go into, without their type: what follows from them is compiled once for all.
struct ValueColumns {
    of: TypeId,
    columns: Vec<AnyColId>,
    /// For each column whether values may lack it.
    optional: Vec<bool>,
}

impl ValueColumns {
    fn of<V: Values>(ids: V::Ids) -> Self {
        let (mut columns, mut optional) = (Vec::new(), Vec::new());
        V::list(ids, &mut columns);
        V::optional(&mut optional);
        Self { of: TypeId::of::<V>(), columns, optional }
    }

    /// The columns, where none is claimed twice.
    fn distinct(&self) -> Result<&[AnyColId], PlanError> {
        let columns = &self.columns;
        match columns.iter().enumerate().find(|&(at, column)| columns[..at].contains(column)) {
            Some((_, &column)) => Err(PlanError::Repeated(column)),
            None => Ok(columns),
        }
    }
}

pub(crate) fn distinct_columns<V: Values>(ids: V::Ids) -> Result<Vec<AnyColId>, PlanError> {
    let value_columns = ValueColumns::of::<V>(ids);
    value_columns.distinct()?;
    Ok(value_columns.columns)
}

/// The columns that `to` has and `from` lacks: `new` are those with memory.
fn new_ids(new: &ColumnList, from: &Table, to: &Table) -> impl Iterator<Item = AnyColId> {
    let tags = to.tags.iter().copied().filter(|&tag| !from.has_tag(tag));
    new.iter().map(|column| column.id).chain(tags)
}

/// Where those columns with drop glue stand that go nowhere: they are left, and not taken.
fn left_droppers(from: &Table, left: &ColumnList, taken: &[AnyColId]) -> Box<[u16]> {
    let gone = left.iter().filter(|column| column.drop.is_some() && !taken.contains(&column.id));
    let position = |column: &Column| from.position(column.id).and_then(|at| u16::try_from(at).ok());
    gone.map(|column| position(column).expect("the table has the column")).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::column_id::ColId;
    use crate::table_columns::COMPARED;
    use crate::values::Col;

    /// How many columns are looked at to work out the edges between two tables, of `count` columns and of one more.
    fn compared(count: u32) -> u64 {
        let ids: Vec<ColId<u32>> = (0..=count).map(|at| ColId::named(&format!("wide {at}"))).collect();
        let columns: Vec<AnyColId> = ids.iter().map(|id| id.any()).collect();
        let mut store = Store::new();
        let (less, more) = (store.new_table(&columns[1..]), store.new_table(&columns));
        let inits: Vec<Init> = ids.iter().map(|&id| Init::new(id, |_| Col(0))).collect();
        let before = COMPARED.get();
        let edges = [
            store.insert_edge::<()>(less, more, (), &inits[..1]),
            store.remove_edge::<()>(more, less, ()),
            store.insert_edge::<()>(TableId::ROWLESS, more, (), &inits),
        ];
        assert!(edges.iter().all(Result::is_ok), "{edges:?}");
        COMPARED.get() - before
    }

    #[test]
    fn edges_between_wide_tables_take_steps_in_proportion_to_their_columns() {
        let (small, large) = (compared(500), compared(5_000));
        // Ten times the columns, each found by a search that is a little longer.
        assert!(large < 15 * small, "{small} and {large} columns were looked at");
    }
}
