//! How long systems took.
//!
//! Times are taken only when asked for (`AppConfig::timings`): reading the clock costs more than an empty
//! system.

use std::thread::ThreadId;
use std::time::{Duration, Instant};

use super::{Schedule, SkipReason, Skips};

/// The time that one system took, and how often it did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timing {
    /// The system.
    pub system: String,
    /// How often it was run, or its conditions evaluated.
    pub runs: u64,
    /// The last run.
    pub last: Duration,
    /// All runs together.
    pub total: Duration,
    /// When the last run began, and on which thread.
    pub started: Option<(Instant, ThreadId)>,
    /// Whether the system did not run the last time.
    pub skipped: bool,
    /// Why it did not run the last time, if it did not.
    pub reason: Option<SkipReason>,
    /// How often it was skipped, and why; counted whether times are taken or not.
    pub skips: Skips,
}

impl Schedule {
    /// The time each system took so far, in the order they were added.
    pub fn timings(&self) -> Vec<Timing> {
        let timing = |node: &super::graph::Node| {
            let super::task::Spent { runs, last, total, started } = node.task.spent;
            let (system, skips) = (node.task.name.clone(), node.task.skips);
            let reason = self.skip_reason(&node.task);
            Timing { system, runs, last, total, started, skipped: reason.is_some(), reason, skips }
        };
        self.nodes.iter().map(timing).collect()
    }

    /// Whether times are taken from now on.
    pub fn set_timed(&mut self, timed: bool) {
        self.executor.timed = timed;
    }
}
