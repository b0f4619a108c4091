//! Runs of rows: equally long slices of one table.
//!
//! A [`Chunk`] owns the access to its rows, so it can be sent to another thread; no two chunks of a
//! writing view share a row.

use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use super::along::{Along, careful_row};
use super::{View, meta_of};
use crate::column::BLOCK_ROWS;
use crate::entities::Rowless;
use crate::entity::Entity;
use crate::fetch::{DenseFetch, Fetch, Known, dense_sparse_rows};
use crate::location::TableId;
use crate::tick::Tick;

/// Access to a run of rows of one table.
pub struct Chunk<'w, F: Fetch> {
    ptrs: F::Ptrs,
    owners: *const Entity,
    start: usize,
    len: usize,
    /// The moment before which rows may be skipped.
    since: Tick,
    access: PhantomData<&'w ()>,
}

// SAFETY: a chunk stands for references to values that are `Send` and `Sync` (I1), in rows of its own unless they are only
// read (I6). What `F` keeps may be used on any thread (I14).
unsafe impl<F: Fetch> Send for Chunk<'_, F> {}
// SAFETY: through `&Chunk` only entities are read, and what `F` keeps may be used on any thread (I14).
unsafe impl<F: Fetch> Sync for Chunk<'_, F> {}

impl<'w, F: Fetch> Chunk<'w, F> {
    /// # Safety
    /// The pointers and owners are those of one table of a store that stands still for `'w`, or of an entity without a row;
    /// the rows are in range, and for `'w` the chunk alone has the access that `F` needs to them, unless `F` only reads.
    #[inline(always)]
    pub(super) unsafe fn new(
        ptrs: F::Ptrs,
        owners: *const Entity,
        start: usize,
        len: usize,
        since: Tick,
    ) -> Self {
        Self { ptrs, owners, start, len, since, access: PhantomData }
    }

    /// How many rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entities of the rows.
    #[inline]
    pub fn entities(&self) -> &'w [Entity] {
        // SAFETY: each row has its entity (I5), and the structure stands still while the store is borrowed for `'w`.
        unsafe { std::slice::from_raw_parts(self.owners.add(self.start), self.len) }
    }

    /// The rows as slices.
    #[inline(always)]
    pub fn slices(self) -> F::Slices<'w>
    where
        F: DenseFetch,
    {
        // SAFETY: the chunk's access passes on to the slices (I6).
        unsafe { F::slices(self.ptrs, self.start, self.len) }
    }

    /// The rows one by one.
    #[inline(always)]
    pub fn rows(self) -> ChunkRows<'w, F> {
        ChunkRows {
            ptrs: MaybeUninit::new(self.ptrs),
            owners: self.owners,
            next: self.start,
            end: self.start + self.len,
            since: self.since,
            along: match ChunkRows::<F>::CAREFUL {
                Some(is_careful) => Along::table(is_careful(self.ptrs)),
                None => Along::nothing(),
            },
            access: PhantomData,
        }
    }

    /// Two chunks: the first `at` rows, and the rest.
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len);
        let second = Self { start: self.start + at, len: self.len - at, ..self };
        (Self { len: at, ..self }, second)
    }
}

/// The rows of one chunk.
///
/// The pointers are set where there are rows left: an `Option` around them would be checked again for each row.
pub struct ChunkRows<'w, F: Fetch> {
    ptrs: MaybeUninit<F::Ptrs>,
    owners: *const Entity,
    pub(super) next: usize,
    pub(super) end: usize,
    since: Tick,
    along: Along<'w>,
    access: PhantomData<&'w ()>,
}

// SAFETY: stands for references to values that are `Send` and `Sync` (I1), in rows of its own unless they are only read
// (I6). What `F` keeps may be used on any thread (I14).
unsafe impl<F: Fetch> Send for ChunkRows<'_, F> {}
// SAFETY: through `&ChunkRows` nothing is lent.
unsafe impl<F: Fetch> Sync for ChunkRows<'_, F> {}

/// Whether rows of a fetch that asks for sets alone are marked one by one.
#[inline(always)]
fn marks_rows<F: Fetch>(ptrs: F::Ptrs) -> bool {
    !F::is_marked(ptrs)
}

impl<'w, F: Fetch> ChunkRows<'w, F> {
    /// Whether care has to be taken of the rows of a visited table. A constant, so that the compiler does not look through
    /// what most fetches have no use for.
    const CAREFUL: Option<fn(F::Ptrs) -> bool> = if F::SETS_ALONE { Some(marks_rows::<F>) } else { None };

    /// The rows that are left, while this is borrowed.
    pub(super) fn remaining(&mut self) -> ChunkRows<'_, F> {
        ChunkRows { access: PhantomData, ..*self }
    }

    /// No rows.
    #[inline(always)]
    pub(super) fn empty() -> Self {
        let (ptrs, owners, along) = (MaybeUninit::uninit(), ptr::null(), Along::nothing());
        Self { ptrs, owners, next: 0, end: 0, since: Tick::ZERO, along, access: PhantomData }
    }

    /// Rows of a fetch that asks for sets alone: first those of these entities.
    ///
    /// # Safety
    /// The fetch does, and the pointers are for any table. The entities are those of the set that is walked along, if one
    /// is. For `'w`, the run alone has the access that `F` needs to the entities.
    pub(super) unsafe fn of_sets(
        ptrs: F::Ptrs,
        entities: &'w [Entity],
        along: Along<'w>,
        since: Tick,
    ) -> Self {
        let (ptrs, owners, end) = (MaybeUninit::new(ptrs), entities.as_ptr(), entities.len());
        Self { ptrs, owners, next: 0, end, since, along, access: PhantomData }
    }

    /// Goes on with the rows of a chunk: all else is as it was.
    ///
    /// # Safety
    /// The fetch asks for sets alone, and the chunk is one of the same view.
    #[inline(always)]
    pub(super) unsafe fn go_on(&mut self, chunk: &Chunk<'w, F>) {
        debug_assert!(F::SETS_ALONE);
        (self.owners, self.next, self.end) = (chunk.owners, chunk.start, chunk.start + chunk.len);
    }

    /// Whether a row was yielded, or skipped.
    pub(super) fn is_begun(&self) -> bool {
        self.next > 0
    }

    /// How many rows are left, those included that sparse parts or ticks may rule out.
    #[inline(always)]
    pub(super) fn rows_left(&self) -> usize {
        self.end - self.next
    }

    /// What a dense fetch yields for the next row.
    ///
    /// # Safety
    /// The fetch is dense, and a row is left.
    #[inline(always)]
    pub(super) unsafe fn take_dense(&mut self) -> F::Item<'w> {
        // SAFETY: a chunk with a row was made with its pointers, and its access covers the row, which is yielded once (I6).
        let item = unsafe {
            let ptrs = self.ptrs.assume_init();
            F::item(ptrs, self.next, dense_sparse_rows::<F>(ptrs))
        };
        // Last: where it is counted before, the number of the row needs a register of its own.
        self.next += 1;
        item
    }

    /// The first row from `row` on that is not skipped.
    ///
    /// # Safety
    /// Rows are left; `row` is one of them.
    #[inline(always)]
    unsafe fn pass_over(&self, row: usize) -> usize {
        // SAFETY: a chunk with a row was made with its pointers; its access covers the rows that were not yielded (I6).
        unsafe { F::next_newer(self.ptrs.assume_init(), row, self.end, self.since) }
    }

    /// The item of a row of which something has to be asked.
    ///
    /// # Safety
    /// As for `row`, of a fetch that asks for sets alone.
    #[inline(always)]
    unsafe fn careful_row(&self, row: usize) -> Option<F::Item<'w>> {
        // SAFETY: forwarded, as in `row`. The pointers are passed on by value, so that nothing points at these.
        unsafe { careful_row::<F>(self.ptrs.assume_init(), &*self.owners.add(row), row, self.along) }
    }

    /// # Safety
    /// The row belongs to the chunk, and was not yielded before. No care has to be taken.
    #[inline(always)]
    #[expect(clippy::manual_map, reason = "`map` is two more functions per query in debug builds")]
    unsafe fn row(&self, row: usize) -> Option<F::Item<'w>> {
        // SAFETY: a chunk with a row was made with its pointers, and its access covers the row (I6), which has its
        // entity (I5, I10), which lives, and the sparse rows of that. Rows of a set are known in that set alone. Where no care has
        // to be taken, no row is a hole, and the pointers are marked, which `rowless` does not change (I14).
        unsafe {
            if F::SETS_ALONE {
                let entity = &*self.owners.add(row);
                let ptrs = F::rowless(self.ptrs.assume_init(), entity);
                std::hint::assert_unchecked(F::is_marked(ptrs));
                return match F::sparse_rows(ptrs, *entity, Known::Row(self.along.set, row)) {
                    Some(sparse_rows) => Some(F::item(ptrs, 0, sparse_rows)),
                    None => None,
                };
            }
            let ptrs = self.ptrs.assume_init();
            // A dense fetch has no use for the entity, so it is not read.
            let entity = if F::DENSE { Entity::PLACEHOLDER } else { *self.owners.add(row) };
            match F::sparse_rows(ptrs, entity, Known::Alive) {
                Some(sparse_rows) => Some(F::item(ptrs, row, sparse_rows)),
                None => None,
            }
        }
    }
}

impl<'w, F: Fetch> Iterator for ChunkRows<'w, F> {
    type Item = F::Item<'w>;

    #[inline(always)]
    fn next(&mut self) -> Option<F::Item<'w>> {
        if F::DENSE && !F::SKIPS {
            // Every row has an item: without a way back into the loop, a plain `for` over rows vectorises.
            if self.next == self.end {
                return None;
            }
            let row = self.next;
            self.next += 1;
            // SAFETY: the row belongs to the chunk and is yielded once (I6).
            return unsafe { self.row(row) };
        }
        while self.next != self.end {
            if F::SKIPS {
                // SAFETY: the next row was not yielded yet (I6).
                self.next = unsafe { self.pass_over(self.next) };
                if self.next == self.end {
                    break;
                }
            }
            let row = self.next;
            self.next += 1;
            if F::SETS_ALONE && self.along.careful {
                // SAFETY: the row belongs to the chunk and is yielded once (I6).
                match unsafe { self.careful_row(row) } {
                    Some(item) => return Some(item),
                    None => continue,
                }
            }
            // SAFETY: the row belongs to the chunk and is yielded once (I6); no care has to be taken.
            if let Some(item) = unsafe { self.row(row) } {
                return Some(item);
            }
        }
        None
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rows_left();
        (if F::DENSE && !F::SKIPS { left } else { 0 }, Some(left))
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(mut self, init: B, mut f: G) -> B {
        let mut state = init;
        if F::SKIPS || (F::SETS_ALONE && self.along.careful) {
            for item in self.by_ref() {
                state = f(state, item);
            }
            return state;
        }
        // A range from the first row with nothing else live in the loop: this is what vectorises.
        for row in self.next..self.end {
            // SAFETY: each row that is left comes once, since this is used up (I6).
            if let Some(item) = unsafe { self.row(row) } {
                state = f(state, item);
            }
        }
        state
    }
}

impl<F: DenseFetch> ExactSizeIterator for ChunkRows<'_, F> {}
impl<F: Fetch> FusedIterator for ChunkRows<'_, F> {}

/// A view's chunks, one per table that has rows, then one per entity without a row.
///
/// Where rows may be skipped, one per block that is not skipped as a whole.
pub struct Chunks<'w, F: Fetch> {
    pub(super) view: View<'w, F>,
    next: usize,
    /// The next block of the next table, where rows may be skipped.
    block: usize,
    rowless: Option<Rowless<'w>>,
}

impl<'w, F: Fetch> Chunks<'w, F> {
    #[inline]
    pub(super) fn new(view: View<'w, F>) -> Self {
        let rowless = if !F::ROWED && view.base.rowless { Some(view.base.entities.rowless()) } else { None };
        Self { view, next: 0, block: 0, rowless }
    }

    /// The chunks that are left, to be visited now; afterwards they are left as before.
    pub(super) fn remaining(&mut self) -> Chunks<'_, F> {
        Chunks {
            view: self.view.reborrow(),
            next: self.next,
            block: self.block,
            rowless: self.rowless.clone(),
        }
    }

    /// The next table that has rows, and how many.
    #[inline(always)]
    pub(super) fn next_table(&mut self) -> Option<(TableId, usize)> {
        while let Some(&table) = self.view.base.tables.get(self.next) {
            self.next += 1;
            // SAFETY: a table that a fresh query visits exists (I6).
            let len = unsafe { meta_of(self.view.base.metas, table).len as usize };
            if len > 0 {
                return Some((table, len));
            }
        }
        None
    }

    /// The next chunk where rows may be skipped.
    fn next_newer(&mut self) -> Option<Chunk<'w, F>> {
        while let Some(&table) = self.view.base.tables.get(self.next) {
            // SAFETY: a table that is visited exists, and the block begins within its rows, which are in range. Each block of a
            // table, which is visited once, comes once (I6).
            unsafe {
                let len = self.view.table_len(table);
                while self.block * BLOCK_ROWS < len {
                    let start = self.block * BLOCK_ROWS;
                    self.block += 1;
                    if self.view.block_is_newer(table, self.block - 1) {
                        return Some(self.view.chunk(table, start, BLOCK_ROWS.min(len - start)));
                    }
                }
            }
            self.next += 1;
            self.block = 0;
        }
        None
    }

    /// The chunks that are left after the next one, and that. By value, and apart, so that nothing points at the walk of
    /// which they are a part, and it can stay in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn split_first(mut self) -> (Self, Option<Chunk<'w, F>>) {
        let first = self.next();
        (self, first)
    }

    /// The same chunks again.
    ///
    /// # Safety
    /// Only one of the two is used on.
    #[inline(always)]
    pub(super) unsafe fn same(&self) -> Self {
        let Self { next, block, .. } = *self;
        Self { view: View { ..self.view }, next, block, rowless: self.rowless.clone() }
    }

    /// Whether a chunk was yielded.
    pub(super) fn is_begun(&self) -> bool {
        let rowless = self.rowless.as_ref();
        self.next > 0
            || self.block > 0
            || rowless.is_some_and(|rowless| rowless.len() != self.view.rowless_len())
    }

    /// How many rows are left in chunks that were not yielded yet.
    pub(super) fn rows_left(&self) -> usize {
        let tables: usize = self.view.tables().skip(self.next).map(|(_, len)| len).sum();
        tables + self.rowless.as_ref().map_or(0, ExactSizeIterator::len)
    }
}

impl<'w, F: Fetch> Iterator for Chunks<'w, F> {
    type Item = Chunk<'w, F>;

    #[inline]
    fn next(&mut self) -> Option<Chunk<'w, F>> {
        if F::SKIPS {
            let newer = self.next_newer();
            if F::ROWED || newer.is_some() {
                return newer;
            }
        }
        if let Some((table, len)) = self.next_table() {
            // SAFETY: the rows are in range, and each table comes once (I6).
            return Some(unsafe { self.view.chunk(table, 0, len) });
        }
        // Known when compiling: otherwise the walk over entities without a row is live state of every loop.
        if F::ROWED {
            return None;
        }
        let entity = self.rowless.as_mut()?.next()?;
        // SAFETY: the rowless are visited, and each comes once (I6).
        Some(unsafe { self.view.rowless_chunk(entity) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if F::SKIPS {
            return (0, None);
        }
        let rowless = self.rowless.as_ref().map_or(0, ExactSizeIterator::len);
        (rowless, Some(self.view.base.tables.len() - self.next + rowless))
    }

    #[inline(always)]
    fn fold<B, G: FnMut(B, Chunk<'w, F>) -> B>(mut self, init: B, mut f: G) -> B {
        let mut state = init;
        if F::SKIPS {
            while let Some(chunk) = self.next_newer() {
                state = f(state, chunk);
            }
            if F::ROWED {
                return state;
            }
        }
        // None is left where rows may be skipped.
        // SAFETY: a table that a fresh query visits exists, and the rows are in range; the rowless that are left are visited.
        // Each table and each entity that is left comes once, since this is used up (I6).
        unsafe {
            for &table in &self.view.base.tables[self.next..] {
                let len = self.view.table_len(table);
                if len > 0 {
                    state = f(state, self.view.chunk(table, 0, len));
                }
            }
            for entity in self.rowless.into_iter().flatten() {
                state = f(state, self.view.rowless_chunk(entity));
            }
        }
        state
    }
}

impl<F: Fetch> FusedIterator for Chunks<'_, F> {}
