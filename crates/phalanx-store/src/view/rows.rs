//! All rows of a view, one by one.
//!
//! `next` has to remember where it is and never vectorises, in any library; `fold`, and with it
//! `for_each`, `sum` and `count`, runs a plain loop per table. Where a sparse set leads, its entities are
//! walked in the set's order; each is in the set once, so no row comes twice, and the placeholder in the
//! holes of a stable set is passed over. Their tables are looked up only if it matters which those are.

use std::iter::FusedIterator;

use super::{ChunkRows, Chunks, View};
use crate::entity::Entity;
use crate::fetch::{DenseFetch, Driver, Fetch};

/// The rows that a view visits.
pub struct Rows<'w, F: Fetch> {
    walk: Walk<'w, F>,
}

enum Walk<'w, F: Fetch> {
    Tables { chunks: Chunks<'w, F>, rows: Option<ChunkRows<'w, F>> },
    Set(Led<'w, F>),
}

/// A walk along the rows of a set.
struct Led<'w, F: Fetch> {
    view: View<'w, F>,
    driver: Driver,
    entities: &'w [Entity],
    next: usize,
    /// Whether entities are visited wherever their row is.
    anywhere: bool,
}

impl<'w, F: Fetch> Led<'w, F> {
    /// The item of a row of the set; `None` when its entity is not visited, or the row is a hole.
    ///
    /// # Safety
    /// The row is in range, and was not asked for before, unless the fetch only reads.
    #[inline(always)]
    unsafe fn item(&self, row: usize) -> Option<F::Item<'w>> {
        // SAFETY: each entity is in the set once (I10), so its item is yielded once.
        unsafe {
            let entity = self.entities.get_unchecked(row);
            if self.driver.holes {
                // Nothing is found for the placeholder of a hole (I11).
                return self.view.item_of(*entity);
            }
            if F::TABLELESS && self.anywhere {
                return self.view.item_of_sets(entity, self.driver.table.index(), row);
            }
            self.view.item_led(*entity, self.driver.table.index(), row)
        }
    }
}

impl<'w, F: Fetch> Rows<'w, F> {
    #[inline]
    pub(super) fn new(view: View<'w, F>, anywhere: bool) -> Self {
        let walk = match view.driver() {
            None => Walk::Tables { chunks: Chunks::new(view), rows: None },
            Some(driver) => {
                // SAFETY: the set's rows each have an owner, and the set stands still while the view lives (I10, I11).
                let entities = unsafe { driver.entities() };
                Walk::Set(Led { view, driver, entities, next: 0, anywhere })
            }
        };
        Self { walk }
    }
}

impl<'w, F: Fetch> Iterator for Rows<'w, F> {
    type Item = F::Item<'w>;

    #[inline(always)]
    fn next(&mut self) -> Option<F::Item<'w>> {
        match &mut self.walk {
            Walk::Tables { chunks, rows } => loop {
                if let Some(rows) = rows
                    && let Some(item) = rows.next()
                {
                    return Some(item);
                }
                *rows = Some(chunks.next()?.rows());
            },
            Walk::Set(led) => {
                while led.next < led.entities.len() {
                    let row = led.next;
                    led.next += 1;
                    // SAFETY: the row is in range, and each is asked for once (I10).
                    if let Some(item) = unsafe { led.item(row) } {
                        return Some(item);
                    }
                }
                None
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let most = match &self.walk {
            Walk::Tables { chunks, rows } => {
                chunks.rows_left() + rows.as_ref().and_then(|rows| rows.size_hint().1).unwrap_or(0)
            }
            Walk::Set(led) => led.entities.len() - led.next,
        };
        (if F::DENSE { most } else { 0 }, Some(most))
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(self, init: B, mut f: G) -> B {
        match self.walk {
            Walk::Tables { chunks, rows } => {
                let mut state = init;
                if let Some(rows) = rows {
                    state = rows.fold(state, &mut f);
                }
                chunks.fold(state, |state, chunk| chunk.rows().fold(state, &mut f))
            }
            Walk::Set(led) => {
                let mut state = init;
                for row in led.next..led.entities.len() {
                    // SAFETY: as for `next`.
                    if let Some(item) = unsafe { led.item(row) } {
                        state = f(state, item);
                    }
                }
                state
            }
        }
    }
}

impl<F: DenseFetch> ExactSizeIterator for Rows<'_, F> {}
impl<F: Fetch> FusedIterator for Rows<'_, F> {}
