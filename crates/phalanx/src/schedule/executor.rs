//! Running a plan: stage after stage, on the calling thread or on several.
//!
//! Every system of a stage writes with a tick of its own, given by its position: what a system wrote is newer
//! than the last run of those before it, and no tick depends on threads. Commands are applied at sync points and at
//! the end, in the order of the plan; then errors that systems returned go to the handler.
//!
//! One `catch_unwind` guards a whole stage on the calling thread, so a system that does nothing costs one call.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use phalanx_store::FirstPanic;

use super::error::{named_panic, tell_panic};
use super::graph::{Gate, Node};
use super::plan::{Plan, Stage};
use super::task::Task;
use super::tick_at;
use crate::system::Mode;
use crate::world::{SharedWorld, SystemError, World};

/// On which threads systems run.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.configure(AppConfig { threads: Threads::N(4), ..Default::default() });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Threads {
    /// On the calling thread, one after the other.
    Serial,
    /// On as many threads as the machine offers; small phases on the calling thread.
    #[default]
    Auto,
    /// On this many threads of their own; small phases on the calling thread.
    N(usize),
}

/// How systems are run.
#[derive(Clone)]
pub(crate) struct Executor {
    #[cfg(feature = "parallel")]
    pub(crate) pool: Option<super::parallel::Pool>,
    /// Stages that take less than this stay on the calling thread.
    pub(crate) small: Duration,
    pub(crate) timed: bool,
    /// The function called after each system.
    pub(crate) watch: Option<Watch>,
    /// Whether a run leaves what its last systems queued to [`Schedule::apply_deferred`](super::Schedule).
    pub(crate) leaves_last: bool,
}

impl Default for Executor {
    fn default() -> Self {
        Self::new(Threads::Serial)
    }
}

/// Waking threads and meeting again costs about this much.
pub(crate) const SMALL: Duration = Duration::from_micros(20);

impl Executor {
    pub(crate) fn new(threads: Threads) -> Self {
        #[cfg(not(feature = "parallel"))]
        let _ = threads;
        Self {
            #[cfg(feature = "parallel")]
            pool: super::parallel::Pool::new(threads),
            small: SMALL,
            timed: false,
            watch: None,
            leaves_last: false,
        }
    }

    #[cfg(feature = "parallel")]
    fn has_threads(&self) -> bool {
        self.pool.is_some()
    }

    #[cfg(not(feature = "parallel"))]
    fn has_threads(&self) -> bool {
        false
    }
}

/// Gets the name of each system after it ran, with the world.
pub(crate) type Watch = std::sync::Arc<std::sync::Mutex<dyn FnMut(&str, &World) + Send>>;

/// The first panic in the order of the plan: where, and what.
pub(crate) type Panicked = (usize, Box<dyn Any + Send>);

/// The tasks of one run.
pub(crate) struct Tasks<'a> {
    nodes: &'a mut [Node],
    gates: &'a mut [Gate],
    order: &'a [usize],
}

impl Tasks<'_> {
    #[inline]
    pub(crate) fn at(&mut self, position: usize) -> &mut Task {
        let node = self.order[position];
        match node.checked_sub(self.nodes.len()) {
            None => &mut self.nodes[node].task,
            Some(gate) => &mut self.gates[gate].task,
        }
    }

    /// All tasks of a range of positions at once.
    #[cfg(feature = "parallel")]
    pub(crate) fn range(&mut self, range: std::ops::Range<usize>) -> Vec<&mut Task> {
        let tasks = self.nodes.iter_mut().map(|node| &mut node.task);
        let tasks = tasks.chain(self.gates.iter_mut().map(|gate| &mut gate.task));
        let mut all: Vec<Option<&mut Task>> = tasks.map(Some).collect();
        let taken = self.order[range].iter().map(|&node| all[node].take());
        taken.map(|task| task.expect("the order names each node once")).collect()
    }
}

/// The handler of errors, if not the world's own.
pub(crate) type Handler<'h> = &'h mut dyn FnMut(&mut World, SystemError);

/// Runs every system once, applies commands at sync points and, unless they are to be left, at the end, hands errors to the handler, or to that of
/// the world.
#[track_caller]
pub(crate) fn run(
    plan: &mut Plan,
    nodes: &mut [Node],
    gates: &mut [Gate],
    executor: &Executor,
    world: &mut World,
    mut handler: Option<Handler<'_>>,
) {
    let open: Vec<AtomicBool> = gates.iter().map(|_| AtomicBool::new(false)).collect();
    let mut tasks = Tasks { nodes, gates, order: &plan.order };
    let failed = AtomicBool::new(false);
    let now = Now { gates: &open, failed: &failed, executor };
    let mut unapplied = plan.deferring.as_slice();
    for stage in &mut plan.stages {
        let start = stage.range.start;
        if stage.synced {
            apply(&mut tasks, &mut unapplied, start, world);
            world.flush();
            hand_over(&mut tasks, &failed, start, world, &mut handler);
        }
        if let Some((at, payload)) = run_stage(stage, &mut tasks, &now, world) {
            // On threads, tasks that finished say so themselves.
            let finished = if stage.ran_on_threads { start } else { at };
            apply(&mut tasks, &mut unapplied, finished, world);
            for &at in unapplied {
                let task = tasks.at(at);
                if std::mem::take(&mut task.finished) { task.apply(world) } else { task.discard() }
            }
            // The first panic is the one to be passed on; what a command then does is not lost, but waits.
            FirstPanic::ignore(|| world.flush());
            let name = tasks.at(at).name.clone();
            (0..plan.order.len()).for_each(|at| tasks.at(at).error = None);
            tell_panic(&name);
            resume_unwind(named_panic(&name, payload));
        }
        if stage.mode == Mode::Exclusive && std::mem::take(&mut tasks.at(start).applies) {
            apply(&mut tasks, &mut unapplied, start, world);
            world.flush();
        }
    }
    if executor.leaves_last {
        unapplied.iter().for_each(|&at| tasks.at(at).finished = false);
    } else {
        apply(&mut tasks, &mut unapplied, plan.order.len(), world);
        world.flush();
    }
    hand_over(&mut tasks, &failed, plan.order.len(), world, &mut handler);
}

/// Hands the commands of tasks before a position to the world.
fn apply(tasks: &mut Tasks<'_>, unapplied: &mut &[usize], before: usize, world: &mut World) {
    let (ready, later) = unapplied.split_at(unapplied.partition_point(|&at| at < before));
    *unapplied = later;
    for &at in ready {
        let task = tasks.at(at);
        // Taken back, so that the next run, or that of another plan, does not take it for its own.
        task.finished = false;
        task.apply(world);
    }
}

#[track_caller]
fn hand_over(
    tasks: &mut Tasks<'_>,
    failed: &AtomicBool,
    count: usize,
    world: &mut World,
    handler: &mut Option<Handler<'_>>,
) {
    if !failed.swap(false, Ordering::Relaxed) {
        return;
    }
    // All are taken first: after a handler that panics none is left for the next run.
    let errors: Vec<Box<SystemError>> = (0..count).filter_map(|at| tasks.at(at).error.take()).collect();
    match handler {
        Some(handler) => errors.into_iter().for_each(|error| handler(world, *error)),
        // No closure: a panic is to point at the caller of `run`.
        None => {
            for error in errors {
                world.fail(*error);
            }
        }
    }
}

/// One run of a plan.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    gates: &'a [AtomicBool],
    /// Set when a system returned an error.
    failed: &'a AtomicBool,
    executor: &'a Executor,
}

fn run_stage(stage: &mut Stage, tasks: &mut Tasks<'_>, now: &Now<'_>, world: &mut World) -> Option<Panicked> {
    let executor = now.executor;
    stage.ran_on_threads = false;
    if stage.mode == Mode::Exclusive {
        let outcome = run_exclusive(stage, tasks, now, world);
        tell(executor, tasks, stage.range.start, world);
        return outcome;
    }
    if stage.is_behind(world) {
        for at in stage.range.clone() {
            tasks.at(at).update(world);
        }
    }
    let base = world.read_change_tick();
    if executor.watch.is_some() {
        return run_watched(stage, tasks, now, world);
    }
    let wide = stage.waits.wide && executor.has_threads();
    let threads = wide && stage.pace.wants_threads(executor.small);
    let start = wide.then(Instant::now);
    let outcome = {
        let session = match stage.mode {
            Mode::Reading => world.share_read(),
            _ => world.share(),
        };
        let work = Work { world: &session, base, now: *now };
        stage.ran_on_threads = threads;
        if threads { run_threads(stage, tasks, executor, &work) } else { run_serial(stage, tasks, &work) }
    };
    if let Some(start) = start {
        stage.pace.note(threads, start.elapsed());
    }
    world.store.set_tick(tick_at(base, stage.range.len()));
    outcome
}

fn tell(executor: &Executor, tasks: &mut Tasks<'_>, at: usize, world: &World) {
    if let Some(watch) = &executor.watch {
        let mut watch = watch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        watch(&tasks.at(at).name, world);
    }
}

/// Runs the systems of a stage one by one, each in a session of its own, and calls the watcher.
fn run_watched(stage: &Stage, tasks: &mut Tasks<'_>, now: &Now<'_>, world: &mut World) -> Option<Panicked> {
    let (start, base) = (stage.range.start, world.read_change_tick());
    for at in stage.range.clone() {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let session = world.share();
            let work = Work { world: &session, base, now: *now };
            work.run(tasks.at(at), at - start);
        }));
        if let Err(payload) = outcome {
            return Some((at, payload));
        }
        tell(now.executor, tasks, at, world);
    }
    world.store.set_tick(tick_at(base, stage.range.len()));
    None
}

/// What tasks of a stage need to run.
pub(crate) struct Work<'a> {
    pub(crate) world: &'a SharedWorld<'a>,
    base: phalanx_store::Tick,
    pub(crate) now: Now<'a>,
}

impl Work<'_> {
    /// Runs the task at a position of the stage.
    #[inline]
    pub(crate) fn run(&self, task: &mut Task, position: usize) {
        #[cfg(feature = "trace")]
        let _span = tracing::info_span!("system", name = %task.name).entered();
        let tick = tick_at(self.base, position);
        let fine = if self.now.executor.timed {
            task.timed(|task| task.run(self.world, tick, self.now.gates))
        } else {
            task.run(self.world, tick, self.now.gates)
        };
        if !fine {
            self.now.failed.store(true, Ordering::Relaxed);
        }
    }

    /// As [`Work::run`], on a thread of its own: notes that the task finished.
    #[cfg(feature = "parallel")]
    pub(crate) fn run_and_note(&self, task: &mut Task, position: usize) {
        self.run(task, position);
        task.finished = true;
    }
}

fn run_serial(stage: &Stage, tasks: &mut Tasks<'_>, work: &Work<'_>) -> Option<Panicked> {
    let start = stage.range.start;
    let mut at = start;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let traced = cfg!(feature = "trace") || work.now.executor.timed;
        while at < stage.range.end {
            let task = tasks.at(at);
            if traced {
                work.run(task, at - start);
            } else if !task.run(work.world, tick_at(work.base, at - start), work.now.gates) {
                work.now.failed.store(true, Ordering::Relaxed);
            }
            at += 1;
        }
    }));
    outcome.err().map(|payload| (at, payload))
}

#[cfg(feature = "parallel")]
fn run_threads(
    stage: &Stage,
    tasks: &mut Tasks<'_>,
    executor: &Executor,
    work: &Work<'_>,
) -> Option<Panicked> {
    match &executor.pool {
        Some(pool) => super::parallel::run(pool, stage, tasks.range(stage.range.clone()), work),
        None => run_serial(stage, tasks, work),
    }
}

#[cfg(not(feature = "parallel"))]
fn run_threads(stage: &Stage, tasks: &mut Tasks<'_>, _: &Executor, work: &Work<'_>) -> Option<Panicked> {
    run_serial(stage, tasks, work)
}

fn run_exclusive(stage: &Stage, tasks: &mut Tasks<'_>, now: &Now<'_>, world: &mut World) -> Option<Panicked> {
    let at = stage.range.start;
    let task = tasks.at(at);
    #[cfg(feature = "trace")]
    let _span = tracing::info_span!("system", name = %task.name).entered();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if now.executor.timed {
            task.timed(|task| task.run_alone(world, now.gates))
        } else {
            task.run_alone(world, now.gates)
        }
    }));
    match outcome {
        Ok(fine) => {
            if !fine {
                now.failed.store(true, Ordering::Relaxed);
            }
            None
        }
        Err(payload) => Some((at, payload)),
    }
}
