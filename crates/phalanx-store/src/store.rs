//! The store: the entity directory, the tables, and the column index that mirrors them.
//!
//! ```text
//!   entities   slot ─▶ (table, row)
//!   metas      [TableMeta]                   rows, room and entities of each table
//!   cells      column ─▶ [cell per table]    data pointer (null: absent) and tick of block 0
//!   tables     [Table]                       the owner of the columns' memory
//! ```
//!
//! The column index is column-major: a query walks one short array per column and touches no table. It is a
//! mirror, written only when a table is created, grown or dropped (I3, I4). Tables 0 and 1 are not tables:
//! dead and rowless entities point there, and every cell is null for them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::column::{self, BLOCK_ROWS, ColumnCell};
use crate::column_id::{AnyColId, ColCell, ColumnType};
use crate::column_index::ColumnIndex;
use crate::entities::Entities;
use crate::entity::Entity;
use crate::flags::BorrowFlags;
use crate::image::Image;
use crate::location::{EntityLocation, TableId};
use crate::sets::{PinnedSet, SetGroups, SetId, SparseSet};
use crate::slab::Slab;
use crate::sorting;
use crate::spawn_cursor::SpawnCursors;
use crate::split::Splits;
use crate::table::{Table, TableMeta};
use crate::table_columns::{Column, TableShape};
use crate::tick::Tick;

/// The rows a table gets room for at first.
const FIRST_CAPACITY: usize = 8;
/// The capacities that are followed by four times as many: here growing copies most for each row that comes, and what
/// is not used yet is whole pages, which no memory stands behind until they are touched.
const LEAPS: Range<usize> = BLOCK_ROWS..16 * BLOCK_ROWS;

/// What there is room for after so much: rows of a table, slots of the directory.
pub(crate) fn grown(capacity: usize) -> usize {
    let factor = if LEAPS.contains(&capacity) { 4 } else { 2 };
    (capacity * factor).max(FIRST_CAPACITY)
}

static ENTITY_COLUMN: ColCell<Entity> = ColCell::new();
static NEXT_STAMP: AtomicU64 = AtomicU64::new(1);

pub(crate) fn fresh_stamp() -> u64 {
    NEXT_STAMP.fetch_add(1, Ordering::Relaxed)
}

/// Entities and their rows.
pub struct Store {
    /// Differs between stores, and changes when a table is dropped: what was verified under another stamp is stale.
    pub(crate) stamp: u64,
    pub(crate) cursors: SpawnCursors,
    pub(crate) entities: Entities,
    pub(crate) tick: Tick,
    pub(crate) metas: Vec<TableMeta>,
    pub(crate) cells: ColumnIndex,
    pub(crate) tables: Vec<Table>,
    /// The memory of small columns.
    lines: Slab,
    /// Ids of dropped tables, for others of the same shape: which shape an id has never changes.
    pub(crate) free_tables: Vec<(TableId, Option<TableShape>)>,
    pub(crate) flags: BorrowFlags,
    pub(crate) splits: Splits,
    /// Differs between stores, for good.
    pub(crate) id: u64,
    pub(crate) sets: Vec<PinnedSet>,
    /// Indexed by column id.
    pub(crate) set_of_column: Vec<Option<SetId>>,
    pub(crate) groups: SetGroups,
    /// How often a single entity went from one table to another.
    pub(crate) moves: u64,
    pub(crate) location_repairs: AtomicU64,
    /// The image that the store was last equal to (I15).
    pub(crate) base: Option<Arc<Image>>,
    entity_type: &'static ColumnType,
}

// SAFETY: a store owns its values and the memory that its pointers point to, and every column type is `Send + Sync` (bounds
// of `ColCell`, `of_marker`, `named`; I1).
unsafe impl Send for Store {}
// SAFETY: every column type is `Sync`, and `Send` for those that write (I1). Through `&Store` alone values are only
// read; a session, which writes through a shared reference, borrows the store exclusively, and its locks keep columns
// apart in each table (I8). All else that is written through a shared reference is atomic or behind a lock: ticks,
// reservations, flags, counters, the list of split columns. What is neither a value nor a pointer to one, such as
// images, is `Send` and `Sync` by itself.
unsafe impl Sync for Store {}

/// What the two lines above would hide: all parts without pointers are fit for threads by themselves.
const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<(Entities, Tick, BorrowFlags, Splits, SparseSet, SetGroups, Option<Arc<Image>>)>();
};

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl Store {
    /// A store without entities.
    pub fn new() -> Self {
        Self::with_entities(Entities::new())
    }

    /// A store over the given directory, which must be empty.
    ///
    /// # Panics
    /// When the directory has slots already.
    pub fn with_entities(entities: Entities) -> Self {
        assert_eq!(entities.slots(), 0, "a store begins with an empty entity directory");
        let mut store = Self {
            stamp: fresh_stamp(),
            cursors: SpawnCursors::new(),
            entities,
            tick: Tick::new(1),
            metas: Vec::new(),
            cells: ColumnIndex::new(),
            tables: Vec::new(),
            lines: Slab::default(),
            free_tables: Vec::new(),
            flags: BorrowFlags::default(),
            splits: Splits::default(),
            id: fresh_stamp(),
            sets: Vec::new(),
            set_of_column: Vec::new(),
            groups: SetGroups::default(),
            moves: 0,
            location_repairs: AtomicU64::new(0),
            base: None,
            entity_type: ENTITY_COLUMN.id().any().column_type(),
        };
        store.push_table(Table::nowhere());
        store.push_table(Table::nowhere());
        store
    }

    /// The entity directory.
    pub fn entities(&self) -> &Entities {
        &self.entities
    }

    /// The present moment: what is written now carries this tick.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Moves the clock on by one and returns the new moment.
    #[inline]
    pub fn advance_tick(&mut self) -> Tick {
        let next = self.tick.next();
        self.set_now(next);
        next
    }

    /// Sets the clock, for loading a saved world and for tests. One that is set to 2^63 or more cannot move on.
    pub fn set_tick(&mut self, tick: Tick) {
        // Older ticks would tell nothing about what is written from now on (I15).
        let forgotten = if tick < self.tick { self.base.take() } else { None };
        self.set_now(tick);
        // Last: it may have values, whose drop is the user's code.
        drop(forgotten);
    }

    /// How often a single entity has gone from one set of columns to another so far.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Makes a column known to this store.
    pub fn declare(&mut self, id: AnyColId) {
        self.cells.declare(id);
        self.flags.grow(self.cells.columns());
    }

    /// Makes columns known, and returns them in ascending order without repetition.
    fn declare_all(&mut self, ids: &[AnyColId]) -> Vec<AnyColId> {
        let mut ids = ids.to_vec();
        sorting::sort(&mut ids);
        ids.dedup();
        ids.iter().for_each(|&id| self.declare(id));
        ids
    }

    /// Adds an empty table with these columns. Repeated ids count once.
    pub fn new_table(&mut self, ids: &[AnyColId]) -> TableId {
        self.add_table(ids, None)
    }

    /// As [`Store::new_table`], with the record of the table in the given shape.
    ///
    /// # Panics
    /// When a column with memory is not declared by the shape.
    pub fn new_table_shaped(&mut self, shape: &TableShape, ids: &[AnyColId]) -> TableId {
        for id in ids.iter().filter(|id| !id.is_virtual()) {
            assert!(shape.declares(*id), "a column of {} is not in the shape of the table", id.type_name());
        }
        self.add_table(ids, Some(shape))
    }

    fn add_table(&mut self, ids: &[AnyColId], shape: Option<&TableShape>) -> TableId {
        let ids = self.declare_all(ids);
        let table = Table::new(&ids, shape);
        let same = |free: &(TableId, Option<TableShape>)| match (&free.1, shape) {
            (Some(free), Some(shape)) => free.is(shape),
            (free, shape) => free.is_none() && shape.is_none(),
        };
        let id = match self.free_tables.iter().rposition(same) {
            Some(at) => {
                let (id, _) = self.free_tables.remove(at);
                self.tables[id.index()] = table;
                id
            }
            None => self.push_table(table),
        };
        self.set_up(id)
    }

    /// Adds an empty table for a sparse set. Its id never was, and never will be, another table's.
    pub(crate) fn new_set_table(&mut self, ids: &[AnyColId]) -> TableId {
        let ids = self.declare_all(ids);
        let id = self.push_table(Table { is_set: true, ..Table::new(&ids, None) });
        self.set_up(id)
    }

    /// Makes a new table known to the column index and the metas.
    ///
    /// # Panics
    /// When it has memory: it is not new then.
    pub(crate) fn set_up(&mut self, id: TableId) -> TableId {
        assert!(self.metas[id.index()].capacity == 0, "a table is set up before it has room for rows");
        self.mirror(id);
        for &tag in &self.tables[id.index()].tags {
            // SAFETY: the table has the tag, whose values have no memory (I3, I4).
            unsafe { self.cells.set(tag, id, column::dangling(tag.column_type())) };
        }
        self.metas[id.index()].owners.data = column::dangling(self.entity_type);
        id
    }

    fn push_table(&mut self, table: Table) -> TableId {
        let id = TableId::new(u32::try_from(self.tables.len()).expect("fewer than 2^32 tables"));
        self.tables.push(table);
        self.metas.push(TableMeta::nowhere());
        self.cells.push_table(&self.tables);
        id
    }

    /// Writes the data pointers of a table's columns to the column index (I3, I4).
    fn mirror(&mut self, id: TableId) {
        let table = &self.tables[id.index()];
        for column in table.columns.iter() {
            // SAFETY: the table has the column (I4), and this is where its rows are (I3).
            unsafe { self.cells.set(column.id, id, column.data()) };
        }
    }

    /// Drops an empty table, whose id will be given to another one. False when it has rows or is none.
    ///
    /// Queries and plans prepared before become stale: using them panics until they are prepared again.
    pub fn drop_table(&mut self, id: TableId) -> bool {
        let at = id.index();
        if self.tables.get(at).is_none_or(|table| !table.live || table.is_set) || self.metas[at].len > 0 {
            return false;
        }
        self.set_capacity(id, 0);
        let table = std::mem::replace(&mut self.tables[at], Table::nowhere());
        for column in table.ids() {
            // SAFETY: the table has given up its memory, and is none any more (I4).
            unsafe { self.cells.set(column, id, std::ptr::null_mut()) };
        }
        self.metas[at] = TableMeta::nowhere();
        self.free_tables.push((id, table.shape));
        self.stamp = fresh_stamp();
        self.cursors.close(id);
        true
    }

    /// Gives a table room for exactly `capacity` rows, at least as many as it has.
    pub(crate) fn set_capacity(&mut self, id: TableId, capacity: usize) {
        let (table, meta) = (&mut self.tables[id.index()], &mut self.metas[id.index()]);
        let (len, old) = (meta.len as usize, meta.capacity as usize);
        assert!(capacity >= len, "a table keeps its rows");
        // Whatever can panic comes first: afterwards every column has the new capacity.
        let rows = u32::try_from(capacity).ok().filter(|&rows| rows < u32::MAX);
        let rows = rows.expect("a table holds fewer than 2^32 - 1 rows");
        column::assert_capacity(self.entity_type, capacity);
        for column in table.columns.iter() {
            column::assert_capacity(column.of, capacity);
        }
        self.cursors.close(id);
        let lines = &mut self.lines;
        let (owners, entity_type) = (&mut meta.owners, self.entity_type);
        // SAFETY: the data of each column, the owners' included, was allocated from this slab with the old capacity, for its
        // type (I3); both capacities are at least `len`, and rows from there on hold nothing that will be read (I2). The old
        // pointers are replaced, here and in the cells below.
        unsafe {
            let moved =
                |column: &Column| column::reallocate(lines, column.of, column.data(), len, old, capacity);
            table.columns.set_data(moved);
            owners.data = column::reallocate(lines, entity_type, owners.data, len, old, capacity);
        }
        meta.capacity = rows;
        self.mirror(id);
    }

    /// Makes room for `additional` more rows.
    #[inline]
    pub(crate) fn make_room(&mut self, id: TableId, additional: usize) {
        let meta = &self.metas[id.index()];
        let needed = (meta.len as usize).saturating_add(additional);
        if needed > meta.capacity as usize {
            self.grow(id, needed);
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn grow(&mut self, id: TableId, needed: usize) {
        let grown = grown(self.metas[id.index()].capacity as usize).min(u32::MAX as usize - 1);
        self.set_capacity(id, needed.max(grown));
    }

    /// Makes room for `additional` more rows at once.
    ///
    /// # Panics
    /// When a table cannot have as many rows, or there is no memory for them.
    pub fn reserve_rows(&mut self, id: TableId, additional: usize) {
        if self.tables.get(id.index()).is_some_and(|table| table.live) {
            let needed = self.table_len(id).saturating_add(additional);
            if needed > self.table_capacity(id) {
                self.expect_memory(id, needed);
                self.set_capacity(id, needed);
            }
        }
    }

    /// Panics when the allocator has no memory for so many rows: columns that find none end the process. Asked only
    /// where it is much.
    fn expect_memory(&self, id: TableId, rows: usize) {
        const MUCH: usize = 1 << 30;
        let sizes = self.tables[id.index()].columns.iter().map(|column| column.size);
        let row = sizes.sum::<usize>() + size_of::<Entity>();
        let bytes = row.saturating_mul(rows);
        // Looked at by the black box, or the compiler takes it for granted that there is memory without use.
        let mut probe = Vec::<u8>::new();
        if bytes > MUCH && std::hint::black_box(&mut probe).try_reserve_exact(bytes).is_err() {
            panic!("there is no memory for {rows} rows of {row} bytes in one table");
        }
    }

    /// Gives memory back that holds no rows.
    pub fn shrink_to_fit(&mut self) {
        for at in 0..self.tables.len() {
            let meta = &self.metas[at];
            if self.tables[at].live && meta.capacity > meta.len {
                self.set_capacity(TableId::from_index(at), meta.len as usize);
            }
        }
        self.shrink_sets();
        self.entities.shrink_to_fit();
    }

    /// Where an entity's row is; `None` when it is dead.
    #[inline]
    pub fn locate(&self, entity: Entity) -> Option<EntityLocation> {
        self.entities.locate(entity)
    }

    /// Reserves an id from a shared store; alive after the next [`Store::flush`].
    ///
    /// # Errors
    /// When all indices are in use.
    pub fn reserve_entity(&self) -> Result<Entity, crate::Exhausted> {
        self.entities.reserve()
    }

    /// Brings reserved ids to life, without rows.
    pub fn flush(&mut self) {
        self.entities.flush();
    }

    /// Makes room in the directory for `additional` more entities.
    pub fn reserve_entities(&mut self, additional: usize) {
        self.entities.reserve_slots(additional);
    }

    /// The number of table ids in use or free; ids are below it.
    pub fn table_count(&self) -> usize {
        self.tables.len()
    }

    /// The rows of a table; zero when there is no such table.
    #[inline]
    pub fn table_len(&self, id: TableId) -> usize {
        self.metas.get(id.index()).map_or(0, |meta| meta.len as usize)
    }

    /// The rows a table has room for.
    pub fn table_capacity(&self, id: TableId) -> usize {
        self.metas.get(id.index()).map_or(0, |meta| meta.capacity as usize)
    }

    /// The columns of a table: those with memory in ascending order, then tags.
    pub fn table_columns(&self, id: TableId) -> impl Iterator<Item = AnyColId> + '_ {
        self.tables.get(id.index()).into_iter().flat_map(Table::ids)
    }

    /// Whether a table has a column.
    pub fn table_has(&self, id: TableId, column: AnyColId) -> bool {
        self.cell(column, id).is_some_and(|cell| !cell.is_absent())
    }

    /// The bytes that one column of a table occupies.
    pub fn column_bytes(&self, id: TableId, column: AnyColId) -> usize {
        let Some(table) = self.tables.get(id.index()) else { return 0 };
        table.position(column).map_or(0, |_| column::bytes(column.column_type(), self.table_capacity(id)))
    }

    /// The bytes of a table's record: its columns, in whatever shape, without rows.
    pub fn record_bytes(&self, id: TableId) -> usize {
        self.tables.get(id.index()).map_or(0, |table| table.columns.bytes())
    }

    /// The bytes that the entity ids of a table occupy.
    pub fn owner_bytes(&self, id: TableId) -> usize {
        column::bytes(self.entity_type, self.table_capacity(id))
    }

    /// The bytes of the column index, which mirrors all tables.
    pub fn index_bytes(&self) -> usize {
        self.cells.bytes()
    }

    #[inline]
    pub(crate) fn cell(&self, column: AnyColId, table: TableId) -> Option<&ColumnCell> {
        self.cells.cell(column, table)
    }

    /// The cells of a column, one per table, all absent when the store has not met the column.
    #[inline(always)]
    pub(crate) fn column_cells(&self, column: AnyColId) -> *const ColumnCell {
        self.cells.column_cells(column)
    }

    /// Whether rows of a set's table are holes (I11).
    pub(crate) fn has_holes(&self, table: TableId) -> bool {
        self.tables.get(table.index()).is_some_and(|table| !table.holes.is_empty())
    }

    /// Marks that rows came, went or moved.
    ///
    /// # Panics
    /// When they are not within the table's capacity.
    #[inline(always)]
    pub(crate) fn mark_rows(&self, table: TableId, start: usize, len: usize) {
        let meta = &self.metas[table.index()];
        assert!(start + len <= meta.capacity as usize, "only rows within the capacity are marked");
        // SAFETY: the owners' column has room for the rows, which are within the capacity, as was checked just now (I3);
        // entities have a size.
        unsafe { meta.owners.mark(start, len, true, self.tick) };
    }

    /// # Safety
    /// `row` is within the table's capacity.
    #[inline(always)]
    pub(crate) unsafe fn owner_at(&self, table: TableId, row: usize) -> *mut Entity {
        // SAFETY: forwarded: the owners' column has room for every row of the table's capacity (I3).
        unsafe { self.metas[table.index()].owners.data.cast::<Entity>().add(row) }
    }
}
