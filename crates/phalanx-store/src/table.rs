//! One table: equally long columns of rows that belong to entities with the same components.
//!
//! A table owns the memory of its columns and knows their capacity; how many rows exist stands in
//! `Store::lens`, beside those of all other tables, because queries read nothing else of most tables.
//!
//! ```text
//!   Table  capacity ──┬─ columns[0] data ─▶ | row 0 | row 1 | ...
//!                     ├─ columns[1] data ─▶ | row 0 | row 1 | ...
//!                     └─ tags: ids only, no memory
//! ```
//!
//! Columns are sorted by id and never change. A column whose values have neither size nor drop glue is a
//! *tag*: it is listed, has a lane pointer, and costs nothing when rows move.

use crate::column;
use crate::column_id::{AnyColId, ColumnType};

/// "No column here", in plans.
pub(crate) const NO_COLUMN: u16 = u16::MAX;

/// A column as its table sees it. Public only because sealed traits name it.
#[doc(hidden)]
pub struct TableColumn {
    pub(crate) id: AnyColId,
    pub(crate) of: &'static ColumnType,
    pub(crate) data: *mut u8,
    pub(crate) size: usize,
}

/// The columns of one table and their common capacity.
pub(crate) struct Table {
    pub(crate) capacity: usize,
    pub(crate) columns: Box<[TableColumn]>,
    pub(crate) tags: Box<[AnyColId]>,
    /// Positions of the columns with drop glue, ascending.
    pub(crate) droppers: Box<[u16]>,
    pub(crate) live: bool,
    /// Whether the rows belong to a sparse set, not to the entities' places.
    pub(crate) is_set: bool,
    /// Rows without values, in the order they were left: only a stable set has any (I11).
    pub(crate) holes: Vec<u32>,
}

impl Table {
    /// A place that holds no rows: the dead, the rowless, and dropped tables.
    pub(crate) fn nowhere() -> Self {
        Self {
            capacity: 0,
            columns: Box::new([]),
            tags: Box::new([]),
            droppers: Box::new([]),
            live: false,
            is_set: false,
            holes: Vec::new(),
        }
    }

    /// An empty table with these columns, given in ascending order without repetition.
    pub(crate) fn new(ids: &[AnyColId]) -> Self {
        let mut columns = Vec::new();
        let mut tags = Vec::new();
        for &id in ids {
            let of = id.column_type();
            if of.is_virtual() {
                tags.push(id);
            } else {
                columns.push(TableColumn { id, of, data: column::dangling(of), size: of.layout.size() });
            }
        }
        assert!(columns.len() < usize::from(NO_COLUMN), "a table holds fewer than 65,535 columns");
        let droppers = (0u16..).zip(&columns).filter(|(_, column)| column.of.drop.is_some());
        Self {
            capacity: 0,
            droppers: droppers.map(|(at, _)| at).collect(),
            columns: columns.into(),
            tags: tags.into(),
            live: true,
            is_set: false,
            holes: Vec::new(),
        }
    }

    /// The position of a column with memory.
    pub(crate) fn position(&self, id: AnyColId) -> Option<u16> {
        let found = self.columns.binary_search_by_key(&id, |column| column.id).ok()?;
        Some(u16::try_from(found).expect("a table holds fewer than 65,535 columns"))
    }

    /// Whether the table has the column, with memory or as a tag.
    pub(crate) fn has(&self, id: AnyColId) -> bool {
        self.position(id).is_some() || self.tags.binary_search(&id).is_ok()
    }

    /// All columns, in ascending order of each kind: with memory first, then tags.
    pub(crate) fn ids(&self) -> impl Iterator<Item = AnyColId> + '_ {
        self.columns.iter().map(|column| column.id).chain(self.tags.iter().copied())
    }
}
