//! One workload for the terminal.

use std::fmt::Write;

use super::nanos;
use crate::contender::full_name;
use crate::measure::Outcome;

/// All lines of a workload with their spread and ratios.
pub fn outcome(outcome: &Outcome) -> String {
    let workload = outcome.workload;
    let mut text = format!("\n{} ({}): {}\n", workload.name(), workload.number(), workload.about());
    let (limit, peer) = (outcome.limit(), outcome.best_peer());
    for line in &outcome.measured {
        let ratio = |other: Option<&crate::measure::Measured>| {
            other.map_or("-".to_owned(), |other| format!("{:.2}", line.time.median / other.time.median))
        };
        let _ = writeln!(
            text,
            "  {:<26} {:>9} ns   {:>9} .. {:<9} ±{:>4.1} %   {:>7} x best peer {:>7} x limit",
            full_name(line.library, line.variant),
            nanos(line.time.median),
            nanos(line.time.low),
            nanos(line.time.high),
            line.time.spread() * 100.0,
            ratio(peer),
            ratio(limit),
        );
    }
    let _ = writeln!(text, "  checksum {:016x}; {}", outcome.checksum, outcome.verdict().replace('*', ""));
    text
}
