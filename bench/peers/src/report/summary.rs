//! The short table for the README: for each workload the limit, the best other library, and our best line.

use std::fmt::Write;

use super::{LIMIT, nanos};
use crate::contender::full_name;
use crate::machine::Machine;
use crate::measure::{Measured, Outcome};

/// The run in one short table, wins and losses alike.
pub fn render(machine: &Machine, outcomes: &[Outcome]) -> String {
    let mut text = format!(
        "Measured {}\n\nMedian nanoseconds per item. `ratio` is our best line in parts of the best line of another library; \
         below 1 is faster.\n\n| workload | limit | best peer | Phalanx | ratio | |\n|---|---|---|---|---|---|\n",
        machine.sentence()
    );
    for outcome in outcomes.iter().filter(|outcome| !outcome.workload.is_curve()) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            outcome.workload.name(),
            outcome.limit().map_or_else(|| "–".to_owned(), |line| nanos(line.time.median)),
            named(outcome.best_peer()),
            named(outcome.best_of_ours()),
            outcome.ratio().map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")),
            outcome.verdict(),
        );
    }
    text
}

fn named(line: Option<&Measured>) -> String {
    let Some(line) = line else { return "–".to_owned() };
    let name = if line.library == super::OURS {
        line.variant.to_owned()
    } else {
        full_name(line.library, line.variant)
    };
    debug_assert!(line.library != LIMIT);
    format!("{} ({name})", nanos(line.time.median))
}
