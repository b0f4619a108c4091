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
}

impl<'w, F: Fetch> Rows<'w, F> {
    #[inline]
    pub(super) fn new(view: View<'w, F>) -> Self {
        Self { chunks: Chunks::new(view), rows: None }
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
                return Some(item);
            }
            self.rows = Some(self.chunks.next()?.rows());
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.chunks.rows_left() + self.rows.as_ref().map_or(0, ChunkRows::len);
        (left, Some(left))
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(self, init: B, mut f: G) -> B {
        let mut state = init;
        if let Some(rows) = self.rows {
            state = rows.fold(state, &mut f);
        }
        self.chunks.fold(state, |state, chunk| chunk.rows().fold(state, &mut f))
    }

    #[inline]
    fn count(self) -> usize {
        self.len()
    }
}

impl<F: Fetch> ExactSizeIterator for Rows<'_, F> {}
impl<F: Fetch> FusedIterator for Rows<'_, F> {}
