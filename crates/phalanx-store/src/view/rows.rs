//! All rows of a view, one by one.
//!
//! `next` yields the rows of one run after the other: `run` holds what is left of the current table, and an empty
//! run is the only thing a loop asks for per row. `fold`, and with it `for_each`, `sum` and `count`, runs a plain
//! loop per table, which vectorises.
//!
//! Where a sparse set drives the query, its entities are walked in the set's order; each is in the set once, so no row
//! comes twice. If nothing but sets is asked, the rows of the set are a run (`along`). Otherwise `driven` looks each
//! entity up in its table, and skips the placeholder in the holes of a stable set.

use std::iter::FusedIterator;

use super::along::Along;
use super::{ChunkRows, Chunks, View};
use crate::entity::Entity;
use crate::fetch::{DenseFetch, Driver, Fetch, Known};
use crate::location::TableId;

/// The rows that a view visits.
pub struct Rows<'w, F: Fetch> {
    chunks: Chunks<'w, F>,
    run: ChunkRows<'w, F>,
    /// Looked at only where the fetch has sparse parts, which its type tells.
    driven: Option<Driven<'w>>,
}

/// A walk along the rows of the set that drives a query, with tables asked for each.
struct Driven<'w> {
    driver: Driver,
    /// None where the set is walked as a run.
    entities: &'w [Entity],
    next: usize,
}

impl Driven<'_> {
    /// How many rows are left, those included that are not visited.
    #[inline(always)]
    fn rows_left(&self) -> usize {
        self.entities.len() - self.next
    }

    /// The item of the next row whose entity is visited.
    #[inline(always)]
    fn next<'w, F: Fetch>(&mut self, view: &View<'w, F>) -> Option<F::Item<'w>> {
        while self.next < self.entities.len() {
            let (row, entity) = (self.next, self.entities[self.next]);
            self.next += 1;
            let known = if self.driver.holes { Known::Alive } else { Known::Row(self.driver.table, row) };
            // SAFETY: each entity is in the set once (I10), at this row, so its item is yielded once (I6). Nothing is found for
            // the placeholder of a hole (I11).
            unsafe {
                if let Some(found) = view.find_known(entity, known) {
                    return Some(view.lend(&found));
                }
            }
        }
        None
    }
}

impl<'w, F: Fetch> Rows<'w, F> {
    /// Whether the pointers of a row leave no registers for the walk over tables, so that it must not hold any in the loop
    /// over rows. With fewer, the compiler is left alone: a loop that reads its constants anew is the faster one where a
    /// million rows come from memory (docs/performance.md).
    const FILLS_REGISTERS: bool = size_of::<F::Ptrs>() > 4 * size_of::<usize>();

    // What only some fetches need is chosen by constants that hold a function. Behind an `if` the compiler would go through
    // all that it calls for every query of a program, in order to leave it out.

    /// Where a walk begins, if not with the first table.
    const BEGIN: Option<Begin<'w, F>> = if F::DENSE { None } else { Some(begin::<F>) };

    /// The next item, where more is asked of a row than its number, or entities without a row are visited.
    const NEXT: Option<fn(&mut Self) -> Option<F::Item<'w>>> =
        if F::ROWED && F::DENSE && !F::SKIPS { None } else { Some(Self::next_of_some) };

    #[inline]
    pub(super) fn new(mut view: View<'w, F>, anywhere: bool) -> Self {
        let (run, driven) = match Self::BEGIN {
            Some(begin) => begin(&mut view, anywhere),
            None => (ChunkRows::empty(), None),
        };
        Self { chunks: Chunks::new(view), run, driven }
    }

    /// The view again; `None` when a row was yielded.
    pub fn into_view(self) -> Option<View<'w, F>> {
        let driven = self.driven().is_some_and(|driven| driven.next > 0);
        (!driven && !self.run.is_begun() && !self.chunks.is_begun()).then_some(self.chunks.view)
    }

    /// The rows that are left, to be visited now; afterwards they are left as before, and nothing that was yielded meanwhile
    /// is alive any more (I6).
    pub fn remaining(&mut self) -> Rows<'_, F> {
        let driven = self.driven.as_ref().map(|driven| Driven { ..*driven });
        Rows { chunks: self.chunks.remaining(), run: self.run.remaining(), driven }
    }

    /// Where a set drives the query, its walk. A fetch without sparse parts has none, and the compiler knows.
    #[inline(always)]
    fn driven(&self) -> Option<&Driven<'w>> {
        if F::DENSE { None } else { self.driven.as_ref() }
    }

    /// The next item of a fetch that has sparse parts, passes over rows, or visits entities without a row.
    #[inline(always)]
    #[expect(clippy::question_mark, reason = "`?` is two more functions per query in debug builds")]
    fn next_of_some(&mut self) -> Option<F::Item<'w>> {
        loop {
            if F::DENSE && !F::SKIPS {
                if self.run.rows_left() > 0 {
                    // SAFETY: as in `next` (I6).
                    return Some(unsafe { self.run.take_dense() });
                }
            } else if let Some(item) = self.run.next() {
                return Some(item);
            }
            if !F::DENSE
                && let Some(driven) = &mut self.driven
            {
                return if F::SETS_ALONE { None } else { driven.next(&self.chunks.view) };
            }
            seldom();
            if F::SETS_ALONE {
                // SAFETY: the chunks that are kept take the place of those that were copied, and the run is of the same view.
                // Each chunk comes once (I6).
                unsafe {
                    let (chunks, chunk) = self.chunks.same().split_first();
                    self.chunks = chunks;
                    let Some(chunk) = chunk else { return None };
                    self.run.go_on(&chunk);
                }
            } else if F::ROWED && !F::SKIPS {
                // As in `next`.
                let Some((table, len)) = self.chunks.next_table() else { return None };
                // SAFETY: as above (I6).
                self.run = unsafe { self.chunks.view.chunk(table, 0, len) }.rows();
            } else {
                let Some(chunk) = self.chunks.next() else { return None };
                self.run = chunk.rows();
            }
        }
    }
}

/// The function that finds out where a walk begins.
type Begin<'w, F> = fn(&mut View<'w, F>, bool) -> (ChunkRows<'w, F>, Option<Driven<'w>>);

/// Where a walk begins: with the set that drives it, if one does.
fn begin<'w, F: Fetch>(view: &mut View<'w, F>, anywhere: bool) -> (ChunkRows<'w, F>, Option<Driven<'w>>) {
    let driver = view.find_driver();
    let mut entities: &[Entity] = driver.map_or(&[], |driver| view.base.store.table_entities(driver.table));
    let mut run = ChunkRows::empty();
    // SAFETY: the cells are those of the view, which is borrowed exclusively and has the access to mark (I8). A fetch that
    // reaches no table serves any (I14). Each entity is in the set once (I10).
    unsafe {
        if driver.is_some() {
            view.cells = F::drive(view.cells, entities.len());
        }
        if F::SETS_ALONE {
            let ptrs = F::ptrs(view.cells, TableId::ROWLESS.index());
            run =
                ChunkRows::of_sets(ptrs, entities, Along::set(view, ptrs, driver, anywhere), view.base.since);
            entities = &[];
        }
    }
    (run, driver.map(|driver| Driven { driver, entities, next: 0 }))
}

/// Tells the compiler that the way on which this is called is not the usual one. Nothing is left of the call.
#[cold]
#[inline(always)]
fn seldom() {}

impl<'w, F: Fetch> Iterator for Rows<'w, F> {
    type Item = F::Item<'w>;

    #[inline(always)]
    #[expect(clippy::question_mark, reason = "`?` is two more functions per query in debug builds")]
    fn next(&mut self) -> Option<F::Item<'w>> {
        if let Some(next) = Self::NEXT {
            return next(self);
        }
        loop {
            if Self::FILLS_REGISTERS {
                // Without an `Option` in between: the compiler would ask anew whether the item is there.
                if self.run.end - self.run.next > 0 {
                    // SAFETY: a row is left, which is yielded once (I6).
                    return Some(unsafe { self.run.take_dense() });
                }
                // At once: the compiler passes this on to the branch above only where nothing else is asked in between, not
                // even something that is known when compiling.
                seldom();
            } else if self.run.end - self.run.next > 0 {
                // SAFETY: as above (I6).
                return Some(unsafe { self.run.take_dense() });
            }
            if Self::FILLS_REGISTERS {
                seldom();
            }
            // By table: whether there is a chunk would be asked of its first pointer.
            let Some((table, len)) = self.chunks.next_table() else { return None };
            // SAFETY: the rows are in range, and each table comes once (I6).
            self.run = unsafe { self.chunks.view.chunk(table, 0, len) }.rows();
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let others = self.driven().map_or_else(|| self.chunks.rows_left(), Driven::rows_left);
        let most = self.run.rows_left() + others;
        (if F::DENSE && !F::SKIPS { most } else { 0 }, Some(most))
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(self, init: B, mut f: G) -> B {
        let mut state = self.run.fold(init, &mut f);
        if !F::DENSE
            && let Some(mut driven) = self.driven
        {
            // The rows of a set alone were a run.
            while !F::SETS_ALONE
                && let Some(item) = driven.next(&self.chunks.view)
            {
                state = f(state, item);
            }
            return state;
        }
        self.chunks.fold(state, |state, chunk| chunk.rows().fold(state, &mut f))
    }
}

impl<F: DenseFetch> ExactSizeIterator for Rows<'_, F> {}
impl<F: Fetch> FusedIterator for Rows<'_, F> {}
