//! A handle to a world for other threads and for async code.
//!
//! ```text
//!   Remote (any thread)  ── bounded queue of closures ──▶  World: run at sync points, in the order of arrival
//!   Answer               ◀── the closure's result ──       a future, or waited for
//! ```
//!
//! A [`Remote`] is a queue that the world empties whenever commands are applied ([`World::flush`]): between systems, at
//! the end of a phase, or when asked. Closures of one sender keep their order. The queue is bounded: a sender that is
//! faster than the world waits, or gets an error. When the world is dropped, what waits is dropped, every answer says so,
//! and nothing more is taken.
//!
//! While no handle exists, a flush looks at one pointer. This file knows no async runtime: an [`Answer`] is a plain
//! future that keeps the waker it was polled with.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::World;

/// How many closures may wait in a world's queue unless [`World::remote_with_capacity`] says otherwise.
const CAPACITY: usize = 1024;

type Job = Box<dyn FnOnce(&mut World) + Send>;

/// The queue between handles and a world.
struct Shared {
    state: Mutex<State>,
    /// How many closures wait: what a flush looks at before it takes the lock.
    waiting: AtomicUsize,
    /// Notified when there is room, or the world is gone.
    room: Condvar,
}

struct State {
    jobs: VecDeque<Job>,
    capacity: usize,
    closed: bool,
    /// Futures that wait for room.
    wakers: Vec<Waker>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, state: &mut State, job: Job) {
        state.jobs.push_back(job);
        self.waiting.store(state.jobs.len(), Ordering::Release);
    }

    /// Wakes all senders that wait for room.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.room.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A world's end of the queue; closes it when the world goes.
#[derive(Default)]
pub(crate) struct Inbox {
    shared: Option<Arc<Shared>>,
    /// Whether closures run at the moment: a flush among them runs no others.
    busy: bool,
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else { return };
        let mut state = shared.lock();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        shared.waiting.store(0, Ordering::Release);
        shared.wake(state);
        // The closures are the user's code: dropped when the queue is closed and nothing is locked. Each answer says so.
        let mut panics = phalanx_store::FirstPanic::default();
        jobs.into_iter().for_each(|job| panics.guard(|| drop(job)));
        panics.resume_unless_panicking();
    }
}

/// A handle to a world that can be sent to other threads and kept there.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// let mut world = World::new();
/// let remote = world.remote();
/// let worker = std::thread::spawn(move || {
///     let answer = remote.run(|world| world.spawn(Health(3)).id()).unwrap();
///     answer.wait()
/// });
/// while !worker.is_finished() {
///     world.flush();
/// }
/// let entity = worker.join().unwrap().unwrap();
/// assert_eq!(world.get::<Health>(entity).unwrap().0, 3);
/// ```
#[derive(Clone)]
pub struct Remote(Arc<Shared>);

impl Remote {
    /// Queues a closure, to be run on the world at its next sync point; waits while the queue is full.
    ///
    /// Not for async code, nor for the thread that runs the world, which would wait for itself: see
    /// [`Remote::try_run`] and [`Remote::run_async`].
    ///
    /// # Errors
    /// When the world is gone.
    pub fn run<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> Result<Answer<T>, RemoteClosed> {
        let (job, answer) = job(f);
        let mut state = self.0.lock();
        while !state.closed && state.jobs.len() >= state.capacity {
            state = self.0.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(RemoteClosed);
        }
        self.0.push(&mut state, job);
        Ok(answer)
    }

    /// As [`Remote::run`], without waiting.
    ///
    /// # Errors
    /// When the queue is full, or the world is gone; the closure is dropped.
    pub fn try_run<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> Result<Answer<T>, TryRunError> {
        let (job, answer) = job(f);
        let mut state = self.0.lock();
        if state.closed {
            return Err(TryRunError::Closed);
        }
        if state.jobs.len() >= state.capacity {
            return Err(TryRunError::Full);
        }
        self.0.push(&mut state, job);
        Ok(answer)
    }

    /// As [`Remote::run`], as a future: waits for room without holding a thread, then for the answer.
    ///
    /// # Errors
    /// When the world is gone before the closure has run.
    pub async fn run_async<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut World) -> T + Send + 'static,
    ) -> Result<T, RemoteClosed> {
        let (job, answer) = job(f);
        Enqueue { shared: &self.0, job: Some(job) }.await?;
        answer.await
    }

    /// Whether the world is gone.
    pub fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    /// How many closures wait for the world.
    pub fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}

/// Waits for room in the queue.
struct Enqueue<'r> {
    shared: &'r Shared,
    job: Option<Job>,
}

impl Future for Enqueue<'_> {
    type Output = Result<(), RemoteClosed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = self.shared;
        let mut state = shared.lock();
        if state.closed {
            return Poll::Ready(Err(RemoteClosed));
        }
        if state.jobs.len() >= state.capacity {
            state.wakers.push(context.waker().clone());
            return Poll::Pending;
        }
        if let Some(job) = self.job.take() {
            shared.push(&mut state, job);
        }
        Poll::Ready(Ok(()))
    }
}

/// The world is gone, or will not run the closure: it was dropped, or the closure panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteClosed;

impl fmt::Display for RemoteClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the world is gone, or the closure panicked: no answer will come; drop the handle")
    }
}

impl std::error::Error for RemoteClosed {}

/// Why a closure was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryRunError {
    /// As many closures wait as the queue holds.
    Full,
    /// The world is gone.
    Closed,
}

impl fmt::Display for TryRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str(
                "the world's queue is full: try again after its next flush, wait with `run`, or make room with \
                 `remote_with_capacity`",
            ),
            Self::Closed => RemoteClosed.fmt(f),
        }
    }
}

impl std::error::Error for TryRunError {}

/// Where the result of a closure goes.
struct Slot<T> {
    outcome: Mutex<Outcome<T>>,
    ready: Condvar,
}

enum Outcome<T> {
    Waiting(Option<Waker>),
    Ready(T),
    /// The closure is gone without a result, or the result was taken.
    Gone,
}

/// The closure's end of a slot: says so if it goes without a result.
struct Reply<T>(Arc<Slot<T>>);

impl<T> Reply<T> {
    fn set(&self, outcome: Outcome<T>) {
        let mut place = self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let Outcome::Waiting(waker) = &mut *place else { return };
        let waker = waker.take();
        *place = outcome;
        drop(place);
        self.0.ready.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        self.set(Outcome::Gone);
    }
}

fn job<T: Send + 'static>(f: impl FnOnce(&mut World) -> T + Send + 'static) -> (Job, Answer<T>) {
    let slot = Arc::new(Slot { outcome: Mutex::new(Outcome::Waiting(None)), ready: Condvar::new() });
    let reply = Reply(Arc::clone(&slot));
    let job = Box::new(move |world: &mut World| {
        let result = f(world);
        reply.set(Outcome::Ready(result));
    });
    (job, Answer(slot))
}

/// What a closure returns, once the world has run it: a future, or to be waited for. Dropping it changes nothing: the
/// closure runs.
pub struct Answer<T>(Arc<Slot<T>>);

impl<T> Answer<T> {
    /// Waits for the result. Not on the thread that runs the world.
    ///
    /// # Errors
    /// When the world is gone, or the closure panicked.
    pub fn wait(self) -> Result<T, RemoteClosed> {
        let mut outcome = self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match std::mem::replace(&mut *outcome, Outcome::Gone) {
                Outcome::Ready(result) => return Ok(result),
                Outcome::Gone => return Err(RemoteClosed),
                waiting => *outcome = waiting,
            }
            outcome = self.0.ready.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The result, if it is there; `None` while the closure waits.
    ///
    /// # Errors
    /// When the world is gone, the closure panicked, or the result was taken before.
    pub fn try_take(&mut self) -> Result<Option<T>, RemoteClosed> {
        let mut outcome = self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *outcome, Outcome::Gone) {
            Outcome::Ready(result) => Ok(Some(result)),
            Outcome::Gone => Err(RemoteClosed),
            waiting => {
                *outcome = waiting;
                Ok(None)
            }
        }
    }
}

impl<T> Future for Answer<T> {
    type Output = Result<T, RemoteClosed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut outcome = self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *outcome, Outcome::Gone) {
            Outcome::Ready(result) => Poll::Ready(Ok(result)),
            Outcome::Gone => Poll::Ready(Err(RemoteClosed)),
            Outcome::Waiting(_) => {
                *outcome = Outcome::Waiting(Some(context.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

impl World {
    /// A handle through which other threads and async code run closures on this world, at its sync points. At most
    /// 1,024 closures wait at a time; see [`World::remote_with_capacity`].
    pub fn remote(&mut self) -> Remote {
        let shared = self.inbox.shared.get_or_insert_with(|| {
            let state =
                State { jobs: VecDeque::new(), capacity: CAPACITY, closed: false, wakers: Vec::new() };
            Arc::new(Shared { state: Mutex::new(state), waiting: AtomicUsize::new(0), room: Condvar::new() })
        });
        Remote(Arc::clone(shared))
    }

    /// As [`World::remote`]; from now on as many closures may wait, of all handles together.
    ///
    /// # Panics
    /// When `capacity` is zero.
    #[track_caller]
    pub fn remote_with_capacity(&mut self, capacity: usize) -> Remote {
        assert!(capacity > 0, "a queue without room takes nothing: its capacity is at least 1");
        let remote = self.remote();
        let mut state = remote.0.lock();
        state.capacity = capacity;
        remote.0.wake(state);
        remote
    }

    /// Runs the closures that wait, and applies what they record; but none that come meanwhile, so that the world is not
    /// kept from its own work.
    ///
    /// # Panics
    /// When a closure does: it is gone, and those behind it wait for the next sync point.
    #[inline]
    pub(crate) fn run_remote(&mut self) {
        if let Some(shared) = &self.inbox.shared
            && !self.inbox.busy
            && shared.waiting.load(Ordering::Acquire) > 0
        {
            let shared = Arc::clone(shared);
            self.run_jobs(&shared);
        }
    }

    #[cold]
    fn run_jobs(&mut self, shared: &Shared) {
        self.inbox.busy = true;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let waiting = shared.lock().jobs.len();
            for _ in 0..waiting {
                let mut state = shared.lock();
                let Some(job) = state.jobs.pop_front() else { break };
                shared.waiting.store(state.jobs.len(), Ordering::Release);
                shared.wake(state);
                job(self);
            }
            self.flush();
        }));
        self.inbox.busy = false;
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    }
}
