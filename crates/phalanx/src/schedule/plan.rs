//! The order, cut into stages that the executor runs one after the other.
//!
//! ```text
//!   order    a  b  c  X  d | e  f       X is exclusive, | a sync point
//!   stages  [a  b  c][X][d]|[e  f]      each but X's is one session
//!   waits    a -> c: declared, or both use a column of the same tables and one of them writes
//! ```
//!
//! Inside a stage a system waits for all earlier ones that are declared to come before it or conflict with it
//! (`waits`). So every two systems that conflict have one order, whatever runs them. Commands are applied between
//! stages, never inside one.

use std::ops::Range;
use std::time::Duration;

use super::graph::{Gate, Node};
use super::sort::Sorted;
use super::waits::{Source, Waits};
use crate::archetype::Cursor;
use crate::system::Mode;
use crate::world::World;

/// What was worked out for a schedule.
pub(crate) struct Plan {
    /// Nodes in order; numbers from `nodes.len()` on are gates.
    pub(crate) order: Vec<usize>,
    pub(crate) stages: Vec<Stage>,
    /// Positions in `order` of tasks that keep commands.
    pub(crate) deferring: Vec<usize>,
}

/// A run of tasks that share a session, or one that runs alone.
pub(crate) struct Stage {
    pub(crate) mode: Mode,
    pub(crate) range: Range<usize>,
    /// Whether commands are applied before it.
    pub(crate) synced: bool,
    pub(crate) waits: Waits,
    pub(crate) pace: Pace,
    /// Whether the last run used several threads.
    pub(crate) ran_on_threads: bool,
    seen: Option<(Cursor, usize, (u64, u64))>,
}

impl Plan {
    pub(crate) fn new(nodes: &mut [Node], gates: &mut [Gate], sorted: Sorted) -> Self {
        connect_gates(nodes, gates, &sorted.gated);
        let mut source = Source::new(nodes, gates, &sorted);
        let Sorted { order, levels, .. } = &sorted;
        let mut stages: Vec<Stage> = Vec::new();
        let mut start = 0;
        while start < order.len() {
            let (mode, level) = (source.task(order[start]).mode(), levels[start]);
            let together =
                |at: usize| at < order.len() && levels[at] == level && source.task(order[at]).mode() == mode;
            let mut end = start + 1;
            while mode != Mode::Exclusive && together(end) {
                end += 1;
            }
            stages.push(Stage {
                mode,
                range: start..end,
                synced: start > 0 && levels[start - 1] != level,
                waits: if end - start > 1 { source.waits(start..end) } else { Waits::default() },
                pace: Pace::default(),
                ran_on_threads: false,
                seen: None,
            });
            start = end;
        }
        let deferring = (0..order.len()).filter(|&at| source.task(order[at]).defers()).collect();
        Self { order: sorted.order, stages, deferring }
    }
}

/// Tells each task which gates it must find open; a gate begins with its own number.
fn connect_gates(nodes: &mut [Node], gates: &mut [Gate], gated: &[Vec<usize>]) {
    let mut of_nodes = vec![Vec::new(); nodes.len()];
    for (number, gate) in gates.iter_mut().enumerate() {
        gate.task.set_gates(vec![number]);
        gated[number].iter().for_each(|&node| of_nodes[node].push(number));
    }
    for (node, own) in nodes.iter_mut().zip(of_nodes) {
        node.task.set_gates(own);
    }
}

impl Stage {
    /// Whether archetypes, components or links of relations came or went since the stage last ran.
    #[inline]
    pub(crate) fn is_behind(&mut self, world: &World) -> bool {
        let now = (world.archetypes().cursor(), world.components().len(), world.version_of_all_links());
        let now = Some(now);
        let behind = self.seen != now;
        self.seen = now;
        behind
    }
}

/// How long a stage took on one thread and on several, and with it what to do next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    serial: Measured,
    parallel: Measured,
    runs: u32,
}

/// How often the slower way is tried again.
const RETRY: u32 = 64;

impl Pace {
    /// Whether several threads are worth it. Stages below `small` stay on the calling thread.
    pub(crate) fn wants_threads(&mut self, small: Duration) -> bool {
        self.runs = self.runs.wrapping_add(1);
        match (self.serial.mean, self.parallel.mean) {
            _ if small.is_zero() => true,
            (None, _) => false,
            (Some(serial), _) if serial < small => false,
            (_, None) => true,
            (Some(serial), Some(parallel)) => (parallel < serial) != self.runs.is_multiple_of(RETRY),
        }
    }

    pub(crate) fn note(&mut self, threads: bool, took: Duration) {
        if threads { self.parallel.note(took) } else { self.serial.note(took) }
    }
}

/// What a stage takes, as far as is known: a moving mean.
///
/// Of each two runs in a row the shorter one counts, so that neither the first run, which is cold, nor one that
/// was interrupted makes a small stage look large.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    last: Option<Duration>,
    mean: Option<Duration>,
}

impl Measured {
    fn note(&mut self, took: Duration) {
        if let Some(last) = self.last.replace(took) {
            let took = took.min(last);
            self.mean = Some(self.mean.map_or(took, |mean| (mean * 3 + took) / 4));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Duration = Duration::from_micros(20);

    fn pace(serial: u64, parallel: Option<u64>) -> Pace {
        let mut pace = Pace::default();
        for _ in 0..2 {
            pace.note(false, Duration::from_micros(serial));
            if let Some(parallel) = parallel {
                pace.note(true, Duration::from_micros(parallel));
            }
        }
        pace
    }
    fn threads(mut pace: Pace) -> usize {
        (0..RETRY).filter(|_| pace.wants_threads(SMALL)).count()
    }

    #[test]
    fn a_stage_is_measured_on_the_calling_thread_first() {
        assert!(!Pace::default().wants_threads(SMALL));
        assert!(Pace::default().wants_threads(Duration::ZERO));
    }

    #[test]
    fn a_stage_that_takes_less_than_the_limit_never_gets_threads() {
        assert_eq!(threads(pace(19, None)), 0);
        assert_eq!(threads(pace(19, Some(1))), 0);
    }

    #[test]
    fn a_cold_or_interrupted_run_does_not_make_a_small_stage_large() {
        let mut pace = Pace::default();
        for took in [900, 5, 5, 5, 900, 5, 5, 900, 5] {
            assert!(!pace.wants_threads(SMALL));
            pace.note(false, Duration::from_micros(took));
        }
        assert!(!pace.wants_threads(SMALL));
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_tried_again_now_and_then() {
        assert_eq!(threads(pace(100, None)), RETRY as usize);
        assert_eq!(threads(pace(100, Some(50))), RETRY as usize - 1);
        assert_eq!(threads(pace(100, Some(200))), 1);
    }
}
