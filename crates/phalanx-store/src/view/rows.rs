//! All rows of a view, one by one.
//!
//! `next` yields the rows of one run after the other: `run` holds what is left of the current table, and an empty
//! run is the only thing a loop asks for per row. `fold`, and with it `for_each`, `sum` and `count`, runs a plain
//! loop per table, which vectorises. Where a sparse set drives the query, its entities are walked in the set's
//! order; each is in the set once, so no row comes twice, and the placeholder in the holes of a stable set is
//! passed over. Their tables are looked up only if it matters which those are.

use std::iter::FusedIterator;

use super::{ChunkRows, Chunks, View};
use crate::entity::Entity;
use crate::fetch::{DenseFetch, Driver, Fetch};

/// The rows that a view visits.
pub struct Rows<'w, F: Fetch> {
    chunks: Chunks<'w, F>,
    run: ChunkRows<'w, F>,
    /// Looked at only where the fetch has sparse parts, which its type tells.
    driven: Option<Driven<'w>>,
}

/// A walk along the rows of the set that drives a query.
struct Driven<'w> {
    driver: Driver,
    entities: &'w [Entity],
    next: usize,
    /// Whether nothing but sets is asked: entities are visited wherever their row is, and none of the set's is a hole.
    sets_alone: bool,
}

impl Driven<'_> {
    /// The item of a row of the set; `None` when its entity is not visited, or the row is a hole.
    ///
    /// # Safety
    /// The set drives the view; the row is in range, and was not asked for before, unless the fetch only reads.
    #[inline(always)]
    unsafe fn item<'w, F: Fetch>(&self, view: &View<'w, F>, row: usize) -> Option<F::Item<'w>> {
        // SAFETY: forwarded: each entity is in the set once (I10), at this row, so its item is yielded once. Where only sets
        // are asked, no hole is among the rows, so it is alive (I10), and has one row in each of them.
        unsafe {
            let entity = self.entities.get_unchecked(row);
            if F::TABLELESS && self.sets_alone {
                return view.item_of_sets(entity, self.driver.table, row);
            }
            // Nothing is found for the placeholder of a hole (I11).
            let found = match self.driver.holes {
                true => view.find(*entity)?,
                false => view.find_known(*entity, Some((self.driver.table, row)))?,
            };
            Some(view.lend(&found))
        }
    }
}

impl<'w, F: Fetch> Rows<'w, F> {
    #[inline]
    pub(super) fn new(mut view: View<'w, F>, anywhere: bool) -> Self {
        let driven = if F::DENSE { None } else { driven_walk(&mut view, anywhere) };
        Self { chunks: Chunks::new(view), run: ChunkRows::empty(), driven }
    }

    /// The view again; `None` when a row was yielded.
    pub fn into_view(self) -> Option<View<'w, F>> {
        let begun = self.driven().is_some_and(|driven| driven.next > 0) || self.chunks.is_begun();
        (!begun).then_some(self.chunks.view)
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
}

/// The walk along the set that drives a view, where one does.
fn driven_walk<'w, F: Fetch>(view: &mut View<'w, F>, anywhere: bool) -> Option<Driven<'w>> {
    let driver = view.find_driver()?;
    let entities = view.store.table_entities(driver.table);
    // SAFETY: locally: the cells are those of the view, which is borrowed exclusively and has the access.
    view.cells = unsafe { F::drive(view.cells, entities.len()) };
    Some(Driven { driver, entities, next: 0, sets_alone: F::TABLELESS && anywhere && !driver.holes })
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
        if !F::DENSE
            && let Some(driven) = &mut self.driven
        {
            while driven.next < driven.entities.len() {
                let row = driven.next;
                driven.next += 1;
                // SAFETY: the row is in range, and each is asked for once (I10).
                if let Some(item) = unsafe { driven.item(&self.chunks.view, row) } {
                    return Some(item);
                }
            }
            return None;
        }
        loop {
            if F::DENSE && !F::SKIPS {
                // Without an `Option` in between: the compiler would ask anew whether the item is there.
                if self.run.rows_left() > 0 {
                    // SAFETY: a row is left, which is yielded once (I6).
                    return Some(unsafe { self.run.take_dense() });
                }
            } else if let Some(item) = self.run.next() {
                return Some(item);
            }
            seldom();
            if F::ROWED && !F::SKIPS {
                // By table: whether there is a chunk would be asked of its first pointer.
                let Some((table, len)) = self.chunks.next_table() else { return None };
                // SAFETY: the rows are in range, and each table comes once (I6).
                self.run = unsafe { self.chunks.view.chunk(table, 0, len) }.rows();
            } else {
                let Some(chunk) = self.chunks.next() else { return None };
                self.run = chunk.rows();
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let most = match self.driven() {
            Some(driven) => driven.entities.len() - driven.next,
            None => self.chunks.rows_left() + self.run.rows_left(),
        };
        (if F::DENSE && !F::SKIPS { most } else { 0 }, Some(most))
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(self, init: B, mut f: G) -> B {
        let mut state = init;
        if let Some(driven) = self.driven() {
            let (view, rows) = (&self.chunks.view, driven.next..driven.entities.len());
            if F::TABLELESS && driven.sets_alone {
                let (entities, table) = (driven.entities, driven.driver.table);
                for row in rows {
                    // SAFETY: as for `next`, and for `Driven::item`.
                    let item = unsafe { view.item_of_sets(entities.get_unchecked(row), table, row) };
                    state = match item {
                        Some(item) => f(state, item),
                        None => state,
                    };
                }
                return state;
            }
            for row in rows {
                // SAFETY: as for `next`.
                if let Some(item) = unsafe { driven.item(view, row) } {
                    state = f(state, item);
                }
            }
            return state;
        }
        state = self.run.fold(state, &mut f);
        self.chunks.fold(state, |state, chunk| chunk.rows().fold(state, &mut f))
    }
}

impl<F: DenseFetch> ExactSizeIterator for Rows<'_, F> {}
impl<F: Fetch> FusedIterator for Rows<'_, F> {}
