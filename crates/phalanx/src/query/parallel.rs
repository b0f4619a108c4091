//! Parallel iteration, on rayon.
//!
//! Work is split on block borders: a job is some blocks of 1,024 rows of one table, so no two jobs share a
//! block, a tick or a cache line of a column. Heavy work per row can be split finer. Small work stays on the
//! calling thread. Which thread runs a job is open; everything that depends on order belongs in the rows
//! themselves.

use phalanx_store::BLOCK_ROWS;
use rayon::prelude::*;

use super::Query;
use super::chunks::QueryTable;
use super::data::QueryData;
use super::filter::QueryFilter;

/// Below this many rows, waking other threads costs more than it gains.
const SMALL: usize = 2 * BLOCK_ROWS;

/// A query whose rows are visited by several threads.
pub struct ParQuery<'w, D: QueryData, F: QueryFilter = ()> {
    query: Query<'w, D, F>,
    /// Rows per job.
    rows: usize,
    small: usize,
}

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// Reads every match on several threads.
    pub fn par_iter(&self) -> ParQuery<'_, D::ReadOnly, F> {
        ParQuery { query: self.as_readonly(), rows: BLOCK_ROWS, small: SMALL }
    }

    /// Reads and writes every match on several threads.
    pub fn par_iter_mut(&mut self) -> ParQuery<'_, D, F> {
        ParQuery { query: self.reborrow(), rows: BLOCK_ROWS, small: SMALL }
    }
}

impl<'w, D: QueryData, F: QueryFilter> ParQuery<'w, D, F> {
    /// How many blocks of 1,024 rows make one job; 1 unless told otherwise.
    #[must_use]
    pub fn batch_blocks(mut self, blocks: usize) -> Self {
        self.rows = blocks.max(1).saturating_mul(BLOCK_ROWS);
        self
    }

    /// How many rows make one job, for work so heavy that a block of 1,024 rows is too much for one thread. From two
    /// jobs on, several threads take part.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)] struct Path(u64);
    /// # let mut world = World::new();
    /// # world.spawn_batch((0..100).map(Path));
    /// world.query_mut::<&mut Path>().par_iter_mut().batch_rows(16).for_each(|path| {
    ///     // something that takes microseconds
    ///     path.0 += 1;
    /// });
    /// # assert!(world.query::<&Path>().iter().map(|path| path.0).eq(1..101));
    /// ```
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.rows = rows.max(1);
        self.small = self.rows.saturating_add(1);
        self
    }

    /// The number of rows below which the calling thread does everything; 2,048 unless told otherwise. Lower it
    /// when the work per row is heavy.
    #[must_use]
    pub fn small_below(mut self, rows: usize) -> Self {
        self.small = rows;
        self
    }

    /// Calls a function for each match. A panic in it is passed on when all jobs have ended.
    pub fn for_each(self, f: impl Fn(D::Item<'w>) + Send + Sync) {
        if self.runs_alone() {
            return self.query.into_iter().for_each(f);
        }
        let most = self.jobs_at_once();
        self.jobs().into_par_iter().with_max_len(most).for_each(|job| job.rows().for_each(&f));
    }

    /// Maps each match and combines the results; `combine` must not depend on order, `identity` must be neutral.
    pub fn map_reduce<T: Send>(
        self,
        identity: impl Fn() -> T + Send + Sync,
        map: impl Fn(D::Item<'w>) -> T + Send + Sync,
        combine: impl Fn(T, T) -> T + Send + Sync,
    ) -> T {
        let add = |sum, item| combine(sum, map(item));
        if self.runs_alone() {
            return self.query.into_iter().fold(identity(), add);
        }
        let most = self.jobs_at_once();
        let jobs = self.jobs().into_par_iter().with_max_len(most);
        jobs.map(|job| job.rows().fold(identity(), add)).reduce(&identity, &combine)
    }

    fn runs_alone(&self) -> bool {
        self.query.view.most() < self.small || rayon::current_num_threads() == 1
    }

    /// How many jobs a thread may take together. Jobs of less than a block are heavy: each of them is worth another
    /// thread's while, so that none waits at the end for a neighbour's row of jobs.
    fn jobs_at_once(&self) -> usize {
        if self.rows < BLOCK_ROWS { 1 } else { usize::MAX }
    }

    fn jobs(self) -> Vec<QueryTable<'w, D, F>> {
        let since = self.query.since;
        self.query.view.newer_than(since).into_runs(self.rows).into_iter().map(|chunk| QueryTable::new(chunk, since)).collect()
    }
}
