//! The tables: what each strategy takes in parts of General.

use std::fmt::Write;

use phalanx_measuring::contender::full_name;
use phalanx_measuring::machine::Machine;
use phalanx_measuring::measure::Measured;
use phalanx_measuring::nanos;
use phalanx_measuring::stats::Summary;

use crate::case::{Case, Layout, Pattern, SCATTERED, UNIFORM};
use crate::memory;

/// The lines of one case.
pub struct Outcome {
    pub case: Case,
    pub lines: Vec<Measured>,
}

impl Outcome {
    fn general(&self) -> &Measured {
        &self.lines[0]
    }

    fn line(&self, library: &str, variant: &str) -> Option<&Measured> {
        self.lines.iter().find(|line| line.library == library && line.variant == variant)
    }

    /// The time of a line in parts of General's.
    fn ratio(&self, library: &str, variant: &str) -> Option<f64> {
        Some(self.line(library, variant)?.ratio_to(self.general()).median)
    }
}

/// One case for the terminal.
pub fn text(outcome: &Outcome) -> String {
    let mut text = format!("{}\n", outcome.case.name());
    for line in &outcome.lines {
        let ratio = line.ratio_to(outcome.general());
        let _ = writeln!(
            text,
            "  {:<16} {:>9} ns   {:>9} .. {:<9} {:>6.2} x General ({:.2} .. {:.2})",
            full_name(line.library, line.variant),
            nanos(line.time.median),
            nanos(line.time.low),
            nanos(line.time.high),
            ratio.median,
            ratio.low,
            ratio.high,
        );
    }
    text
}

/// The run as Markdown.
pub fn markdown(machine: &Machine, outcomes: &[Outcome]) -> String {
    let mut text = format!("Measured {}\n", machine.sentence());
    summary(&mut text, outcomes);
    random(&mut text, outcomes);
    scattered(&mut text, outcomes);
    records(&mut text);
    details(&mut text, outcomes);
    text
}

const STRATEGIES: [&str; 2] = ["inline", "boxed"];
/// How single entities of pools are read.
const WAYS: &[&str] = &["entity", "handle", "reader"];

fn summary(text: &mut String, outcomes: &[Outcome]) {
    text.push_str(
        "\n### In parts of General\n\nFor each pattern the median over all numbers of entities, declared and present \
         components, and the smallest and largest ratio among them. Below 1 the pool is faster.\n\n\
         | | cases | inline | from – to | boxed | from – to |\n|---|---|---|---|---|---|\n",
    );
    let ways = |pattern| if pattern == Pattern::Random { WAYS } else { &[""][..] };
    for &pattern in UNIFORM {
        let cases = || {
            let uniform = |outcome: &&Outcome| matches!(outcome.case.layout, Layout::Uniform { .. });
            outcomes.iter().filter(move |outcome| outcome.case.pattern == pattern).filter(uniform)
        };
        if cases().next().is_none() {
            continue;
        }
        for way in ways(pattern) {
            let by = if way.is_empty() { String::new() } else { format!(", by {way}") };
            let _ = write!(text, "| {}{by} | {} |", pattern.about(), cases().count());
            for strategy in STRATEGIES {
                let ratios: Vec<f64> = cases().filter_map(|case| case.ratio(strategy, way)).collect();
                let (all, most) = (Summary::of(&ratios), ratios.iter().copied().fold(0.0, f64::max));
                let _ = write!(text, " {:.2} | {:.2} – {most:.2} |", all.median, all.min);
            }
            text.push('\n');
        }
    }
}

fn random(text: &mut String, outcomes: &[Outcome]) {
    text.push_str(
        "\n### Reading single entities\n\nNanoseconds per read in random order: `world.get` for General, `pool.get` with \
         an entity and with `&mut handle`; `reader.get` with `&mut handle`.\n\n\
         | entities | components | world.get | inline, entity | handle | reader | boxed, entity | handle | reader |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for outcome in outcomes.iter().filter(|outcome| outcome.case.pattern == Pattern::Random) {
        let Layout::Uniform { declared, present, size } = outcome.case.layout else { continue };
        let _ =
            write!(text, "| {size} | {present} of {declared} | {} |", nanos(outcome.general().time.median));
        for strategy in STRATEGIES {
            for way in WAYS {
                let time = outcome.line(strategy, way).map_or(f64::NAN, |line| line.time.median);
                let _ = write!(text, " {} |", nanos(time));
            }
        }
        text.push('\n');
    }
}

fn scattered(text: &mut String, outcomes: &[Outcome]) {
    text.push_str(
        "\n### Many archetypes\n\n200 archetypes of ten entities. `cold` means that 96 MiB of other memory were walked \
         before each run, so that every cache line has to come again. Nanoseconds per entity; for the two lines about \
         queries, per query.\n\n\
         | | declared | caches | General | inline | × | boxed | × |\n|---|---|---|---|---|---|---|---|\n",
    );
    for &pattern in SCATTERED {
        for outcome in outcomes.iter().filter(|outcome| outcome.case.pattern == pattern) {
            let Layout::Scattered { declared, cold } = outcome.case.layout else { continue };
            let cold = if cold { "cold" } else { "warm" };
            let ways = if pattern == Pattern::Random { WAYS } else { &[""][..] };
            for way in ways {
                let by = if way.is_empty() { String::new() } else { format!(", by {way}") };
                let general = nanos(outcome.general().time.median);
                let _ = write!(text, "| {}{by} | {declared} | {cold} | {general} |", pattern.about());
                for strategy in STRATEGIES {
                    let Some(line) = outcome.line(strategy, way) else { continue };
                    let ratio = outcome.ratio(strategy, way).unwrap_or(f64::NAN);
                    let _ = write!(text, " {} | {ratio:.2} |", nanos(line.time.median));
                }
                text.push('\n');
            }
        }
    }
}

fn records(text: &mut String) {
    text.push_str(
        "\n### Memory\n\nBytes of the headers of one archetype, from `world.stats()`; rows take the same everywhere.\n\n\
         | components | General | inline | boxed | boxed in parts of inline |\n|---|---|---|---|---|\n",
    );
    for memory::Record { declared, present, bytes } in memory::records() {
        row(text, &format!("{present} of {declared}"), bytes);
    }
    for (declared, bytes) in memory::scattered() {
        row(text, &format!("200 archetypes, 2 to 10 of {declared}"), bytes);
    }
}

fn row(text: &mut String, name: &str, bytes: memory::Bytes) {
    let memory::Bytes { general, inline, boxed } = bytes;
    let part = boxed as f64 / inline as f64;
    let _ = writeln!(text, "| {name} | {general} | {inline} | {boxed} | {part:.2} |");
}

fn details(text: &mut String, outcomes: &[Outcome]) {
    text.push_str(
        "\n<details><summary>Every case, with quartiles</summary>\n\n\
         | case | line | median ns | quartiles | × General | quartiles |\n|---|---|---|---|---|---|\n",
    );
    for outcome in outcomes {
        for line in &outcome.lines {
            let (time, ratio) = (line.time, line.ratio_to(outcome.general()));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} – {} | {:.2} | {:.2} – {:.2} |",
                outcome.case.name(),
                full_name(line.library, line.variant),
                nanos(time.median),
                nanos(time.low),
                nanos(time.high),
                ratio.median,
                ratio.low,
                ratio.high,
            );
        }
    }
    text.push_str("\n</details>\n");
}
