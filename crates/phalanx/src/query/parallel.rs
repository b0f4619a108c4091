//! Parallel iteration, on rayon.
//!
//! How heavy a row is shows when rows are visited: the calling thread begins, looks at the clock after a few rows, and
//! again after more of them, and shares what is left as soon as that is worth another thread's while. So light loops
//! stay on the calling thread, and a few heavy rows do not. Looks cost light loops more than anything else does, so a
//! query that was light many times is timed in some runs only, and rows that were heavy in the run before are shared at
//! once (`earlier_runs`). What is shared is cut into jobs of some microseconds each; jobs of more than a block end on block borders, so that no two of them share a tick or a cache line of a column.
//! Which thread runs a job is open; everything that depends on order belongs in the rows themselves. What
//! [`ParQuery::map_reduce`] combines is cut by the number of rows alone, so that it is the same in every run.
//!
//! A query that a sparse set drives stays on the calling thread while the set is short: jobs go by tables.

use std::time::{Duration, Instant};

use phalanx_store::BLOCK_ROWS;

pub use chunks::ParChunks;
pub(super) use earlier_runs::EarlierRuns;
pub use items::ParItems;

use super::Query;
use super::batching::BatchingStrategy;
use super::chunks::QueryTable;
use super::data::QueryData;
use super::filter::{ArchetypeFilter, QueryFilter};

mod chunks;
mod earlier_runs;
mod items;

/// The rows of a set below which the walk along it is not given up for one along the tables.
const SHORT_SET: usize = 2 * BLOCK_ROWS;

/// The rows after which the clock is looked at first. Few: meanwhile other threads wait, and those that were awake fall
/// asleep.
const FIRST_ROWS: usize = 4;
/// How many times more rows are visited next, at most, while too little time has passed to tell.
const GROWTH: usize = 64;
/// The least time that tells how heavy rows are: the first ones may wait for memory, which the others find at hand.
const TELLING: Duration = Duration::from_micros(2);
/// The time from which on what is left is shared, where threads of the pool are awake: inside of a job.
const WORTH_SHARING: Duration = Duration::from_micros(60);
/// The time from which on it is elsewhere: a thread of the pool must be woken, takes over, and wakes others.
pub(super) const WORTH_WAKING: Duration = Duration::from_micros(150);
/// The time that one job takes, and after which the calling thread looks at the clock again.
pub(super) const JOB: Duration = Duration::from_micros(12);

/// Rows that fill whole cache lines of a column, whatever the size of a value.
const LINE_ROWS: usize = 64;

/// The number of parts into which rows are cut whose results are combined, unless a part would exceed a block.
const PARTS: usize = 64;

/// A query whose rows are visited by several threads.
pub struct ParQuery<'w, D: QueryData, F: QueryFilter = ()> {
    query: Query<'w, 'w, D, F>,
    batches: Batches,
}

/// How work is cut into jobs.
#[derive(Clone, Copy)]
enum Batches {
    /// By the time that rows take.
    Timed,
    /// By the user: rows per job, and the number of rows below which the calling thread does everything.
    Fixed { rows: usize, small: usize },
}

impl Batches {
    /// What was chosen so far, when the user chooses something.
    fn fixed(self) -> (usize, usize) {
        match self {
            Self::Timed => (BLOCK_ROWS, 2 * BLOCK_ROWS),
            Self::Fixed { rows, small } => (rows, small),
        }
    }
}

impl<'w, D: QueryData, F: QueryFilter> Query<'w, '_, D, F> {
    /// Reads every match on several threads, as far as that is faster.
    pub fn par_iter(&self) -> ParQuery<'_, D::ReadOnly, F> {
        ParQuery::new(self.as_readonly())
    }

    /// Reads and writes every match on several threads, as far as that is faster.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Player;
    /// fn heal(mut all: Query<&mut Health>) {
    ///     all.par_iter_mut().for_each(|mut health| health.0 += 1.0);
    /// }
    /// ```
    pub fn par_iter_mut(&mut self) -> ParQuery<'_, D, F> {
        ParQuery::new(self.reborrow())
    }

    /// As [`Query::par_iter_mut`], for as long as the query would have lived.
    pub fn par_iter_inner(self) -> ParQuery<'w, D, F> {
        ParQuery::new(self)
    }
}

impl<'w, D: QueryData, F: QueryFilter> ParQuery<'w, D, F> {
    pub(crate) fn new(query: Query<'w, '_, D, F>) -> Self {
        Self { query: query.without_state(), batches: Batches::Timed }
    }

    /// How many blocks of 1,024 rows make one job, instead of some microseconds of work. From two jobs on, several
    /// threads take part.
    #[must_use]
    pub fn batch_blocks(mut self, blocks: usize) -> Self {
        let (_, small) = self.batches.fixed();
        self.batches = Batches::Fixed { rows: blocks.max(1).saturating_mul(BLOCK_ROWS), small };
        self
    }

    /// How many rows make one job, instead of some microseconds of work. From two jobs on, several threads take part.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)] struct Path(u64);
    /// # let mut world = World::new();
    /// # world.spawn_batch((0..100).map(Path));
    /// world.view_mut::<&mut Path>().par_iter_mut().batch_rows(16).for_each(|mut path| {
    ///     path.0 += 1;
    /// });
    /// # assert!(world.view::<&Path>().iter().map(|path| path.0).eq(1..101));
    /// ```
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        let rows = rows.max(1);
        self.batches = Batches::Fixed { rows, small: rows.saturating_add(1) };
        self
    }

    /// How rows are cut into jobs, in bevy's words, instead of by the time that they take.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "as in bevy")]
    pub fn batching_strategy(self, strategy: BatchingStrategy) -> Self {
        let rows = strategy.calc_batch_size(|| self.query.view.most(), rayon_core::current_num_threads());
        self.batch_rows(rows)
    }

    /// The number of rows below which the calling thread does everything; with as many or more, several threads take
    /// part, each with jobs of a block unless set otherwise.
    #[must_use]
    pub fn small_below(mut self, small: usize) -> Self {
        let (rows, _) = self.batches.fixed();
        self.batches = Batches::Fixed { rows, small };
        self
    }

    /// Calls a function for each match. A panic in it is passed on when all jobs have ended.
    pub fn for_each(self, f: impl Fn(D::Item<'w>) + Send + Sync) {
        match self.pace() {
            None => self.query.into_iter().for_each(f),
            Some(pace) => self.for_each_run(pace, |rows| rows.rows().for_each(&f)),
        }
    }

    /// Calls a function for each match, with a value that is made for each run of rows that a thread visits.
    pub fn for_each_init<T>(
        self,
        init: impl Fn() -> T + Send + Sync,
        f: impl Fn(&mut T, D::Item<'w>) + Send + Sync,
    ) {
        match self.pace() {
            None => {
                let mut value = init();
                self.query.into_iter().for_each(|item| f(&mut value, item));
            }
            Some(pace) => self.for_each_run(pace, |rows| {
                let mut value = init();
                rows.rows().for_each(|item| f(&mut value, item));
            }),
        }
    }

    fn for_each_run(self, mut pace: Pace<'_>, run: impl Fn(QueryTable<'w, D, F>) + Sync) {
        let since = self.query.since;
        let mut tables =
            self.query.view.newer_than(since.tick).into_chunks().map(|chunk| QueryTable::new(chunk, since));
        // What is left of a table, and how many of its rows were visited.
        let mut begun: Option<(QueryTable<'w, D, F>, usize)> = None;
        while let Step::Visit(mut rows) = pace.step() {
            while rows > 0 {
                let Some((table, before)) = begun.take().or_else(|| Some((tables.next()?, 0))) else {
                    return pace.ended();
                };
                let (now, later) = table.split_at(rows);
                let visited = now.len();
                run(now);
                pace.visited(visited);
                rows -= visited;
                begun = Some((later, before + visited)).filter(|(later, _)| !later.is_empty());
            }
        }
        let (mut jobs, mut rows) = (Vec::new(), 0);
        for (mut table, mut before) in begun.into_iter().chain(tables.map(|table| (table, 0))) {
            rows += table.len();
            while !table.is_empty() {
                let (job, later) = table.split_at(pace.job_rows(before));
                before += job.len();
                jobs.push(Some(job));
                table = later;
            }
        }
        let together = pace.jobs_together(jobs.len(), rows);
        share(&mut jobs, together, &|job| job.take().into_iter().for_each(&run));
        pace.shared(rows);
    }

    /// Maps each match and combines the results, in the order of rows; `identity` must be neutral. Where rows are
    /// parted depends on their number alone, so the result is the same whatever the threads.
    pub fn map_reduce<T: Send>(
        self,
        identity: impl Fn() -> T + Send + Sync,
        map: impl Fn(D::Item<'w>) -> T + Send + Sync,
        combine: impl Fn(T, T) -> T + Send + Sync,
    ) -> T {
        let add = |sum, item| combine(sum, map(item));
        let Some(mut pace) = self.pace() else { return self.query.into_iter().fold(identity(), add) };
        let fold = |part: QueryTable<'w, D, F>| part.rows().fold(identity(), add);
        let since = self.query.since;
        let parts = self.query.view.newer_than(since.tick).into_runs(pace.part_rows());
        let mut parts = parts.into_iter().map(|chunk| QueryTable::new(chunk, since));
        let mut sum = identity();
        while let Step::Visit(mut rows) = pace.step() {
            while rows > 0 {
                let Some(part) = parts.next() else {
                    pace.ended();
                    return sum;
                };
                let visited = part.len();
                sum = combine(sum, fold(part));
                pace.visited(visited);
                rows = rows.saturating_sub(visited);
            }
        }
        let mut jobs: Vec<_> = parts.map(|part| (Some(part), None)).collect();
        let rows = jobs.iter().filter_map(|(part, _)| part.as_ref()).map(QueryTable::len).sum();
        let together = pace.jobs_together(jobs.len(), rows);
        share(&mut jobs, together, &|(part, result)| *result = part.take().map(fold));
        pace.shared(rows);
        jobs.into_iter().filter_map(|(_, result)| result).fold(sum, combine)
    }

    /// How the rows are to be visited; `None` when the calling thread does everything, as without `par_iter`.
    fn pace(&self) -> Option<Pace<'w>> {
        let (rows, view) = (self.query.view.most(), &self.query.view);
        let alone = match self.batches {
            Batches::Timed => rows < SHORT_SET && view.driver_set().is_some(),
            Batches::Fixed { small, .. } => rows < small,
        };
        let earlier_runs = &self.query.context.asked.earlier_runs;
        (!alone).then(|| Pace {
            batches: self.batches,
            rows,
            left: rows,
            visited: 0,
            earlier_runs,
            is_timed: matches!(self.batches, Batches::Timed) && earlier_runs.is_next_timed(rows),
            began: None,
            at_once: false,
            clock: None,
            row: 0.0,
        })
    }
}

/// Runs jobs on several threads, as many of them together as given.
fn share<J: Send>(jobs: &mut [J], together: usize, run: &(impl Fn(&mut J) + Sync)) {
    if jobs.len() <= together {
        return jobs.iter_mut().for_each(run);
    }
    let (some, others) = jobs.split_at_mut(jobs.len() / 2);
    rayon_core::join(|| share(some, together, run), || share(others, together, run));
}

/// What the calling thread does next.
enum Step {
    /// Visit so many rows, or all that are left.
    Visit(usize),
    /// Share what is left.
    Share,
}

/// How fast rows are visited, and what follows from it.
struct Pace<'w> {
    batches: Batches,
    /// How many rows there were at most.
    rows: usize,
    /// How many are left, at most.
    left: usize,
    /// How many were visited since the clock was set.
    visited: usize,
    /// What is known of earlier runs.
    earlier_runs: &'w EarlierRuns,
    /// Whether the clock is looked at, where time decides.
    is_timed: bool,
    began: Option<Instant>,
    /// Whether all rows are shared, as in the run before.
    at_once: bool,
    clock: Option<Instant>,
    /// The nanoseconds that a row took of late.
    row: f64,
}

impl Pace<'_> {
    fn visited(&mut self, rows: usize) {
        self.left = self.left.saturating_sub(rows);
        self.visited += rows;
    }

    fn step(&mut self) -> Step {
        if let Batches::Fixed { .. } = self.batches {
            return Step::Share;
        }
        if !self.is_timed {
            return Step::Visit(usize::MAX);
        }
        let Some(set) = self.clock else {
            self.clock = Some(Instant::now());
            self.began = self.clock;
            if let Some(row) = self.earlier_runs.heavy_row() {
                self.row = row;
                self.at_once = self.is_worth_sharing(self.left) && rayon_core::current_num_threads() > 1;
            }
            return if self.at_once { Step::Share } else { Step::Visit(FIRST_ROWS) };
        };
        if self.left == 0 {
            return Step::Visit(usize::MAX);
        }
        let now = Instant::now();
        let passed = nanos(now - set);
        // Light rows are not divided by: it would be a good part of what they lose here.
        if passed * GROWTH as f64 <= nanos(JOB) {
            return Step::Visit(self.visited.saturating_mul(GROWTH));
        }
        self.row = passed / self.visited as f64;
        if passed < nanos(TELLING) {
            return Step::Visit(self.timed_rows());
        }
        if self.is_worth_sharing(self.left) {
            self.earlier_runs.was_heavy(self.row);
            return if rayon_core::current_num_threads() > 1 { Step::Share } else { Step::Visit(usize::MAX) };
        }
        (self.clock, self.visited) = (Some(now), 0);
        Step::Visit(self.timed_rows())
    }

    /// Remembers how long it took, when the calling thread has visited all rows.
    fn ended(&self) {
        if let Some(began) = self.began {
            self.earlier_runs.took(self.rows, began.elapsed());
        }
    }

    /// Remembers what rows took that were shared at once, as if all threads had worked all the time.
    fn shared(&mut self, rows: usize) {
        if let Some(began) = self.began.filter(|_| self.at_once) {
            let took = began.elapsed();
            self.row = nanos(took) * rayon_core::current_num_threads() as f64 / rows.max(1) as f64;
            if self.is_worth_sharing(rows) {
                self.earlier_runs.was_heavy(self.row);
            } else {
                self.earlier_runs.took(rows, took);
            }
        }
    }

    fn is_worth_sharing(&self, rows: usize) -> bool {
        let inside = rayon_core::current_thread_index().is_some();
        self.row * rows as f64 >= nanos(if inside { WORTH_SHARING } else { WORTH_WAKING })
    }

    /// The rows that take as long as a job should; whole cache lines of each column where they are many.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is beyond all numbers of rows becomes the largest"
    )]
    fn timed_rows(&self) -> usize {
        match (nanos(JOB) / self.row) as usize {
            few @ ..LINE_ROWS => few.max(1),
            rows => rows / LINE_ROWS * LINE_ROWS,
        }
    }

    /// The rows of the next job, in a table of which so many rows come before it.
    fn job_rows(&self, before: usize) -> usize {
        let rows = match self.batches {
            Batches::Timed => self.timed_rows(),
            Batches::Fixed { rows, .. } => rows,
        };
        if rows < BLOCK_ROWS { rows } else { rows - (before + rows) % BLOCK_ROWS }
    }

    /// The rows of each part whose result is combined with others.
    fn part_rows(&self) -> usize {
        match self.batches {
            Batches::Timed => (self.rows / PARTS).clamp(1, BLOCK_ROWS),
            Batches::Fixed { rows, .. } => rows,
        }
    }

    /// How many jobs a thread takes together, of those that so many rows are cut into.
    fn jobs_together(&self, jobs: usize, rows: usize) -> usize {
        match self.batches {
            Batches::Fixed { .. } => 1,
            // Fewer rows may be left than it seemed, where some are skipped.
            Batches::Timed if !self.is_worth_sharing(rows) => jobs,
            Batches::Timed => (jobs.saturating_mul(self.timed_rows()) / rows.max(1)).max(1),
        }
    }
}

fn nanos(time: Duration) -> f64 {
    // Without the whole number of 128 bits, which takes a call.
    time.as_secs() as f64 * 1e9 + f64::from(time.subsec_nanos())
}
