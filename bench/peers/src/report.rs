//! What a run says, in several forms; here is what they share: the best of several lines, and the verdict.

use crate::measure::{Measured, Outcome};

use phalanx_measuring::nanos;

pub mod json;
pub mod markdown;
pub mod plain;
pub mod summary;
pub mod svg;
pub mod text;

/// The name under which hand-written loops stand.
pub const LIMIT: &str = "limit";
/// The name under which our own lines stand.
pub const OURS: &str = "phalanx";

impl Outcome {
    /// The fastest line among those asked for.
    pub fn best(&self, wanted: impl Fn(&Measured) -> bool) -> Option<&Measured> {
        let lines = self.measured.iter().filter(|line| wanted(line));
        lines.min_by(|a, b| a.time.median.total_cmp(&b.time.median))
    }

    /// The fastest hand-written loop.
    pub fn limit(&self) -> Option<&Measured> {
        self.best(|line| line.library == LIMIT)
    }

    /// The fastest line of another library.
    pub fn best_peer(&self) -> Option<&Measured> {
        self.best(|line| line.library != LIMIT && line.library != OURS)
    }

    /// Our fastest line.
    pub fn best_of_ours(&self) -> Option<&Measured> {
        self.best(|line| line.library == OURS)
    }

    /// Our fastest line in parts of the fastest line of another library.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.best_of_ours()?.time.median / self.best_peer()?.time.median)
    }

    /// The ratio in words.
    pub fn verdict(&self) -> String {
        match self.ratio() {
            None => "–".to_owned(),
            Some(ratio) if ratio <= 0.95 => format!("ahead {:.2}×", 1.0 / ratio),
            Some(ratio) if ratio <= 1.05 => "level".to_owned(),
            Some(ratio) => format!("**behind {ratio:.2}×**"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;

    fn outcome(times: &[(&'static str, f64)]) -> Outcome {
        let line = |&(library, time): &(_, f64)| Measured::of(library, "", vec![time]);
        Outcome { workload: Workload::SimpleIter, checksum: 0, measured: times.iter().map(line).collect() }
    }

    #[test]
    fn the_limit_is_no_peer() {
        let outcome = outcome(&[("limit", 1.0), ("hecs", 3.0), ("bevy", 4.0), ("phalanx", 2.0)]);
        assert_eq!(outcome.best_peer().map(|line| line.library), Some("hecs"));
        assert_eq!(outcome.verdict(), "ahead 1.50×");
    }

    #[test]
    fn losses_are_said() {
        assert_eq!(outcome(&[("hecs", 2.0), ("phalanx", 3.0)]).verdict(), "**behind 1.50×**");
        assert_eq!(outcome(&[("hecs", 2.0), ("phalanx", 2.05)]).verdict(), "level");
        assert_eq!(outcome(&[("hecs", 2.0)]).verdict(), "–");
    }
}
