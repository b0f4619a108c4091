//! A stage on several threads, through rayon.
//!
//! Each task counts the earlier ones it waits for; a task that finishes counts its followers down and starts those that
//! are free, the first of them on its own thread. A joint runs nothing: when its count is down, its followers' are. A
//! task is locked only by the one that runs it, and holds no lock that another task could want, so a thread that takes
//! a second task while the first one waits for inner parallel work cannot block itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::executor::{Panicked, Threads, Work};
use super::plan::Stage;
use super::task::Task;

/// Where threads come from.
#[derive(Clone)]
pub(crate) enum Pool {
    /// Rayon's own pool, shared with everyone in the process.
    Global,
    /// A pool of the schedule's own.
    Own(Arc<rayon_core::ThreadPool>),
}

impl Pool {
    /// The threads, or none when one is enough.
    pub(crate) fn new(threads: Threads) -> Option<Self> {
        match threads {
            Threads::Serial | Threads::N(0 | 1) => None,
            Threads::Auto => (rayon_core::current_num_threads() > 1).then_some(Self::Global),
            Threads::N(count) => {
                let pool = rayon_core::ThreadPoolBuilder::new().num_threads(count).build();
                Some(Self::Own(Arc::new(
                    pool.unwrap_or_else(|error| panic!("cannot start {count} threads: {error}")),
                )))
            }
        }
    }
}

/// One run of a stage.
struct Board<'a> {
    stage: &'a Stage,
    tasks: Vec<Mutex<&'a mut Task>>,
    work: &'a Work<'a>,
    stop: AtomicBool,
    panicked: Mutex<Option<Panicked>>,
}

/// Runs all tasks of a stage; the first panic in order comes back when all have ended.
pub(crate) fn run(pool: &Pool, stage: &Stage, tasks: Vec<&mut Task>, work: &Work<'_>) -> Option<Panicked> {
    for (left, waits) in stage.waits.left.iter().zip(&stage.waits.counts) {
        left.store(*waits, Ordering::Relaxed);
    }
    let board = Board {
        stage,
        tasks: tasks.into_iter().map(Mutex::new).collect(),
        work,
        stop: AtomicBool::new(false),
        panicked: Mutex::new(None),
    };
    let all = || rayon_core::scope(|scope| board.start(scope));
    match pool {
        Pool::Global => all(),
        Pool::Own(pool) => pool.install(all),
    }
    board.panicked.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Board<'a> {
    fn start<'s>(&'s self, scope: &rayon_core::Scope<'s>) {
        let mut free = (0..self.tasks.len()).filter(|&at| self.stage.waits.counts[at] == 0);
        let first = free.next();
        free.for_each(|at| scope.spawn(move |scope| self.go(scope, at)));
        if let Some(first) = first {
            self.go(scope, first);
        }
    }

    /// Runs a task, and those that it set free.
    fn go<'s>(&'s self, scope: &rayon_core::Scope<'s>, first: usize) {
        let mut next = Some(first);
        while let Some(at) = next.take() {
            self.run(at);
            self.release(scope, at, &mut next);
        }
    }

    /// Starts what waited for a task or joint and for nothing else; the first is left to the caller.
    fn release<'s>(&'s self, scope: &rayon_core::Scope<'s>, at: usize, next: &mut Option<usize>) {
        for &later in &self.stage.waits.waiting[at] {
            let later = later as usize;
            // What was written before is seen by the thread that counts to zero.
            if self.stage.waits.left[later].fetch_sub(1, Ordering::AcqRel) == 1 {
                match next {
                    _ if later >= self.tasks.len() => self.release(scope, later, next),
                    None => *next = Some(later),
                    Some(_) => scope.spawn(move |scope| self.go(scope, later)),
                }
            }
        }
    }

    fn run(&self, at: usize) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let mut task = self.tasks[at].lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work.run_and_note(&mut task, at)));
        if let Err(payload) = outcome {
            self.stop.store(true, Ordering::Relaxed);
            let position = self.stage.range.start + at;
            let mut first = self.panicked.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(known, _)| position < *known) {
                *first = Some((position, payload));
            }
        }
    }
}
