//! What the threads of the server and the app share: requests on their way, the latest state, and how many look.
//!
//! ```text
//!   connection threads --calls (at most MAX_CALLS)--> the tool, between frames --replies--> connection threads
//!                                                     the tool --latest--> event streams
//! ```
//!
//! The app never waits for a thread of the server: a queue that is full refuses, and streams see the latest state, not
//! all of them, so a browser that does not read holds one text and nothing more.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::json::Json;

/// No more requests wait for an answer.
const MAX_CALLS: usize = 256;

/// A request that waits for its answer.
pub struct Call {
    pub request: Json,
    /// Whether its answer can wait until answers have cost the app no more than their share.
    pub patient: bool,
    pub since: Instant,
    /// Becomes text on the thread that sends it, so that frames do not pay for that.
    pub reply: SyncSender<Json>,
}

/// The calls that wait, in the order in which they came.
#[derive(Default)]
struct Calls {
    urgent: VecDeque<Call>,
    patient: VecDeque<Call>,
}

impl Calls {
    fn len(&self) -> usize {
        self.urgent.len() + self.patient.len()
    }
}

/// See the module.
pub struct Shared {
    token: String,
    /// Calls that wait and streams that are open: while it is zero, no client looks.
    wanted: AtomicUsize,
    streams: AtomicUsize,
    calls: Mutex<Calls>,
    arrived: Condvar,
    latest: Mutex<(u64, Arc<str>)>,
    published: Condvar,
    closing: AtomicBool,
}

impl Shared {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            token: random_token(),
            wanted: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            calls: Mutex::default(),
            arrived: Condvar::new(),
            latest: Mutex::new((0, Arc::from("{}"))),
            published: Condvar::new(),
            closing: AtomicBool::new(false),
        })
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether a client looks.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    pub fn has_streams(&self) -> bool {
        self.streams.load(Ordering::Relaxed) > 0
    }

    /// Leaves a call; false when too many wait.
    pub fn leave(&self, call: Call) -> bool {
        let mut calls = lock(&self.calls);
        if calls.len() >= MAX_CALLS {
            return false;
        }
        if call.patient { &mut calls.patient } else { &mut calls.urgent }.push_back(call);
        self.wanted.fetch_add(1, Ordering::Relaxed);
        self.arrived.notify_one();
        true
    }

    /// Takes the call that waits longest, of those that cannot wait.
    pub fn take(&self) -> Option<Call> {
        self.taken(|calls| calls.urgent.pop_front())
    }

    /// Takes the call that waits longest, of those that can.
    pub fn take_patient(&self) -> Option<Call> {
        self.taken(|calls| calls.patient.pop_front())
    }

    fn taken(&self, take: impl FnOnce(&mut Calls) -> Option<Call>) -> Option<Call> {
        let call = take(&mut lock(&self.calls))?;
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        Some(call)
    }

    /// Since when the next of the calls waits that can.
    pub fn waits_since(&self) -> Option<Instant> {
        lock(&self.calls).patient.front().map(|call| call.since)
    }

    /// Waits until a call is there, or for this long.
    pub fn wait_for_call(&self, most: Duration) {
        let calls = lock(&self.calls);
        if calls.len() == 0 {
            drop(self.arrived.wait_timeout(calls, most));
        }
    }

    /// Shows a new state to the streams.
    pub fn publish(&self, state: String) {
        let mut latest = lock(&self.latest);
        *latest = (latest.0 + 1, Arc::from(state));
        self.published.notify_all();
    }

    /// The latest state and its number, when it is another one than `seen`, or after a second.
    pub fn next_state(&self, seen: u64) -> (u64, Arc<str>) {
        let mut latest = lock(&self.latest);
        if latest.0 == seen && !self.is_closing() {
            let waited = self.published.wait_timeout(latest, Duration::from_secs(1));
            latest = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        (latest.0, Arc::clone(&latest.1))
    }

    /// Counts a stream while it lives.
    pub fn stream(self: &Arc<Self>) -> Stream {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        self.streams.fetch_add(1, Ordering::Relaxed);
        Stream(Arc::clone(self))
    }

    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.published.notify_all();
        // A thread that waits for a reply learns that none comes.
        *lock(&self.calls) = Calls::default();
    }

    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }
}

/// An event stream that is open.
pub struct Stream(Arc<Shared>);

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.wanted.fetch_sub(1, Ordering::Relaxed);
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is behind the lock is whole at any time, so a panic elsewhere does not matter.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 128 bits that cannot be guessed, as text: from the system, or else from the seed that the standard library has of it.
pub fn random_token() -> String {
    let mut bytes = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if read.is_err() {
        let half = |n: u8| RandomState::new().hash_one((n, std::time::SystemTime::now())).to_le_bytes();
        bytes[..8].copy_from_slice(&half(0));
        bytes[8..].copy_from_slice(&half(1));
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
