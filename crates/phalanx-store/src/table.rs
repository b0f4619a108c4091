//! One table: equally long columns of rows that belong to entities with the same components.
//!
//! A table owns the memory of its columns. How many rows exist, for how many there is room, and whose they
//! are stands in the store's array of heads, because queries read nothing else of most tables.
//!
//! ```text
//!   Head   len, capacity, owners ─▶ | entity | entity | ...
//!   Table  headers ─┬─ data ──────▶ | row 0  | row 1  | ...
//!                   └─ data ──────▶ | row 0  | row 1  | ...
//!          tags: ids only, no memory
//! ```
//!
//! Columns are sorted by id and never change. A column whose values have neither size nor drop glue is a
//! *tag*: it is listed, has a lane pointer, and costs nothing when rows move.

use crate::column::{LaneCell, copy_value, swap_values};
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::headers::{ColumnRef, Headers, TableShape};
use crate::slab::{Slab, Word};
use crate::tick::Tick;

/// What every operation on a table's rows needs first.
#[doc(hidden)]
pub struct Head {
    /// The entity of each row; the ticks tell when rows came, went or moved.
    pub(crate) owners: LaneCell,
    pub(crate) len: u32,
    pub(crate) capacity: u32,
}

impl Head {
    /// The head of what is no table.
    pub(crate) fn nowhere() -> Self {
        Self { owners: LaneCell::ABSENT, len: 0, capacity: 0 }
    }

    /// Whether there is room for one more row.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.len < self.capacity
    }

    /// Lets `row`, the one behind the last, count as this entity's.
    ///
    /// # Safety
    /// There is room for the row, in which each column of the table has a value.
    #[inline(always)]
    pub(crate) unsafe fn count(&mut self, row: u32, entity: Entity, now: Tick) {
        // SAFETY: forwarded; there is room for the row (I3).
        unsafe {
            self.owners.mark_row(row as usize, now);
            self.count_unmarked(row, entity);
        }
    }

    /// As [`Head::count`], for a row whose block carries the present tick already.
    ///
    /// # Safety
    /// As for [`Head::count`].
    #[inline(always)]
    pub(crate) unsafe fn count_unmarked(&mut self, row: u32, entity: Entity) {
        debug_assert!(self.len == row && self.has_room());
        // SAFETY: there is room for the row (I3).
        unsafe { self.owners.data.cast::<Entity>().add(row as usize).write(entity) };
        self.len = row + 1;
    }

    /// Lets the last row count no more, whose entity has `row` from now on. Returns that entity, if it was another row.
    ///
    /// # Safety
    /// `row` is in range; if it is not the last one, the values of that one were put in its place.
    #[inline(always)]
    pub(crate) unsafe fn uncount(&mut self, row: u32, now: Tick) -> Option<Entity> {
        // SAFETY: forwarded; the rows are within the capacity (I3). Another block than that of the row may have lost its last
        // one.
        unsafe {
            self.owners.mark_row(self.len as usize - 1, now);
            let moved = self.uncount_unmarked(row);
            if moved.is_some() {
                self.owners.mark_row(row as usize, now);
            }
            moved
        }
    }

    /// As [`Head::uncount`], where the blocks of both rows carry the present tick already.
    ///
    /// # Safety
    /// As for [`Head::uncount`].
    #[inline(always)]
    pub(crate) unsafe fn uncount_unmarked(&mut self, row: u32) -> Option<Entity> {
        debug_assert!(row < self.len);
        let last = self.len - 1;
        self.len = last;
        if row == last {
            return None;
        }
        // SAFETY: the rows are within the capacity (I3).
        unsafe {
            let owners = self.owners.data.cast::<Entity>();
            let moved = owners.add(last as usize).read();
            owners.add(row as usize).write(moved);
            Some(moved)
        }
    }
}

/// The columns of one table.
pub(crate) struct Table {
    pub(crate) columns: Headers,
    pub(crate) tags: Box<[AnyColId]>,
    /// Positions of the columns with drop glue, ascending.
    pub(crate) droppers: Box<[u16]>,
    pub(crate) live: bool,
    /// Whether the rows belong to a sparse set, not to the entities' places.
    pub(crate) is_set: bool,
    pub(crate) shape: Option<TableShape>,
    /// Rows without values, in the order they were left: only a stable set has any (I11).
    pub(crate) holes: Vec<u32>,
}

impl Table {
    /// A place that holds no rows: the dead, the rowless, and dropped tables.
    pub(crate) fn nowhere() -> Self {
        Self {
            columns: Headers::none(),
            tags: Box::new([]),
            droppers: Box::new([]),
            live: false,
            is_set: false,
            shape: None,
            holes: Vec::new(),
        }
    }

    /// An empty table with these columns, given in ascending order without repetition.
    ///
    /// # Safety
    /// The slab lives as long as the table is used.
    pub(crate) unsafe fn new(slab: &mut Slab<Word>, ids: &[AnyColId], shape: Option<&TableShape>) -> Self {
        let (tags, columns): (Vec<AnyColId>, Vec<AnyColId>) = ids.iter().partition(|id| id.is_virtual());
        assert!(columns.len() < usize::from(u16::MAX), "a table holds fewer than 65,535 columns");
        // SAFETY: forwarded.
        let columns = unsafe { Headers::new(slab, &columns, shape) };
        let droppers = (0u16..).zip(columns.iter()).filter(|(_, column)| column.drop.is_some());
        Self {
            droppers: droppers.map(|(at, _)| at).collect(),
            columns,
            tags: tags.into(),
            live: true,
            is_set: false,
            shape: shape.cloned(),
            holes: Vec::new(),
        }
    }

    /// Copies the values of a row over those of another one.
    ///
    /// # Safety
    /// Both rows are in range and differ; the values of one of them are not needed any more.
    #[inline(always)]
    pub(crate) unsafe fn copy_row(&self, from: usize, to: usize) {
        for column in self.columns.iter() {
            let (data, size) = (column.data, column.size);
            // SAFETY: forwarded (I2).
            unsafe { copy_value(data.add(from * size), data.add(to * size), size) };
        }
    }

    /// Puts the last row in the place of another one, whose doomed values change places with it.
    ///
    /// # Safety
    /// Both rows are in range and differ; values of `row` are not needed any more, but for those of `doomed` columns.
    #[inline(never)]
    pub(crate) unsafe fn replace_row(&self, row: usize, last: usize, doomed: &[u16]) {
        let mut doomed = doomed.iter().copied().peekable();
        for (at, column) in (0u16..).zip(self.columns.iter()) {
            let (here, end) = (row * column.size, last * column.size);
            // SAFETY: forwarded (I2).
            unsafe {
                let (here, end) = (column.data.add(here), column.data.add(end));
                if doomed.next_if_eq(&at).is_some() {
                    swap_values(here, end, column.size);
                } else {
                    copy_value(end, here, column.size);
                }
            }
        }
    }

    /// Where a column stands, for plans.
    pub(crate) fn find(&self, id: AnyColId) -> ColumnRef {
        match self.position(id) {
            Some(at) => self.columns.refs()[at],
            None if self.tags.binary_search(&id).is_ok() => ColumnRef::TAG,
            None => ColumnRef::ABSENT,
        }
    }

    /// Where a column with memory stands among those of the table.
    pub(crate) fn position(&self, id: AnyColId) -> Option<usize> {
        self.columns.position(id)
    }

    /// The number of a column, first those with memory, then tags: below [`Table::width`].
    pub(crate) fn number(&self, id: AnyColId) -> Option<usize> {
        let tag = || self.tags.binary_search(&id).ok().map(|at| self.columns.refs().len() + at);
        self.position(id).or_else(tag)
    }

    /// How many columns there are, with memory and without.
    pub(crate) fn width(&self) -> usize {
        self.columns.refs().len() + self.tags.len()
    }

    /// Whether the table has the column, with memory or as a tag.
    pub(crate) fn has(&self, id: AnyColId) -> bool {
        !self.find(id).is_absent()
    }

    /// All columns, in ascending order of each kind: with memory first, then tags.
    pub(crate) fn ids(&self) -> impl Iterator<Item = AnyColId> + '_ {
        self.columns.iter().map(|column| column.id).chain(self.tags.iter().copied())
    }
}
