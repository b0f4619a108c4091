//! One table: equally long columns of rows that belong to entities with the same components.
//!
//! A table owns the memory of its columns. How many rows exist, for how many there is room, and whose they
//! are stands in the store's array of metas, because queries read nothing else of most tables.
//!
//! ```text
//!   TableMeta   len, capacity, owners ─▶ | entity | entity | ...
//!   Table       columns ─┬─ data ──────▶ | row 0  | row 1  | ...
//!                        └─ data ──────▶ | row 0  | row 1  | ...
//!               tags: ids only, no memory
//! ```
//!
//! Columns are sorted by id and never change. A column whose values have neither size nor drop glue is a
//! *tag*: it is listed, has a cell, and costs nothing when rows move.

use crate::column::ColumnCell;
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::location::Row;
use crate::steps;
use crate::store::fresh_stamp;
use crate::table_columns::{ColumnList, TableColumns, TableShape};
use crate::tick::Tick;
use crate::values::Values;

/// What every operation on a table's rows needs first.
#[doc(hidden)]
pub struct TableMeta {
    /// The entity of each row; the ticks tell when rows came, went or moved.
    pub(crate) owners: ColumnCell,
    pub(crate) len: u32,
    pub(crate) capacity: u32,
}

impl TableMeta {
    /// The meta of what is no table.
    pub(crate) fn nowhere() -> Self {
        Self { owners: ColumnCell::ABSENT, len: 0, capacity: 0 }
    }

    /// Whether there is room for one more row.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.len < self.capacity
    }

    /// The entities of the rows; a hole shows the placeholder.
    #[inline(always)]
    pub(crate) fn entities(&self) -> &[Entity] {
        if self.len == 0 {
            // What is no table has no memory, either.
            return &[];
        }
        steps::count(self.len as usize);
        // SAFETY: there are rows, so there is memory (I3); each has its entity (I5, I10), a hole the placeholder (I11). They
        // are written only by an exclusive owner of the meta.
        unsafe { std::slice::from_raw_parts(self.owners.data.cast(), self.len as usize) }
    }

    /// The entity of a row.
    ///
    /// # Safety
    /// The row is in range.
    #[inline(always)]
    pub(crate) unsafe fn owner(&self, row: usize) -> Entity {
        debug_assert!(row < self.len as usize);
        steps::count(1);
        // SAFETY: forwarded: each row has its entity (I5, I10), a hole the placeholder (I11).
        unsafe { self.owners.data.cast::<Entity>().add(row).read() }
    }

    /// Whether a row is that of an entity.
    #[inline(always)]
    pub(crate) fn is_owned_by(&self, row: usize, entity: Entity) -> bool {
        // Not by `entities`, which asks as well whether there is any.
        // SAFETY: locally: the row is in range, as was checked first.
        row < self.len as usize && unsafe { self.owner(row) } == entity
    }

    /// Gives a row to another entity.
    ///
    /// # Safety
    /// The row is in range, and is that of the entity from now on.
    #[inline(always)]
    pub(crate) unsafe fn set_owner(&mut self, row: usize, entity: Entity, now: Tick) {
        debug_assert!(row < self.len as usize);
        // SAFETY: forwarded: the row is within the capacity (I3).
        unsafe {
            self.owners.mark_row(row, now);
            self.owners.data.cast::<Entity>().add(row).write(entity);
        }
    }

    /// Takes a row away: the values of the last one take its place. Returns the entity which has the row then, if it was
    /// not the last one itself.
    ///
    /// # Safety
    /// The row is in range, and nothing of it is needed any more. The pointers are those of all columns with memory of the
    /// meta's table, which has no holes, and they are whole.
    #[inline(always)]
    pub(crate) unsafe fn swap_remove<V: Values>(
        &mut self,
        pointers: V::Pointers,
        row: usize,
        now: Tick,
    ) -> Option<Entity> {
        // SAFETY: forwarded: the row and the last one are in range, and differ where one is moved; both hold values of all
        // columns (I2), those of the last one from now on in the place of the others.
        unsafe {
            let moved = self.pop_row(Row::from_index(row).get(), now);
            if moved.is_some() {
                // The last row is behind the end now, and holds its values still.
                V::shift(pointers, V::ALL, self.len as usize, row);
            }
            moved
        }
    }

    /// Commits the row at index `len` as this entity's.
    ///
    /// # Safety
    /// `row` is the length, and there is room for it; each column of the table has a value there, which belongs to the table
    /// from now on. The entity has that row (I5, I10).
    #[inline(always)]
    pub(crate) unsafe fn push_row(&mut self, row: u32, entity: Entity, now: Tick) {
        debug_assert!(self.len == row && self.has_room());
        // SAFETY: forwarded; there is room for the row (I3).
        unsafe {
            let owners = self.owners.data.cast::<Entity>();
            self.owners.mark_row(row as usize, now);
            owners.add(row as usize).write(entity);
        }
        self.len = row + 1;
    }

    /// Takes the last row away, whose entity has `row` from now on. Returns that entity, if it was another row.
    ///
    /// # Safety
    /// `row` is in range, and the table has no holes; if it is not the last one, the values of that one were put in its place,
    /// or are next. The caller notes the row of the entity that is returned (I5, I10).
    #[inline(always)]
    pub(crate) unsafe fn pop_row(&mut self, row: u32, now: Tick) -> Option<Entity> {
        debug_assert!(row < self.len);
        let last = self.len - 1;
        self.len = last;
        // SAFETY: forwarded; the rows are within the capacity (I3). Another block than that of the row may have lost
        // its last one.
        unsafe {
            let owners = self.owners.data.cast::<Entity>();
            self.owners.mark_row(last as usize, now);
            if row == last {
                return None;
            }
            steps::count(1);
            let moved = owners.add(last as usize).read();
            owners.add(row as usize).write(moved);
            self.owners.mark_row(row as usize, now);
            Some(moved)
        }
    }
}

/// The columns of one table.
pub(crate) struct Table {
    pub(crate) columns: TableColumns,
    pub(crate) tags: Box<[AnyColId]>,
    /// Positions of the columns with drop glue, ascending.
    pub(crate) droppers: Box<[u16]>,
    pub(crate) live: bool,
    /// Differs between all tables: ids are used again.
    pub(crate) serial: u64,
    /// Whether the rows belong to a sparse set, not to the entities' places.
    pub(crate) is_set: bool,
    pub(crate) shape: Option<TableShape>,
    /// Rows without values, in the order they were left: only a stable set has any (I11).
    pub(crate) holes: Vec<u32>,
}

impl Table {
    /// A place that holds no rows: dead and rowless entities, and dropped tables.
    pub(crate) fn nowhere() -> Self {
        Self { live: false, ..Self::new(&[], None) }
    }

    /// An empty table with these columns, given in ascending order without repetition.
    pub(crate) fn new(ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        let (tags, columns): (Vec<AnyColId>, Vec<AnyColId>) = ids.iter().partition(|id| id.is_virtual());
        assert!(columns.len() < usize::from(u16::MAX), "a table holds fewer than 65,535 columns");
        let columns = TableColumns::new(&columns, shape);
        let droppers = (0u16..).zip(columns.iter()).filter(|(_, column)| column.drop.is_some());
        Self {
            droppers: droppers.map(|(at, _)| at).collect(),
            columns,
            tags: tags.into(),
            live: true,
            serial: fresh_stamp(),
            is_set: false,
            shape: shape.cloned(),
            holes: Vec::new(),
        }
    }

    /// Copies the values of a row over those of another one.
    ///
    /// # Safety
    /// Both rows are in range and differ. `from` has values, those of `to` are not needed any more, and afterwards only one
    /// of the two rows counts as initialised.
    #[inline(always)]
    pub(crate) unsafe fn copy_row(&self, from: usize, to: usize) {
        for column in self.columns.iter() {
            let rows = column.rows();
            // SAFETY: forwarded: the column has both rows (I3), and is its own type (I1).
            unsafe { rows.copy(from, rows, to) };
        }
    }

    /// Puts the last row in the place of another one, whose removed values change places with it.
    ///
    /// # Safety
    /// Both rows are in range, differ, and have values. Those of `row` are not needed any more, but for those of `removed`
    /// columns, which ascend; afterwards only these count as initialised in the last row.
    #[inline(never)]
    pub(crate) unsafe fn replace_row(&self, row: usize, last: usize, removed: &[u16]) {
        let mut removed = removed.iter().copied().peekable();
        for (at, column) in (0u16..).zip(self.columns.iter()) {
            let rows = column.rows();
            // SAFETY: forwarded: the column has both rows (I3), which differ.
            unsafe {
                if removed.next_if_eq(&at).is_some() {
                    rows.swap(row, last);
                } else {
                    rows.copy(last, rows, row);
                }
            }
        }
    }

    /// Where columns stand, for plans.
    pub(crate) fn select(&self, ids: &[AnyColId]) -> ColumnList {
        self.columns.select(ids, |id| self.has_tag(id))
    }

    pub(crate) fn has_tag(&self, id: AnyColId) -> bool {
        self.tags.binary_search(&id).is_ok()
    }

    /// Where a column with memory stands among those of the table.
    pub(crate) fn position(&self, id: AnyColId) -> Option<usize> {
        self.columns.position(id)
    }

    /// The number of a column, first those with memory, then tags: below [`Table::width`].
    pub(crate) fn number(&self, id: AnyColId) -> Option<usize> {
        let tag = || self.tags.binary_search(&id).ok().map(|at| self.columns.len() + at);
        self.position(id).or_else(tag)
    }

    /// How many columns there are, with memory and without.
    pub(crate) fn width(&self) -> usize {
        self.columns.len() + self.tags.len()
    }

    /// Whether the table has the column, with memory or as a tag.
    pub(crate) fn has(&self, id: AnyColId) -> bool {
        self.position(id).is_some() || self.has_tag(id)
    }

    /// All columns, in ascending order of each kind: with memory first, then tags.
    pub(crate) fn ids(&self) -> impl Iterator<Item = AnyColId> + '_ {
        self.columns.iter().map(|column| column.id).chain(self.tags.iter().copied())
    }
}
