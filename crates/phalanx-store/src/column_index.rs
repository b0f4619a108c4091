//! The column index: for each column, one cell per table.
//!
//! ```text
//!   found    [ * | * | * | * ]              indexed by column id
//!              |   |   '▶ | A in t0 | t1 | t2 | ..
//!              '---'----▶ | absent  | .. | .. | ..    for all columns that are in no table
//! ```
//!
//! There are at least as many cells as tables, wherever cells are found: finding one is a load and no question (I4).
//! Few of them are ever written: cells are asked of the allocator as zeroed memory, which means absent. So the pages of a
//! long run of cells that no cell was written to take no memory, where the allocator gets zeroed pages from the system and
//! these are small.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};

use crate::column::ColumnCell;
use crate::column_id::AnyColId;
use crate::location::TableId;
use crate::table::Table;

/// The bytes of all cells from which on they leap.
const MANY: usize = 1 << 24;
/// The cells of one column for which allocators ask the system.
const PAGED: usize = (128 << 10) / size_of::<ColumnCell>();

/// The cells of one column. No box: that would claim, wherever the index is moved, that nothing points to the cells.
type Cells = Vec<ColumnCell>;

/// The cells of all columns and tables.
pub(crate) struct ColumnIndex {
    /// Of each column where its cells begin.
    found: Vec<*const ColumnCell>,
    /// The cells of columns that are, or were, in a table.
    cells: Vec<Option<Cells>>,
    absent: Cells,
    /// How many columns have cells of their own.
    own: usize,
    /// How many tables there are; each column has room for as many as `absent` has cells.
    tables: usize,
}

impl ColumnIndex {
    pub(crate) fn new() -> Self {
        Self { found: Vec::new(), cells: Vec::new(), absent: absent_cells(0), own: 0, tables: 0 }
    }

    /// Below which column ids cells are looked up.
    pub(crate) fn columns(&self) -> usize {
        self.cells.len()
    }

    /// Makes room for a column, which shares the cells of absent ones until a table has it.
    pub(crate) fn declare(&mut self, column: AnyColId) {
        if self.cells.len() <= column.index() {
            self.cells.resize_with(column.index() + 1, || None);
            self.found.resize(column.index() + 1, self.absent.as_ptr());
        }
    }

    /// Adds a cell for another table to each column: the last of `tables`, whose columns have no cells yet.
    pub(crate) fn push_table(&mut self, tables: &[Table]) {
        if self.tables == self.absent.len() {
            let room = self.absent.len().max(2) * 2;
            // The cells of many columns leap to the length from which on their memory comes from the system, in pages.
            let leap = cfg!(unix) && self.own * room * size_of::<ColumnCell>() > MANY;
            self.grow(if leap { room.max(PAGED) } else { room }, tables);
        }
        // Cells without a table are absent already.
        self.tables += 1;
    }

    #[cold]
    fn grow(&mut self, room: usize, tables: &[Table]) {
        self.absent = absent_cells(room);
        let longer = self.cells.iter().map(|cells| cells.as_ref().map(|_| absent_cells(room))).collect();
        let mut old = std::mem::replace(&mut self.cells, longer);
        // Cell by cell: copying all cells of a column would write to all of its pages.
        for (table, columns) in tables.iter().enumerate().take(self.tables) {
            for column in columns.ids() {
                let (old, new) = (&mut old[column.index()], &mut self.cells[column.index()]);
                if let (Some(old), Some(new)) = (old, new) {
                    #[cfg(test)]
                    tests::TOUCHED.set(tests::TOUCHED.get() + 1);
                    std::mem::swap(&mut old[table], &mut new[table]);
                }
            }
        }
        let found = self.cells.iter().map(|cells| cells.as_ref().unwrap_or(&self.absent).as_ptr());
        self.found = found.collect();
    }

    /// The cells of a column: one per table, all absent when the column was not declared.
    #[inline(always)]
    pub(crate) fn column_cells(&self, column: AnyColId) -> *const ColumnCell {
        match self.found.get(column.index()) {
            Some(&cells) => cells,
            None => self.unknown(),
        }
    }

    /// Apart, so that a lookup is a guess about the rare case, not a choice between two addresses to be waited for.
    #[cold]
    #[inline(never)]
    fn unknown(&self) -> *const ColumnCell {
        // Of a call that returns what it was given nothing is left: the compiler would make the choice of it again.
        std::hint::black_box(self.absent.as_ptr())
    }

    #[inline]
    pub(crate) fn cell(&self, column: AnyColId, table: TableId) -> Option<&ColumnCell> {
        let cells = self.cells.get(column.index()).and_then(Option::as_ref).unwrap_or(&self.absent);
        cells[..self.tables].get(table.index())
    }

    /// Notes where a declared column is in a table; nowhere is null, and has no tick. It has cells of its own from now
    /// on.
    ///
    /// # Safety
    /// `data` is the data pointer of the column in this table (I3), or null, and the table lacks the column (I4), when the
    /// store is used next.
    pub(crate) unsafe fn set(&mut self, column: AnyColId, table: TableId, data: *mut u8) {
        assert!(table.index() < self.tables, "the table exists");
        #[cfg(test)]
        tests::TOUCHED.set(tests::TOUCHED.get() + 1);
        let own = &mut self.own;
        let cells = self.cells[column.index()].get_or_insert_with(|| {
            *own += 1;
            absent_cells(self.absent.len())
        });
        let cell = &mut cells[table.index()];
        if data.is_null() {
            *cell = ColumnCell::ABSENT;
        }
        cell.data = data;
        self.found[column.index()] = cells.as_ptr();
    }

    /// The cells of columns that are, or were, in a table.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (usize, &[ColumnCell])> {
        let cells = self.cells.iter().enumerate();
        cells.filter_map(|(column, cells)| Some((column, &cells.as_ref()?[..self.tables])))
    }

    /// The cells that are found for all other columns.
    pub(crate) fn shared(&self) -> &[ColumnCell] {
        &self.absent[..self.tables]
    }

    /// The bytes that were asked for.
    pub(crate) fn bytes(&self) -> usize {
        let cells = (self.own + 1) * self.absent.len() * size_of::<ColumnCell>();
        cells
            + self.cells.capacity() * size_of::<Option<Cells>>()
            + self.found.capacity() * size_of::<*const ColumnCell>()
    }
}

/// Cells that say that no table has the column.
fn absent_cells(room: usize) -> Cells {
    let layout = Layout::array::<ColumnCell>(room).expect("cells fit into the address space");
    if room == 0 {
        return Vec::new();
    }
    // SAFETY: locally: the layout has a size, and is that of as many cells, which the vector gets as length and capacity; a
    // cell that is all zeros is `ColumnCell::ABSENT`.
    unsafe {
        let cells = alloc_zeroed(layout).cast::<ColumnCell>();
        if cells.is_null() {
            handle_alloc_error(layout);
        }
        Vec::from_raw_parts(cells, room, room)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::column_id::ColId;
    use crate::store::Store;

    std::thread_local! {
        /// How many cells were written.
        pub(super) static TOUCHED: Cell<u64> = const { Cell::new(0) };
    }

    /// How many cells are written for as many tables as there are columns, each with one, and as many unused columns.
    fn touched(count: usize) -> u64 {
        let mut store = Store::new();
        let before = TOUCHED.get();
        for at in 0..count {
            store.declare(ColId::<u32>::named(&format!("unused {at}")).any());
            let used = ColId::<u32>::named(&format!("used {at}")).any();
            let table = store.new_table(&[used]);
            assert!(store.table_has(table, used));
        }
        store.check().expect("sound");
        // Only columns that are in a table have cells.
        assert_eq!(store.cells.declared().count(), count);
        TOUCHED.get() - before
    }

    #[test]
    fn cells_are_written_for_columns_that_tables_have_and_no_others() {
        let large = touched(800);
        assert!(large < 4 * 800, "{large} cells");
    }
}
