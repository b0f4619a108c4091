//! The lanes: for each column, one cell per table.
//!
//! ```text
//!   lanes    [ * | * | * | * ]              indexed by column id
//!              |   |   '▶ | A in t0 | t1 | t2 | ..
//!              '---'----▶ | absent  | .. | .. | ..    columns that are in no table share one
//! ```
//!
//! Every pointer leads to as many cells as there are tables, so that finding one is a load and no question (I4). That
//! is a cell for each column and each table, few of which are ever written: a column that is in no table has no lane of
//! its own, and lanes are asked of the allocator as zeroed memory, which means absent. So the pages of a long lane that no
//! cell was written to take no memory, where the allocator gets zeroed pages from the system and these are small.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use crate::column::LaneCell;
use crate::column_id::AnyColId;
use crate::place::TableId;
use crate::table::Table;

/// The bytes of all lanes from which on they leap.
const MANY: usize = 1 << 24;
/// The cells of a lane for which allocators ask the system.
const PAGED: usize = (128 << 10) / size_of::<LaneCell>();

/// The cells of all columns and tables.
pub(crate) struct Lanes {
    lanes: Vec<NonNull<LaneCell>>,
    absent: NonNull<LaneCell>,
    /// How many columns have lanes of their own.
    own: usize,
    /// How many tables there are, and for how many each lane has room.
    tables: usize,
    room: usize,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { lanes: Vec::new(), absent: NonNull::dangling(), own: 0, tables: 0, room: 0 }
    }

    /// Below which column ids lanes are looked up.
    pub(crate) fn columns(&self) -> usize {
        self.lanes.len()
    }

    /// Makes room for a column, which shares the lane of absent ones until a table has it.
    pub(crate) fn declare(&mut self, column: AnyColId) {
        if self.lanes.len() <= column.index() {
            self.lanes.resize(column.index() + 1, self.absent);
        }
    }

    /// Adds a cell for another table to each lane: the last of `tables`, whose columns have no cells yet.
    pub(crate) fn push_table(&mut self, tables: &[Table]) {
        if self.tables == self.room {
            let room = self.room.max(2) * 2;
            // Many lanes leap to the length from which on their memory comes from the system, in pages.
            let leap = cfg!(unix) && self.own * room * size_of::<LaneCell>() > MANY;
            self.grow(if leap { room.max(PAGED) } else { room }, tables);
        }
        // Cells without a table are absent already.
        self.tables += 1;
    }

    #[cold]
    fn grow(&mut self, room: usize, tables: &[Table]) {
        let (absent, old) = (self.absent, self.room);
        let longer = |lane| if lane == absent { None } else { Some(allocate(room)) };
        let new_absent = allocate(room);
        let new: Vec<_> = self.lanes.iter().map(|&lane| longer(lane).unwrap_or(new_absent)).collect();
        // Cell by cell: whoever copies all of a lane writes to all of its pages.
        for (table, columns) in tables.iter().enumerate().take(self.tables) {
            for column in columns.ids() {
                let (from, to) = (self.lanes[column.index()], new[column.index()]);
                #[cfg(test)]
                tests::TOUCHED.set(tests::TOUCHED.get() + 1);
                // SAFETY: both lanes have a cell for the table (I4), whose column has lanes of its own; the old cell is
                // not used again.
                unsafe { to.add(table).copy_from_nonoverlapping(from.add(table), 1) };
            }
        }
        let lanes = std::mem::replace(&mut self.lanes, new);
        self.absent = new_absent;
        self.room = room;
        for lane in lanes.into_iter().filter(|&lane| lane != absent).chain([absent]) {
            // SAFETY: each of the old lanes but the shared one is in the list once, and had this room (I4).
            unsafe { free(lane, old) };
        }
    }

    /// The lane of a column: a cell per table, all absent when the column was not declared.
    #[inline(always)]
    pub(crate) fn lane(&self, column: AnyColId) -> *const LaneCell {
        match self.lanes.get(column.index()) {
            Some(lane) => lane.as_ptr(),
            None => self.unknown(),
        }
    }

    /// Apart, so that a lookup is a guess about the rare case, not a choice between two addresses to be waited for.
    #[cold]
    #[inline(never)]
    fn unknown(&self) -> *const LaneCell {
        self.absent.as_ptr()
    }

    #[inline]
    pub(crate) fn cell(&self, column: AnyColId, table: TableId) -> Option<&LaneCell> {
        // SAFETY: every lane has a cell per table (I4).
        (table.index() < self.tables).then(|| unsafe { &*self.lane(column).add(table.index()) })
    }

    /// The cell of a declared column, which has a lane of its own from now on.
    #[inline]
    pub(crate) fn cell_mut(&mut self, column: AnyColId, table: TableId) -> &mut LaneCell {
        assert!(table.index() < self.tables, "the table exists");
        let lane = &mut self.lanes[column.index()];
        if *lane == self.absent {
            *lane = allocate(self.room);
            self.own += 1;
        }
        #[cfg(test)]
        tests::TOUCHED.set(tests::TOUCHED.get() + 1);
        // SAFETY: every lane has a cell per table (I4), and this one is lent exclusively with the lanes.
        unsafe { &mut *lane.as_ptr().add(table.index()) }
    }

    /// The lanes of columns that are, or were, in a table.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (usize, &[LaneCell])> {
        let own = self.lanes.iter().enumerate().filter(|&(_, &lane)| lane != self.absent);
        // SAFETY: as for `cell`.
        own.map(|(column, lane)| (column, unsafe { std::slice::from_raw_parts(lane.as_ptr(), self.tables) }))
    }

    /// The cells of the lane that all other columns share.
    pub(crate) fn shared(&self) -> &[LaneCell] {
        // SAFETY: as for `cell`.
        unsafe { std::slice::from_raw_parts(self.absent.as_ptr(), self.tables) }
    }

    /// The bytes that were asked for.
    pub(crate) fn bytes(&self) -> usize {
        let cells = (self.own + 1) * self.room * size_of::<LaneCell>();
        cells + self.lanes.capacity() * size_of::<NonNull<LaneCell>>()
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        for &lane in self.lanes.iter().filter(|&&lane| lane != self.absent) {
            // SAFETY: each lane but the shared one is in the list once, with room for as many cells (I4).
            unsafe { free(lane, self.room) };
        }
        // SAFETY: as above.
        unsafe { free(self.absent, self.room) };
    }
}

/// How `room` cells lie in memory.
fn layout(room: usize) -> Layout {
    Layout::array::<LaneCell>(room).expect("lanes fit into the address space")
}

/// Cells that say that no table has the column: [`LaneCell::ABSENT`] is all zeros.
fn allocate(room: usize) -> NonNull<LaneCell> {
    let layout = layout(room);
    if layout.size() == 0 {
        return NonNull::dangling();
    }
    // SAFETY: locally: the layout has a size.
    let lane = unsafe { alloc_zeroed(layout) };
    NonNull::new(lane.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}

/// # Safety
/// The lane came from `allocate(room)` and is not used again.
unsafe fn free(lane: NonNull<LaneCell>, room: usize) {
    let layout = layout(room);
    if layout.size() > 0 {
        // SAFETY: forwarded: the lane was allocated with this layout.
        unsafe { dealloc(lane.as_ptr().cast(), layout) };
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
        // Only columns that are in a table have lanes.
        assert_eq!(store.lanes.declared().count(), count);
        TOUCHED.get() - before
    }

    #[test]
    fn cells_are_written_for_columns_that_tables_have_and_no_others() {
        let large = touched(800);
        assert!(large < 4 * 800, "{large} cells");
    }
}
