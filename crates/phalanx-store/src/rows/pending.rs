//! Values that functions make for a row which does not count yet.
//!
//! They are the user's code, so they run before anything is moved. When one of them panics, or the row cannot count
//! after all, what was made for it is dropped again, and the table is as it was.

use crate::panics::FirstPanic;
use crate::plan::Edge;
use crate::store::Store;

impl Store {
    /// Runs the edge's functions for a row that does not count yet.
    #[inline(always)]
    pub(crate) fn run_inits<'e>(&self, edge: &'e Edge, row: usize) -> Pending<'e> {
        if edge.inits.is_empty() {
            return Pending { edge, row, done: 0 };
        }
        self.run_some_inits(edge, row)
    }

    #[inline(never)]
    fn run_some_inits<'e>(&self, edge: &'e Edge, row: usize) -> Pending<'e> {
        let mut pending = Pending { edge, row, done: 0 };
        let mut panics = FirstPanic::default();
        for init in &edge.inits {
            let mut finished = false;
            panics.guard(|| {
                // SAFETY: callers follow a fresh edge, whose target has room for the row (I3, I7).
                unsafe { init.run(self.tick, row) };
                finished = true;
            });
            if !finished {
                pending.abandon();
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
    pub(crate) fn of(edge: &'e Edge, row: usize) -> Self {
        Self { edge, row, done: edge.inits.len() }
    }

    /// The row will count: its values belong to the table.
    #[inline(always)]
    pub(crate) fn keep(self) {}

    /// The row will not count: drops what was made for it.
    pub(crate) fn abandon(self) {
        let mut panics = FirstPanic::default();
        for init in &self.edge.inits[..self.done] {
            // SAFETY: the edge is fresh while it is followed, so its target lives (I7).
            for column in init.slots.iter().filter_map(|slot| unsafe { slot.header() }) {
                if let Some(drop) = column.drop {
                    // SAFETY: the function wrote an initialised value to this row, which is not counted (I2).
                    panics.guard(|| unsafe { drop(column.data.add(self.row * column.size), 1) });
                }
            }
        }
        panics.resume();
    }
}
