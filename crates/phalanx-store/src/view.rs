//! A run of a query: access to everything it visits, for as long as the store is borrowed.
//!
//! A [`View`] is made from `&Store` (reading), from `&mut Store`, or from a lock in a sharing session; each
//! of them guarantees that for `'w` nothing else writes what the view reads, or touches what it writes. All
//! it hands out follows from that and from the checks in `prepared` (I6).
//!
//! The view keeps its slices by value: behind a reference they would be loaded again after each write.

use crate::column::BLOCK_ROWS;
use crate::column_id::AnyColId;
use crate::entities::{Entities, Slot};
use crate::entity::Entity;
use crate::fetch::{Access, DenseFetch, Driver, Fetch, Marked, ReadFetch};
use crate::location::TableId;
use crate::prepared::{Prepared, Visits};
use crate::store::Store;
use crate::table::TableMeta;
use crate::tick::Tick;
use std::marker::PhantomData;

pub use cascade::{Descent, LevelPart, Levels};
pub use chunks::{Chunk, ChunkRows, Chunks};
pub use grant::{Grant, NotGranted};
pub use many::Many;
pub use places::Places;
pub use rows::Rows;
pub(crate) use single::{Found, location_in};
pub use unique::{NoRow, Unique};

mod along;
mod cascade;
mod chunks;
mod grant;
mod many;
mod places;
mod rows;
mod single;
mod unique;

/// Access to the rows that a query visits.
///
/// Fields are copied only in this module: code that makes a second view of one that writes sees to it that the two lend
/// different rows, or not at the same time (I6).
pub struct View<'w, F: Fetch> {
    cells: F::Cells,
    base: Base<'w>,
    /// Not `F::Item<'w>`, which would keep a view from standing in for one that lives shorter.
    access: PhantomData<&'w ()>,
}

/// What a view knows whatever its type: it is made in one place for all of them.
#[derive(Clone, Copy)]
struct Base<'w> {
    metas: &'w [TableMeta],
    tables: &'w [TableId],
    member: &'w [bool],
    entities: &'w Entities,
    slots: &'w [Slot],
    rowless: bool,
    now: Tick,
    /// The moment before which rows may be skipped, where the fetch looks at ticks of rows.
    since: Tick,
    driver_choice: DriverChoice,
    /// Whether it visits its tables alone, although others have the columns as well.
    confined: bool,
    /// For what is asked now and then: which sets there are.
    store: &'w Store,
    /// The uses of columns of its query, which may write although the view only reads.
    uses: &'w [Access],
}

/// What drives the walk of a view through its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriverChoice {
    /// The shortest of the sets that every match is in, where it is shorter than the tables, else the tables.
    #[default]
    Shortest,
    /// The tables.
    Tables,
    /// The set of this column, if every match is in it, else the tables.
    Set(AnyColId),
}

/// Which entities are in which set, while a view lives.
#[derive(Clone, Copy)]
pub struct Sets<'w> {
    store: &'w Store,
}

impl Sets<'_> {
    /// Whether an entity is in the set of a column.
    pub fn has(&self, column: AnyColId, entity: Entity) -> bool {
        self.store.set_of(column).is_some_and(|set| self.store.set_row(set, entity).is_some())
    }
}

// SAFETY: a view stands for references to values that are `Send` and `Sync` (I1), which it hands out to one thread at a time
// (`&mut self`, `self`), or to be read (`&self`). All that it reads beside them is in the store, which is `Sync`; what `F`
// keeps may be used on any thread (I14).
unsafe impl<F: Fetch> Send for View<'_, F> {}
// SAFETY: through `&View` values are only read, by views and finds that borrow it; what `F` keeps may be used on any thread
// (I14).
unsafe impl<F: Fetch> Sync for View<'_, F> {}

impl<F: ReadFetch> Clone for View<'_, F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<F: ReadFetch> Copy for View<'_, F> {}

impl Store {
    /// Reads what the query visits.
    ///
    /// # Panics
    /// When the query is stale.
    #[inline]
    pub fn view<'w, F: ReadFetch>(&'w self, query: &'w Prepared<F>) -> View<'w, F> {
        // SAFETY: the fetch only reads, and no column is written while the store is borrowed shared: a session that can write
        // borrows it exclusively (I8).
        unsafe { self.view_unchecked(query, self.tick) }
    }

    /// Reads what the query visits, although it could write.
    ///
    /// # Panics
    /// When the query is stale.
    #[inline]
    pub fn view_read_only<'w, F: Fetch>(&'w self, query: &'w Prepared<F>) -> View<'w, F::ReadOnly> {
        // SAFETY: as for `view`: the view that could write is given up at once for one that only reads, before it has lent
        // anything (I8).
        unsafe { self.view_unchecked(query, self.tick) }.into_read_only()
    }

    /// Reads and writes what the query visits.
    ///
    /// # Panics
    /// When the query is stale.
    #[inline]
    pub fn view_mut<'w, F: Fetch>(&'w mut self, query: &'w Prepared<F>) -> View<'w, F> {
        // SAFETY: the store is borrowed exclusively for `'w`, so that nothing else uses its columns (I8).
        unsafe { self.view_unchecked(query, self.tick) }
    }

    /// # Safety
    /// For `'w`, nothing else writes the columns that `F` reads, or uses those that it writes: in all tables, or, if the view
    /// is confined before it is used, in those that the query visits. Columns that are reported as those of sets count
    /// wherever they are.
    #[inline(always)]
    pub(crate) unsafe fn view_unchecked<'w, F: Fetch>(
        &'w self,
        query: &'w Prepared<F>,
        now: Tick,
    ) -> View<'w, F> {
        // First: nothing is called between the base and the view that it becomes a part of, so that it is made in its place.
        let cells = F::cells(self, query.ids, now);
        View { base: self.view_base(&query.visits, now), cells, access: PhantomData }
    }

    /// As `view_unchecked`, for a query whose lock is held: the view stays in the tables of a query that splits columns.
    ///
    /// # Safety
    /// As for `view_unchecked`; for columns that are split, in the tables that the query visits.
    #[inline(always)]
    pub(crate) unsafe fn view_locked<'w, F: Fetch>(
        &'w self,
        query: &'w Prepared<F>,
        now: Tick,
    ) -> View<'w, F> {
        // As above.
        let cells = F::cells(self, query.ids, now);
        View { base: self.locked_base(&query.visits, now), cells, access: PhantomData }
    }

    #[inline(never)]
    fn locked_base<'w>(&'w self, visits: &'w Visits, now: Tick) -> Base<'w> {
        let confined = visits.confined || visits.split.is_some();
        Base { confined, ..self.view_base(visits, now) }
    }

    /// All of a view that does not depend on its type. Not inlined: it is a third of the code of a small system.
    #[inline(never)]
    fn view_base<'w>(&'w self, visits: &'w Visits, now: Tick) -> Base<'w> {
        self.expect_stamp(visits.stamp);
        Base {
            metas: &self.metas,
            tables: &visits.tables,
            member: &visits.member,
            entities: &self.entities,
            slots: self.entities.as_slots(),
            rowless: visits.rowless,
            now,
            since: Tick::ZERO,
            driver_choice: DriverChoice::Shortest,
            confined: visits.confined,
            store: self,
            uses: visits.uses(),
        }
    }
}

/// What is known of a table; in no generic function, so that it is compiled once.
///
/// # Safety
/// The table is one of these.
#[inline(always)]
unsafe fn meta_of(metas: &[TableMeta], table: TableId) -> &TableMeta {
    debug_assert!(table.index() < metas.len());
    // SAFETY: forwarded.
    unsafe { metas.get_unchecked(table.index()) }
}

/// # Safety
/// The cells are of a live store; `F` is found in [`TableId::ROWLESS`].
#[inline(always)]
pub(crate) unsafe fn rowless_ptrs<F: Fetch>(cells: F::Cells, entity: &Entity) -> F::Ptrs {
    // SAFETY: forwarded: the place of the rowless lacks nothing that the fetch cannot do without.
    F::rowless(unsafe { F::ptrs(cells, TableId::ROWLESS.index()) }, entity)
}

impl<'w, F: Fetch> View<'w, F> {
    /// The same view for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> View<'_, F> {
        View { access: PhantomData, ..*self }
    }

    /// The same rows, none of them written, while this view is borrowed.
    #[inline]
    pub fn read_only(&self) -> View<'_, F::ReadOnly> {
        // This view is borrowed for as long, so it lends nothing to be written.
        View { access: PhantomData, ..*self }.into_read_only()
    }

    /// The same rows, none of them written any more.
    #[inline(always)]
    pub fn into_read_only(self) -> View<'w, F::ReadOnly> {
        View { cells: self.cells, base: self.base, access: PhantomData }
    }

    /// The entity directory.
    pub fn entities(&self) -> &'w Entities {
        self.base.entities
    }

    /// The tables that the view visits, with their lengths.
    pub fn tables(&self) -> impl Iterator<Item = (TableId, usize)> + '_ {
        // SAFETY: a table that a fresh query visits exists (I6).
        self.base.tables.iter().map(|&table| (table, unsafe { self.table_len(table) }))
    }

    /// The tick that is written now.
    pub fn now(&self) -> Tick {
        self.base.now
    }

    /// How many rows the view visits at most: exactly as many, unless sparse parts are looked up per row.
    pub fn most(&self) -> usize {
        let rows = self.table_rows();
        match self.find_driver() {
            Some(driver) => driver.len.min(rows),
            None => rows,
        }
    }

    /// The same view, which skips rows where a [`RowTick`](crate::RowTick) that must be there is not after
    /// `since`. Not over each: what it yields has to be compared.
    #[inline]
    #[must_use]
    pub fn newer_than(mut self, since: Tick) -> Self {
        self.base.since = since;
        self
    }

    /// The same view, driven by something else.
    #[must_use]
    pub fn with_driver(mut self, driver_choice: DriverChoice) -> Self {
        self.base.driver_choice = driver_choice;
        self
    }

    /// The set that drives the walk, if one does.
    #[inline]
    fn find_driver(&self) -> Option<Driver> {
        if F::DENSE {
            return None;
        }
        let chosen = match self.base.driver_choice {
            DriverChoice::Tables => return None,
            DriverChoice::Shortest => None,
            DriverChoice::Set(column) => Some(self.set_table(column)),
        };
        let mut best: Option<Driver> = None;
        F::drivers(self.cells, &mut |driver| {
            let fits = chosen.is_none_or(|table| driver.table == table);
            if fits && best.is_none_or(|best| driver.len < best.len) {
                best = Some(driver);
            }
        });
        // Where no table is asked for, a set drives in any case: all there is to find is in it.
        best.filter(|driver| F::TABLELESS || chosen.is_some() || driver.len < self.table_rows())
    }

    fn set_table(&self, column: AnyColId) -> TableId {
        self.base.store.set_of(column).map_or(TableId::DEAD, |set| self.base.store.set_table(set))
    }

    /// The columns and the entities of the set that drives the walk; `None` where the tables do. Not every entity has
    /// to be a match, and holes show the placeholder.
    pub fn driver_set(&self) -> Option<(impl Iterator<Item = AnyColId> + use<'w, F>, &'w [Entity])> {
        let driver = self.find_driver()?;
        Some((self.base.store.table_columns(driver.table), self.base.store.table_entities(driver.table)))
    }

    /// Which entities are in which set.
    pub fn sets(&self) -> Sets<'w> {
        Sets { store: self.base.store }
    }

    fn table_rows(&self) -> usize {
        let rows: usize = self.tables().map(|(_, len)| len).sum();
        rows + self.rowless_len()
    }

    /// The length of a table.
    ///
    /// # Safety
    /// The table exists.
    #[inline(always)]
    unsafe fn table_len(&self, table: TableId) -> usize {
        // SAFETY: forwarded: it has a meta (I4).
        unsafe { meta_of(self.base.metas, table).len as usize }
    }

    /// # Safety
    /// The table exists.
    #[inline(always)]
    unsafe fn meta(&self, table: TableId) -> &'w TableMeta {
        // SAFETY: forwarded: it has a meta (I4).
        unsafe { meta_of(self.base.metas, table) }
    }

    fn rowless_len(&self) -> usize {
        if self.base.rowless { self.base.entities.rowless_len() } else { 0 }
    }

    /// The rows of all tables, one after the other.
    #[inline]
    pub fn into_rows(self) -> Rows<'w, F> {
        Rows::new(self, false)
    }

    /// As [`View::into_rows`]; where a set drives and no table is reached, entities are visited whatever their table.
    ///
    /// The same for a query that visits all tables, and cheaper.
    #[inline]
    pub fn into_rows_anywhere(self) -> Rows<'w, F> {
        let anywhere = !self.base.confined;
        Rows::new(self, anywhere)
    }

    /// The rows, table by table.
    #[inline]
    pub fn into_chunks(self) -> Chunks<'w, F> {
        Chunks::new(self)
    }

    /// Runs of at most `rows` rows each, which can go to different threads.
    pub fn into_runs(self, rows: usize) -> Vec<Chunk<'w, F>> {
        let step = rows.max(1);
        let mut out = Vec::new();
        for (table, len) in self.tables() {
            for start in (0..len).step_by(step) {
                let count = step.min(len - start);
                let mut blocks = start / BLOCK_ROWS..(start + count).div_ceil(BLOCK_ROWS);
                // SAFETY: the rows are in range of a table that is visited, and so are those with which the blocks begin. Each
                // row is in one run of its table, which is visited once (I6).
                unsafe {
                    if !F::SKIPS || blocks.any(|block| self.block_is_newer(table, block)) {
                        out.push(self.chunk(table, start, count));
                    }
                }
            }
        }
        // SAFETY: the rowless are visited, each once (I6).
        out.extend(self.rowless_ids().map(|entity| unsafe { self.rowless_chunk(entity) }));
        out
    }

    /// The blocks in which a column of the query was written, or rows came, went or moved, after `since`; all blocks
    /// when the query has sparse parts, whose ticks are not those of the tables.
    pub fn into_changed_blocks(self, since: Tick) -> Vec<Chunk<'w, F>> {
        let mut out = Vec::new();
        for (table, len) in self.tables() {
            for block in 0..len.div_ceil(BLOCK_ROWS) {
                // SAFETY: a table that is visited has the columns (I6), and the block begins within its rows (I3), which are in
                // range. Each is in one block of its table, which is visited once (I6).
                unsafe {
                    let written = F::block_tick(self.cells, table.index(), block)
                        .max(self.meta(table).owners.block_tick(block, true));
                    if !F::DENSE || written.is_after(since) {
                        let start = block * BLOCK_ROWS;
                        out.push(self.chunk(table, start, BLOCK_ROWS.min(len - start)));
                    }
                }
            }
        }
        out
    }

    /// Whether a block of a table may hold rows that are not skipped.
    ///
    /// # Safety
    /// The view visits the table, and the block begins within its rows.
    #[inline]
    unsafe fn block_is_newer(&self, table: TableId, block: usize) -> bool {
        // SAFETY: forwarded: a table that is visited has the columns (I6), and ticks of the block (I3).
        unsafe {
            debug_assert!(block * BLOCK_ROWS < self.table_len(table));
            let moved = self.meta(table).owners.block_tick(block, true);
            F::block_is_newer(self.cells, table.index(), block, moved, self.base.since)
        }
    }

    fn rowless_ids(&self) -> impl Iterator<Item = &'w Entity> + use<'w, F> {
        let entities = self.base.rowless.then_some(self.base.entities);
        entities.into_iter().flat_map(Entities::rowless)
    }

    /// A run of rows.
    ///
    /// # Safety
    /// The rows are in range of a table that the view visits. Each goes into at most one chunk, unless the fetch only
    /// reads, and the view lends nothing else.
    #[inline(always)]
    unsafe fn chunk(&self, table: TableId, start: usize, len: usize) -> Chunk<'w, F> {
        let at = table.index();
        // SAFETY: forwarded: a table that is visited has the columns (I6).
        unsafe {
            // Pointers first: loaded after the mark, their addresses would be worked out twice.
            let ptrs = F::ptrs(self.cells, at);
            F::mark(self.cells, at, Marked::Run(start, len), self.base.now);
            Chunk::new(ptrs, meta_of(self.base.metas, table).owners.data.cast(), start, len, self.base.since)
        }
    }

    /// The run of an entity without a row.
    ///
    /// # Safety
    /// The view visits the rowless, and the entity is one of them; it goes into at most one chunk, as for `chunk`.
    unsafe fn rowless_chunk(&self, entity: &'w Entity) -> Chunk<'w, F> {
        // SAFETY: forwarded: a fetch for which the rowless are visited is present where they are (I6), and reaches no column
        // there (I4).
        unsafe {
            Chunk::new(
                rowless_ptrs::<F>(self.cells, entity),
                std::ptr::from_ref(entity),
                0,
                1,
                self.base.since,
            )
        }
    }
}

impl<F: DenseFetch> View<'_, F> {
    /// How many rows the view visits.
    pub fn len(&self) -> usize {
        self.table_rows()
    }

    /// Whether the view visits no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
