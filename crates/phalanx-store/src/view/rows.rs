//! All rows of a view, one by one.
//!
//! `next` has to remember where it is and never vectorises, in any library; `fold`, and with it
//! `for_each`, `sum` and `count`, runs a plain loop per table.

use std::iter::FusedIterator;

use super::{ChunkRows, Chunks, View};
use crate::fetch::Fetch;

/// The rows that a view visits.
pub struct Rows<'w, F: Fetch> {
    chunks: Chunks<'w, F>,
    rows: Option<ChunkRows<'w, F>>,
    left: usize,
}

impl<'w, F: Fetch> Rows<'w, F> {
    #[inline]
    pub(super) fn new(view: View<'w, F>) -> Self {
        let left = view.len();
        Self { chunks: Chunks::new(view), rows: None, left }
    }
}

impl<'w, F: Fetch> Iterator for Rows<'w, F> {
    type Item = F::Item<'w>;

    #[inline(always)]
    fn next(&mut self) -> Option<F::Item<'w>> {
        loop {
            if let Some(rows) = &mut self.rows
                && let Some(item) = rows.next()
            {
                self.left -= 1;
                return Some(item);
            }
            self.rows = Some(self.chunks.next()?.rows());
        }
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(self, init: B, mut f: G) -> B {
        let mut state = init;
        if let Some(rows) = self.rows {
            state = rows.fold(state, &mut f);
        }
        for chunk in self.chunks {
            state = chunk.rows().fold(state, &mut f);
        }
        state
    }

    #[inline]
    fn count(self) -> usize {
        self.left
    }
}

impl<F: Fetch> ExactSizeIterator for Rows<'_, F> {}
impl<F: Fetch> FusedIterator for Rows<'_, F> {}
