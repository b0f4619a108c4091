//! All rows of a view, one by one.
//!
//! `next` has to remember where it is and never vectorises, in any library; `fold`, and with it
//! `for_each`, `sum` and `count`, runs a plain loop per table. Where a sparse set leads, its entities are
//! walked in the set's order and looked up in the directory; each is in the set once, so no row comes twice,
//! and the placeholder in the holes of a stable set is found nowhere.

use std::iter::FusedIterator;

use super::{ChunkRows, Chunks, View};
use crate::entity::Entity;
use crate::fetch::{DenseFetch, Fetch};

/// The rows that a view visits.
pub struct Rows<'w, F: Fetch> {
    walk: Walk<'w, F>,
}

enum Walk<'w, F: Fetch> {
    Tables { chunks: Chunks<'w, F>, rows: Option<ChunkRows<'w, F>> },
    Set { view: View<'w, F>, entities: std::slice::Iter<'w, Entity> },
}

impl<'w, F: Fetch> Rows<'w, F> {
    #[inline]
    pub(super) fn new(view: View<'w, F>) -> Self {
        let walk = match view.driver() {
            None => Walk::Tables { chunks: Chunks::new(view), rows: None },
            Some(driver) => {
                // SAFETY: the set's rows each have an owner, and the set stands still while the view lives (I10, I11).
                let entities = unsafe { std::slice::from_raw_parts(driver.owners, driver.len) };
                Walk::Set { view, entities: entities.iter() }
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
            // SAFETY: each entity is in the set once (I10), so its item is yielded once; a hole's placeholder is never found (I11).
            Walk::Set { view, entities } => entities.find_map(|&entity| unsafe { view.item_of(entity) }),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let most = match &self.walk {
            Walk::Tables { chunks, rows } => {
                chunks.rows_left() + rows.as_ref().and_then(|rows| rows.size_hint().1).unwrap_or(0)
            }
            Walk::Set { entities, .. } => entities.len(),
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
            Walk::Set { view, entities } => {
                // SAFETY: as for `next`.
                entities.filter_map(|&entity| unsafe { view.item_of(entity) }).fold(init, f)
            }
        }
    }
}

impl<F: DenseFetch> ExactSizeIterator for Rows<'_, F> {}
impl<F: Fetch> FusedIterator for Rows<'_, F> {}
