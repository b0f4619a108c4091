//! Iteration by table: equally long slices.
//!
//! [`Query::chunks_mut`] yields the slices themselves, ready for pattern matching; [`Query::tables_mut`]
//! yields a table's rows as a whole, with their entities, as slices or as a tight row loop.

use std::iter::FusedIterator;

use phalanx_store::{Chunk, ChunkRows, Chunks, DenseFetch, Entity, Fetch, Tick};

use super::Query;
use super::data::QueryData;
use super::filter::{ArchetypeFilter, QueryFilter};
use super::moment::Moment;
use super::state::Both;

// The bound stands at each function, not at the block: only so does its message reach the user.
impl<'w, D: QueryData, F: QueryFilter> Query<'w, '_, D, F> {
    /// Reads every table that matches, as slices of equal length.
    #[inline]
    pub fn chunks(&self) -> QueryChunks<'_, D::ReadOnly, F>
    where
        F: ArchetypeFilter,
        <D::Fetch as Fetch>::ReadOnly: DenseFetch,
    {
        self.as_readonly().into_chunks()
    }

    /// Reads and writes every table that matches, as slices of equal length.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Player;
    /// fn heal(mut all: Query<&mut Health>) {
    ///     for healths in all.chunks_mut() { // a slice per table
    ///         for health in healths.iter_mut() {
    ///             health.0 += 1.0;
    ///         }
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn chunks_mut(&mut self) -> QueryChunks<'_, D, F>
    where
        F: ArchetypeFilter,
        D::Fetch: DenseFetch,
    {
        self.reborrow().into_chunks()
    }

    /// As [`Query::chunks_mut`], for as long as the query would have lived.
    #[inline]
    pub fn into_chunks(self) -> QueryChunks<'w, D, F>
    where
        F: ArchetypeFilter,
        D::Fetch: DenseFetch,
    {
        QueryChunks { tables: self.into_tables() }
    }

    /// Reads every table that matches.
    #[inline]
    pub fn tables(&self) -> QueryTables<'_, D::ReadOnly, F>
    where
        F: ArchetypeFilter,
    {
        self.as_readonly().into_tables()
    }

    /// Reads and writes every table that matches.
    #[inline]
    pub fn tables_mut(&mut self) -> QueryTables<'_, D, F>
    where
        F: ArchetypeFilter,
    {
        self.reborrow().into_tables()
    }

    /// As [`Query::tables_mut`], for as long as the query would have lived.
    #[inline]
    pub fn into_tables(self) -> QueryTables<'w, D, F>
    where
        F: ArchetypeFilter,
    {
        QueryTables { chunks: self.view.into_chunks(), since: self.since }
    }

    /// Reads the blocks of at most 1,024 rows in which a column of this query was written, or rows came, went or
    /// moved, after `tick`. Blocks without a change are skipped without looking at their rows. Sparse parts keep their
    /// ticks elsewhere: a query with such a part skips nothing.
    pub fn chunks_changed_since(&self, tick: Tick) -> impl Iterator<Item = QueryTable<'_, D::ReadOnly, F>>
    where
        F: ArchetypeFilter,
    {
        self.as_readonly().into_changed_blocks(tick)
    }

    /// As [`Query::chunks_changed_since`], to be read and written. The blocks that it finds, and no others, count as
    /// written from now on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)] struct Light(f32);
    /// # let mut world = World::new();
    /// # world.spawn_batch((0..5_000).map(|_| Light(1.0)));
    /// # world.clear_trackers();
    /// # let entity = world.view::<Entity>().into_iter().nth(3_000).unwrap();
    /// # world.get_mut::<Light>(entity).unwrap().0 = 2.0;
    /// let since = world.last_change_tick();
    /// let mut query = world.view_mut::<&mut Light>();
    /// let rows: usize = query.chunks_changed_since_mut(since).map(|block| block.slices().len()).sum();
    /// assert_eq!(rows, 1_024);
    /// ```
    pub fn chunks_changed_since_mut(&mut self, tick: Tick) -> impl Iterator<Item = QueryTable<'_, D, F>>
    where
        F: ArchetypeFilter,
    {
        self.reborrow().into_changed_blocks(tick)
    }

    fn into_changed_blocks(self, tick: Tick) -> impl Iterator<Item = QueryTable<'w, D, F>> {
        let since = self.since;
        self.view.into_changed_blocks(tick).into_iter().map(move |chunk| QueryTable { chunk, since })
    }
}

/// The matching tables of a query.
pub struct QueryTables<'w, D: QueryData, F: QueryFilter = ()> {
    chunks: Chunks<'w, Both<D, F>>,
    since: Moment<'w>,
}

impl<'w, D: QueryData, F: QueryFilter> Iterator for QueryTables<'w, D, F> {
    type Item = QueryTable<'w, D, F>;

    #[inline(always)]
    fn next(&mut self) -> Option<QueryTable<'w, D, F>> {
        Some(QueryTable { chunk: self.chunks.next()?, since: self.since })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.chunks.size_hint()
    }
}

impl<D: QueryData, F: QueryFilter> FusedIterator for QueryTables<'_, D, F> {}

/// The matching rows of one table.
pub struct QueryTable<'w, D: QueryData, F: QueryFilter = ()> {
    chunk: Chunk<'w, Both<D, F>>,
    since: Moment<'w>,
}

impl<'w, D: QueryData, F: QueryFilter> QueryTable<'w, D, F> {
    #[cfg(feature = "parallel")]
    pub(super) fn new(chunk: Chunk<'w, Both<D, F>>, since: Moment<'w>) -> Self {
        Self { chunk, since }
    }

    /// Two runs of rows: the first `at`, and the rest.
    #[cfg(feature = "parallel")]
    pub(super) fn split_at(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.chunk.split_at(at);
        (Self { chunk: first, ..self }, Self { chunk: rest, ..self })
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.chunk.len()
    }

    /// Whether there is no row; tables without rows are not visited.
    pub fn is_empty(&self) -> bool {
        self.chunk.is_empty()
    }

    /// The entities of the rows.
    pub fn entities(&self) -> &'w [Entity] {
        self.chunk.entities()
    }

    /// The rows as slices.
    #[inline(always)]
    pub fn slices(self) -> D::Chunk<'w>
    where
        D::Fetch: DenseFetch,
        F: ArchetypeFilter,
    {
        D::chunk(self.chunk.slices().1)
    }

    /// The rows one by one: a loop over these is as tight as one over slices.
    #[inline(always)]
    pub fn rows(self) -> TableRows<'w, D, F> {
        TableRows { rows: self.chunk.rows(), since: self.since }
    }
}

/// The rows of one table.
pub struct TableRows<'w, D: QueryData, F: QueryFilter = ()> {
    rows: ChunkRows<'w, Both<D, F>>,
    since: Moment<'w>,
}

impl<'w, D: QueryData, F: QueryFilter> Iterator for TableRows<'w, D, F> {
    type Item = D::Item<'w>;

    #[inline(always)]
    fn next(&mut self) -> Option<D::Item<'w>> {
        loop {
            let (ticks, row) = self.rows.next()?;
            if F::ARCHETYPAL || F::keep(ticks, self.since.tick) {
                return Some(D::item(row, self.since));
            }
        }
    }

    #[inline(always)]
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

impl<D: QueryData<Fetch: DenseFetch>, F: ArchetypeFilter> ExactSizeIterator for TableRows<'_, D, F> {}
impl<D: QueryData, F: QueryFilter> FusedIterator for TableRows<'_, D, F> {}

/// The slices of each matching table.
pub struct QueryChunks<'w, D: QueryData, F: QueryFilter = ()> {
    tables: QueryTables<'w, D, F>,
}

impl<'w, D: QueryData<Fetch: DenseFetch>, F: ArchetypeFilter> Iterator for QueryChunks<'w, D, F> {
    type Item = D::Chunk<'w>;

    #[inline(always)]
    fn next(&mut self) -> Option<D::Chunk<'w>> {
        self.tables.next().map(QueryTable::slices)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.tables.size_hint()
    }
}

impl<D: QueryData<Fetch: DenseFetch>, F: ArchetypeFilter> FusedIterator for QueryChunks<'_, D, F> {}
