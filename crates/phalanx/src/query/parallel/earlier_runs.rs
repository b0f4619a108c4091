//! What a query remembers of its parallel loops: how many in a row were too short to be shared, or how heavy rows were.
//!
//! Rows that were shared are shared from the beginning in the next run: threads that still look for work from the run before
//! find it at once, and those that sleep are woken sooner. If they were light after all, the run after that is timed.
//!
//! Looking at the clock is a hundredth of a loop of some microseconds. So a loop that was that short many times in a row is
//! timed in one run of eight; in the others the calling thread visits all rows. Rows that become heavy are shared seven
//! runs later at the latest, and are timed in each run from then on. So loops of which some runs are heavy, even few, do
//! not stop being timed.
//!
//! Only how rows are shared depends on this, never what comes out. Each query state has its own, so that no system writes
//! what another one reads. Views of one world may have one together, and write over each other: then a run is timed that
//! need not be, or the other way round.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The runs in a row that must have been light before any is not timed.
const EARNED: u32 = 64;
/// The runs that are not timed, after each one that is.
const UNTIMED: u32 = 7;
/// The longest that a light run takes, all rows together: much less than what makes sharing worth its while.
const LIGHT: Duration = Duration::from_micros(20);

/// How many runs in a row were light, or how heavy the rows of the last one were.
#[derive(Default)]
pub(crate) struct EarlierRuns {
    /// How many, up to `EARNED`; beyond that, the runs since that were not timed.
    runs: AtomicU32,
    /// The rows up to which they say something.
    rows: AtomicUsize,
    /// The nanoseconds that a row took in the last run, as bits of a float, if that was shared; else 0.
    heavy_row: AtomicU64,
}

impl EarlierRuns {
    /// Whether the run that begins is to be timed.
    pub(super) fn is_next_timed(&self, rows: usize) -> bool {
        let runs = self.runs.load(Relaxed);
        if !(EARNED..EARNED + UNTIMED).contains(&runs) || rows > self.rows.load(Relaxed) {
            return true;
        }
        self.runs.store(runs + 1, Relaxed);
        false
    }

    /// How many nanoseconds a row took in the last run, if that was shared.
    pub(super) fn heavy_row(&self) -> Option<f64> {
        match self.heavy_row.load(Relaxed) {
            0 => None,
            bits => Some(f64::from_bits(bits)),
        }
    }

    /// Remembers a run that was shared, or should have been: how many nanoseconds a row took.
    pub(super) fn was_heavy(&self, row: f64) {
        self.runs.store(0, Relaxed);
        self.heavy_row.store(row.to_bits(), Relaxed);
    }

    /// Remembers how long a run took, that was timed and not shared.
    pub(super) fn took(&self, rows: usize, time: Duration) {
        self.heavy_row.store(0, Relaxed);
        if time > LIGHT {
            return self.runs.store(0, Relaxed);
        }
        let before = if rows <= self.rows.load(Relaxed) {
            self.runs.load(Relaxed)
        } else {
            // Some more, so that a slowly growing number of rows does not begin anew in each run.
            self.rows.store(rows.saturating_add(rows / 4), Relaxed);
            0
        };
        self.runs.store((before + 1).min(EARNED), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earned(rows: usize) -> EarlierRuns {
        let light = EarlierRuns::default();
        for _ in 0..EARNED {
            assert!(light.is_next_timed(rows));
            light.took(rows, LIGHT);
        }
        light
    }

    #[test]
    fn one_run_of_eight_is_timed_after_many_light_ones() {
        let light = earned(100);
        for _ in 0..3 {
            assert!((0..UNTIMED).all(|_| !light.is_next_timed(100)));
            assert!(light.is_next_timed(100));
            light.took(100, LIGHT);
        }
    }

    #[test]
    fn a_heavy_run_is_followed_by_timed_ones() {
        let light = earned(100);
        assert!((0..UNTIMED).all(|_| !light.is_next_timed(100)) && light.is_next_timed(100));
        light.took(100, LIGHT + Duration::from_nanos(1));
        for _ in 0..EARNED {
            assert!(light.is_next_timed(100));
            light.took(100, LIGHT);
        }
        assert!(!light.is_next_timed(100));
    }

    #[test]
    fn the_rows_of_a_run_that_was_shared_are_known_until_one_is_light() {
        let light = earned(100);
        light.was_heavy(1_500.0);
        assert!(light.heavy_row() == Some(1_500.0) && light.is_next_timed(100));
        light.took(100, LIGHT);
        assert_eq!(light.heavy_row(), None);
    }

    #[test]
    fn many_more_rows_are_timed() {
        let light = earned(100);
        assert!(!light.is_next_timed(125));
        assert!(light.is_next_timed(126));
        light.took(126, LIGHT);
        assert!(light.is_next_timed(100), "what was known was about fewer rows");
    }

    #[test]
    fn loops_with_a_heavy_run_now_and_then_are_always_timed() {
        let light = EarlierRuns::default();
        for run in 0..10 * EARNED {
            assert!(light.is_next_timed(100), "run {run}");
            light.took(100, if run % (EARNED - 1) == 0 { 2 * LIGHT } else { LIGHT });
        }
    }
}
