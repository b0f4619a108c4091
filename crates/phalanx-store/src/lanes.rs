//! The lanes: for each column, one cell per table.
//!
//! ```text
//!   lanes    [ * | * | * | * ]              indexed by column id
//!              |   |   '▶ | A in t0 | t1 | t2 | ..
//!              '---'----▶ | absent  | .. | .. | ..    columns that the store has not met share one
//! ```
//!
//! Every pointer leads to as many cells as there are tables, so that finding one is a load and no question (I4).

use std::ptr::{self, NonNull};

use crate::column::LaneCell;
use crate::column_id::AnyColId;
use crate::place::TableId;

/// The cells of all columns and tables.
pub(crate) struct Lanes {
    lanes: Vec<NonNull<LaneCell>>,
    absent: NonNull<LaneCell>,
    /// How many tables there are, and for how many each lane has room.
    tables: usize,
    room: usize,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { lanes: Vec::new(), absent: NonNull::dangling(), tables: 0, room: 0 }
    }

    /// Below which column ids lanes are looked up.
    pub(crate) fn columns(&self) -> usize {
        self.lanes.len()
    }

    /// Gives a column a lane of its own.
    pub(crate) fn declare(&mut self, column: AnyColId) {
        if self.lanes.len() <= column.index() {
            self.lanes.resize(column.index() + 1, self.absent);
        }
        if self.lanes[column.index()] == self.absent {
            self.lanes[column.index()] = allocate(self.room);
        }
    }

    /// Adds a cell for another table, which has no column yet, to each lane.
    pub(crate) fn push_table(&mut self) {
        if self.tables == self.room {
            self.grow(self.room.max(2) * 2);
        }
        // Cells without a table are absent already.
        self.tables += 1;
    }

    #[cold]
    fn grow(&mut self, room: usize) {
        let (absent, tables, old) = (self.absent, self.tables, self.room);
        let moved = |lane: NonNull<LaneCell>| {
            let new = allocate(room);
            // SAFETY: both have room for a cell per table, and the old ones are not used again (I4).
            unsafe {
                new.copy_from_nonoverlapping(lane, tables);
                free(lane, old);
            }
            new
        };
        self.absent = moved(absent);
        for lane in &mut self.lanes {
            *lane = if *lane == absent { self.absent } else { moved(*lane) };
        }
        self.room = room;
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

    /// The cell of a declared column.
    #[inline]
    pub(crate) fn cell_mut(&mut self, column: AnyColId, table: TableId) -> &mut LaneCell {
        let lane = self.lanes[column.index()];
        assert!(table.index() < self.tables && lane != self.absent, "only declared columns are in tables");
        // SAFETY: every lane has a cell per table (I4), and this one is lent exclusively with the lanes.
        unsafe { &mut *lane.as_ptr().add(table.index()) }
    }

    /// The lanes of declared columns.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (usize, &[LaneCell])> {
        let own = self.lanes.iter().enumerate().filter(|&(_, &lane)| lane != self.absent);
        // SAFETY: as for `cell`.
        own.map(|(column, lane)| (column, unsafe { std::slice::from_raw_parts(lane.as_ptr(), self.tables) }))
    }

    /// The cells of the lane that columns share which were not declared.
    pub(crate) fn shared(&self) -> &[LaneCell] {
        // SAFETY: as for `cell`.
        unsafe { std::slice::from_raw_parts(self.absent.as_ptr(), self.tables) }
    }

    pub(crate) fn bytes(&self) -> usize {
        let cells = (self.declared().count() + 1) * self.room * size_of::<LaneCell>();
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

/// Cells that say that no table has the column.
fn allocate(room: usize) -> NonNull<LaneCell> {
    let cells: Box<[LaneCell]> = (0..room).map(|_| LaneCell::ABSENT).collect();
    NonNull::from(Box::leak(cells)).cast()
}

/// # Safety
/// The lane came from `allocate(room)` and is not used again.
unsafe fn free(lane: NonNull<LaneCell>, room: usize) {
    // SAFETY: forwarded: this is the box that was leaked.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(lane.as_ptr(), room)) });
}
