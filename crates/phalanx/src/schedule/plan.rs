//! The order, cut into stages that the executor runs one after the other.
//!
//! ```text
//!   order    a  b  c  X  d  e          X is exclusive
//!   stages  [a  b  c][X][d  e]         each but X's is one session
//!   waits    a -> c: declared, or both use a column and one of them writes
//! ```
//!
//! Inside a stage a system waits for all earlier ones that are declared to come before it or conflict with it. So
//! every two systems that conflict have one order, whatever runs them.

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use super::graph::{Gate, Node, Sorted};
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
#[cfg_attr(not(feature = "parallel"), allow(dead_code, reason = "only threads wait for each other"))]
pub(crate) struct Stage {
    pub(crate) mode: Mode,
    pub(crate) range: Range<usize>,
    /// For each task, how many others of the stage it waits for.
    pub(crate) waits: Vec<u32>,
    /// For each task, the later ones that wait for it.
    pub(crate) waiting: Vec<Vec<u32>>,
    /// Whether two tasks could run at the same time.
    pub(crate) wide: bool,
    /// Counters for one run.
    pub(crate) left: Vec<AtomicU32>,
    pub(crate) pace: Pace,
    /// Whether the last run used several threads.
    pub(crate) ran_on_threads: bool,
    seen: Option<(Cursor, usize)>,
}

impl Plan {
    pub(crate) fn new(nodes: &mut [Node], gates: &mut [Gate], sorted: Sorted) -> Self {
        let Sorted { order, edges, gated, .. } = sorted;
        connect_gates(nodes, gates, &gated);
        let count = nodes.len();
        let task = |node: usize| if node < count { &nodes[node].task } else { &gates[node - count].task };
        let mut stages: Vec<Stage> = Vec::new();
        let mut start = 0;
        while start < order.len() {
            let mode = task(order[start]).mode();
            let mut end = start + 1;
            while mode != Mode::Exclusive && end < order.len() && task(order[end]).mode() == mode {
                end += 1;
            }
            let len = end - start;
            let mut waits = vec![0; len];
            let mut waiting = vec![Vec::new(); len];
            for later in 1..len {
                let (b, late) = (order[start + later], task(order[start + later]));
                for earlier in 0..later {
                    let a = order[start + earlier];
                    if edges[a].contains(&b) || task(a).access.conflicts_with(&late.access) {
                        waits[later] += 1;
                        waiting[earlier].push(u32::try_from(later).expect("fewer than 2^32 systems"));
                    }
                }
            }
            // In a chain each task waits for the one right before it.
            let wide = (1..len).any(|at| !waiting[at - 1].contains(&u32::try_from(at).unwrap_or(0)));
            let left = waits.iter().map(|_| AtomicU32::new(0)).collect();
            let range = start..end;
            stages.push(Stage {
                mode,
                range,
                waits,
                waiting,
                wide,
                left,
                pace: Pace::default(),
                ran_on_threads: false,
                seen: None,
            });
            start = end;
        }
        let deferring = (0..order.len()).filter(|&at| task(order[at]).defers()).collect();
        Self { order, stages, deferring }
    }
}

/// Tells each task which gates it must find open; a gate begins with its own number.
fn connect_gates(nodes: &mut [Node], gates: &mut [Gate], gated: &[Vec<usize>]) {
    for (number, gate) in gates.iter_mut().enumerate() {
        gate.task.set_gates(vec![number]);
    }
    for (at, node) in nodes.iter_mut().enumerate() {
        let own = (0..gated.len()).filter(|&gate| gated[gate].contains(&at));
        node.task.set_gates(own.collect());
    }
}

impl Stage {
    /// Whether archetypes or components came or went since the stage last ran.
    #[inline]
    pub(crate) fn is_behind(&mut self, world: &World) -> bool {
        let now = Some((world.archetypes().cursor(), world.components().len()));
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
