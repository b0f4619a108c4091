//! What happened in a run: which system ran, in which frame, and what it saw.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    Condition(usize),
    System(usize),
    /// What is done to the world before a frame.
    World,
    /// The whole world after a frame.
    End,
}

#[derive(Debug, Default)]
pub struct Trace {
    frame: usize,
    /// By frame and system, so that the order of what has no order does not matter.
    pub seen: BTreeMap<(usize, Who), Vec<String>>,
    /// The systems in the order in which they ran, by frame.
    pub ran: BTreeMap<usize, Vec<usize>>,
    spawned: u32,
}

/// A trace that systems and conditions write to.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Trace>>);

impl Log {
    fn trace(&self) -> MutexGuard<'_, Trace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin_frame(&self, frame: usize) {
        let mut trace = self.trace();
        trace.frame = frame;
        trace.spawned = 0;
    }

    /// A system begins to run.
    pub fn begin(&self, system: usize) {
        let mut trace = self.trace();
        let frame = trace.frame;
        trace.spawned = 0;
        trace.ran.entry(frame).or_default().push(system);
        trace.seen.entry((frame, Who::System(system))).or_default().push("runs".to_owned());
    }

    pub fn say(&self, who: Who, text: String) {
        let mut trace = self.trace();
        let frame = trace.frame;
        trace.seen.entry((frame, who)).or_default().push(text);
    }

    /// A key that no other entity has: family, frame, who, and a number within the run.
    pub fn key(&self, who: Who, family: usize) -> u32 {
        let mut trace = self.trace();
        trace.spawned += 1;
        let who = match who {
            Who::System(index) => index + 1,
            _ => 0,
        };
        let parts = (family * 100 + trace.frame) * 100 + who;
        u32::try_from(parts).expect("small") * 100 + trace.spawned
    }

    pub fn take(&self) -> Trace {
        std::mem::take(&mut *self.trace())
    }
}

/// The family of a key.
pub fn family_of(key: u32) -> usize {
    key as usize / 1_000_000
}
