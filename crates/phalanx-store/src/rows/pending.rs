//! Values that functions make for a row which does not count yet.
//!
//! They are the user's code, so they run before anything is moved. When one of them panics, or the row cannot count
//! after all, what was made for it is dropped again, and the table is as it was.

use crate::panics::FirstPanic;
use crate::plan::Edge;
use crate::store::Store;

impl Store {
    /// Runs the edge's functions for a row that does not count yet.
    ///
    /// # Safety
    /// The edge is fresh, and its target has room for the row, which holds no values.
    #[inline(always)]
    pub(crate) unsafe fn run_inits<'e>(&self, edge: &'e Edge, row: usize) -> Pending<'e> {
        if edge.inits.is_empty() {
            return Pending { edge, row, done: 0 };
        }
        // SAFETY: forwarded: the edge is fresh, and there is room for the row, which holds no values.
        unsafe { self.run_some_inits(edge, row) }
    }

    /// # Safety
    /// As for `run_inits`.
    #[inline(never)]
    unsafe fn run_some_inits<'e>(&self, edge: &'e Edge, row: usize) -> Pending<'e> {
        let mut pending = Pending { edge, row, done: 0 };
        let mut panics = FirstPanic::default();
        for init in &edge.inits {
            let mut finished = false;
            panics.guard(|| {
                // SAFETY: forwarded: the target of a fresh edge lives (I7), and has room for the row (I3), where the columns of
                // this function hold nothing yet: no two functions have a column in common (I7).
                unsafe { init.run(self.tick, row) };
                finished = true;
            });
            if !finished {
                // SAFETY: the row does not count (I2), and will not; `done` functions have made its values, which are not used
                // again, and the edge is fresh.
                unsafe { pending.abandon() };
                panics.resume();
                unreachable!("a function that did not finish has panicked");
            }
            pending.done += 1;
        }
        pending
    }
}

/// Values that were made for a row which does not count yet.
#[must_use]
pub(crate) struct Pending<'e> {
    edge: &'e Edge,
    row: usize,
    done: usize,
}

impl<'e> Pending<'e> {
    /// What all functions of the edge made for a row.
    ///
    /// # Safety
    /// All of them wrote their values to the row, and these were not moved since.
    pub(crate) unsafe fn of(edge: &'e Edge, row: usize) -> Self {
        Self { edge, row, done: edge.inits.len() }
    }

    /// The row will count: its values belong to the table.
    #[inline(always)]
    pub(crate) fn keep(self) {}

    /// The row will not count: drops what was made for it.
    ///
    /// # Safety
    /// The row does not count, its values are not used again, and the edge is still fresh.
    pub(crate) unsafe fn abandon(self) {
        let mut panics = FirstPanic::default();
        for init in &self.edge.inits[..self.done] {
            for column in init.slots.iter() {
                // SAFETY: forwarded: the function wrote a value to each of its columns, which are those of a table that lives
                // (I7), in a row that does not count (I2). Tags have nothing to drop.
                unsafe { column.drop_rows(self.row, 1, &mut panics) };
            }
        }
        panics.resume();
    }
}
