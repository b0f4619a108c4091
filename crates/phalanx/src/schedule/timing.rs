//! How long systems took.
//!
//! Times are taken only when asked for (`AppConfig::timings`): reading the clock costs more than an empty
//! system.

use std::time::Duration;

use super::Schedule;

/// The time that one system took.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timing {
    /// The system.
    pub system: String,
    /// How often it was run, or its conditions asked.
    pub runs: u64,
    /// The last run.
    pub last: Duration,
    /// All runs together.
    pub total: Duration,
}

impl Schedule {
    /// The time each system took so far, in the order they were added.
    pub fn timings(&self) -> Vec<Timing> {
        let timing = |node: &super::graph::Node| {
            let spent = node.task.spent;
            Timing { system: node.task.name.clone(), runs: spent.runs, last: spent.last, total: spent.total }
        };
        self.nodes.iter().map(timing).collect()
    }

    /// Whether times are taken from now on.
    pub fn set_timed(&mut self, timed: bool) {
        self.executor.timed = timed;
    }
}
