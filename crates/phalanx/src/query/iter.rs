//! Row iteration.
//!
//! [`QueryIter`] wraps the store's walk over rows: it applies row filters and turns what the store yields into
//! what the user asked for. All of it inlines into the store's loops.

use std::iter::FusedIterator;

use phalanx_store::{DenseFetch, Rows, View};

use super::Row;
use super::data::QueryData;
use super::filter::{ArchetypeFilter, QueryFilter};
use super::moment::Moment;
use super::state::Both;

/// The matches of a query, one by one.
pub struct QueryIter<'w, D: QueryData, F: QueryFilter = ()> {
    rows: Rows<'w, Both<D, F>>,
    since: Moment<'w>,
}

impl<'w, D: QueryData, F: QueryFilter> QueryIter<'w, D, F> {
    #[inline]
    pub(super) fn new(rows: Rows<'w, Both<D, F>>, since: Moment<'w>) -> Self {
        Self { rows, since }
    }

    /// The next match: the same as `next`, for loops that are written for queries which lend one match at a time.
    #[inline]
    pub fn fetch_next(&mut self) -> Option<D::Item<'w>> {
        self.next()
    }

    /// The matches that are left, to be visited now; afterwards they are left as before.
    pub fn remaining(&mut self) -> QueryIter<'_, D, F> {
        QueryIter { rows: self.rows.remaining(), since: self.since }
    }

    /// As [`QueryIter::remaining`].
    pub fn remaining_mut(&mut self) -> QueryIter<'_, D, F> {
        self.remaining()
    }

    /// The moment after which changes count as new.
    pub(super) fn since(&self) -> Moment<'w> {
        self.since
    }

    /// The rows again; `None` when one was yielded.
    pub(super) fn into_view(self) -> Option<View<'w, Both<D, F>>> {
        self.rows.into_view()
    }
}

impl<'w, D: QueryData, F: QueryFilter> Iterator for QueryIter<'w, D, F> {
    type Item = D::Item<'w>;

    #[inline(always)]
    #[expect(clippy::question_mark, reason = "`?` is two more functions per query in debug builds")]
    fn next(&mut self) -> Option<D::Item<'w>> {
        loop {
            let Some((ticks, row)): Option<Row<'w, D, F>> = self.rows.next() else { return None };
            if F::ARCHETYPAL || F::keep(ticks, self.since.tick) {
                return Some(D::item(row, self.since));
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (left, most) = self.rows.size_hint();
        (if F::ARCHETYPAL { left } else { 0 }, most)
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, D::Item<'w>) -> B>(self, init: B, mut f: G) -> B {
        let since = self.since;
        self.rows.fold(init, |state, (ticks, row)| {
            if F::ARCHETYPAL || F::keep(ticks, since.tick) { f(state, D::item(row, since)) } else { state }
        })
    }
}

impl<D: QueryData<Fetch: DenseFetch>, F: ArchetypeFilter> ExactSizeIterator for QueryIter<'_, D, F> {}
impl<D: QueryData, F: QueryFilter> FusedIterator for QueryIter<'_, D, F> {}
