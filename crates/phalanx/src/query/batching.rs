//! How the rows of a parallel loop are cut into jobs, where the caller decides.
//!
//! [`BatchingStrategy`] is bevy's: a number of jobs per thread, and limits for the rows of each. It knows nothing of
//! rows; `parallel` asks it once per loop.

use std::ops::Range;

/// Limits for the rows of one job.
///
/// Unless a strategy is chosen, jobs are cut by the time that rows take, which is most often best.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Load(f32);
/// fn work(mut all: Query<&mut Load>) {
///     let strategy = BatchingStrategy::fixed(64);
///     all.par_iter_mut().batching_strategy(strategy).for_each(|mut load| load.0 = load.0.sin());
/// }
/// # let mut world = World::new();
/// # world.spawn(Load(1.0));
/// # world.run_system_once(work).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchingStrategy {
    /// The least and the largest number of rows of a job; both count as within.
    pub batch_size_limits: Range<usize>,
    /// How many jobs there are per thread, as far as the limits allow.
    pub batches_per_thread: usize,
}

impl BatchingStrategy {
    /// One job per thread, of any size.
    pub const fn new() -> Self {
        Self { batch_size_limits: 1..usize::MAX, batches_per_thread: 1 }
    }

    /// Jobs of so many rows.
    pub const fn fixed(rows: usize) -> Self {
        Self { batch_size_limits: rows..rows, batches_per_thread: 1 }
    }

    /// The least number of rows of a job.
    #[must_use]
    pub const fn min_batch_size(mut self, rows: usize) -> Self {
        self.batch_size_limits.start = rows;
        self
    }

    /// The largest number of rows of a job.
    #[must_use]
    pub const fn max_batch_size(mut self, rows: usize) -> Self {
        self.batch_size_limits.end = rows;
        self
    }

    /// How many jobs there are per thread.
    ///
    /// # Panics
    /// When that is none.
    #[must_use]
    #[track_caller]
    pub const fn batches_per_thread(mut self, batches: usize) -> Self {
        assert!(batches > 0, "a thread needs at least one batch: give `batches_per_thread` a number above 0");
        self.batches_per_thread = batches;
        self
    }

    /// The rows of one job.
    ///
    /// # Panics
    /// When there is no thread.
    #[track_caller]
    pub fn calc_batch_size(&self, max_items: impl FnOnce() -> usize, thread_count: usize) -> usize {
        let Range { start, end } = self.batch_size_limits;
        if start == end {
            return start;
        }
        assert!(thread_count > 0, "rows are shared among threads: there must be at least one");
        let rows = max_items().div_ceil(thread_count.saturating_mul(self.batches_per_thread));
        rows.min(end).max(start)
    }
}

impl Default for BatchingStrategy {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::BatchingStrategy;

    #[test]
    fn a_job_has_the_rows_of_its_share_within_the_limits() {
        let rows = |strategy: BatchingStrategy| strategy.calc_batch_size(|| 1_000, 4);
        assert_eq!(rows(BatchingStrategy::new()), 250);
        assert_eq!(rows(BatchingStrategy::new().batches_per_thread(5)), 50);
        assert_eq!(rows(BatchingStrategy::new().min_batch_size(300)), 300);
        assert_eq!(rows(BatchingStrategy::new().max_batch_size(10)), 10);
        assert_eq!(rows(BatchingStrategy::fixed(7)), 7);
        assert_eq!(BatchingStrategy::default().calc_batch_size(|| 3, 2), 2, "rounded up");
    }
}
