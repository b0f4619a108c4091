//! The table of plain code: our line, the line it has to reach, and whether it does.

use std::fmt::Write;

use super::nanos;
use crate::bars::{self, Result};
use crate::contender::full_name;
use crate::measure::{Measured, Outcome};

/// All bars as Markdown; misses are bold.
pub fn render(outcomes: &[Outcome]) -> String {
    let results = bars::look(outcomes);
    let missed = results.iter().filter(|result| !result.reached()).count();
    let mut text = format!(
        "{} of {} bars reached, in the same run as the tables above. Median nanoseconds per item; misses are bold.\n\n\
         | workload | what | Phalanx | beside | ratio | at most |\n|---|---|---|---|---|---|\n",
        results.len() - missed,
        results.len()
    );
    for result in &results {
        let bold = if result.reached() { "" } else { "**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {bold}{:.2}{bold} | {:.2} |",
            result.bar.workload.name(),
            result.bar.what,
            named(result.ours),
            named(result.rival),
            result.ratio(),
            result.bar.at_most
        );
    }
    text
}

/// The same for the terminal: only what is missed.
pub fn misses(outcomes: &[Outcome]) -> String {
    let results = bars::look(outcomes);
    let missed: Vec<&Result> = results.iter().filter(|result| !result.reached()).collect();
    let mut text = format!("\n{} of {} bars missed\n", missed.len(), results.len());
    for result in missed {
        let _ = writeln!(
            text,
            "  {:<22} {:<28} {:>26} beside {:<30} {:>6.2} (at most {:.2})",
            result.bar.workload.name(),
            result.bar.what,
            named(result.ours),
            named(result.rival),
            result.ratio(),
            result.bar.at_most
        );
    }
    text
}

fn named(line: &Measured) -> String {
    let name = if line.library == super::OURS {
        line.variant.to_owned()
    } else {
        full_name(line.library, line.variant)
    };
    format!("{} ({name})", nanos(line.time.median))
}
