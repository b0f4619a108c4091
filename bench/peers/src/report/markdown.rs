//! The tables for the documentation: one row per workload, then every line with its spread.

use std::fmt::Write;

use super::{LIMIT, OURS, nanos};
use crate::contender::full_name;
use crate::machine::Machine;
use crate::measure::{Measured, Outcome};
use crate::peers::LIBRARIES;

/// The run as Markdown.
pub fn render(machine: &Machine, outcomes: &[Outcome]) -> String {
    let mut text = format!(
        "Measured {}\n\nMedian nanoseconds per item; the fastest library of a row is bold. A library with several lines \
         shows its fastest; all lines stand below. `plain` is what people write first, `line` names our fastest. `ratio` is the fastest Phalanx line in parts of the fastest \
         line of another library, `limit` a loop without any library.\n\n",
        machine.sentence()
    );
    let (curves, plain): (Vec<&Outcome>, Vec<&Outcome>) =
        outcomes.iter().partition(|outcome| outcome.workload.is_curve());
    if !plain.is_empty() {
        table(&mut text, &plain);
    }
    if !curves.is_empty() {
        text.push_str("\nGrowth: the same work at four sizes.\n\n");
        table(&mut text, &curves);
    }
    text.push_str("\n<details><summary>Every line, with quartiles</summary>\n\n");
    text.push_str(
        "| workload | line | median | quartiles | × best peer | × limit |\n|---|---|---|---|---|---|\n",
    );
    for outcome in outcomes {
        outcome.measured.iter().for_each(|line| detail(&mut text, outcome, line));
    }
    text.push_str("\n</details>\n");
    text
}

fn table(text: &mut String, outcomes: &[&Outcome]) {
    let used = |library: &str| outcomes.iter().flat_map(|o| &o.measured).any(|line| line.library == library);
    let peers: Vec<&str> = LIBRARIES.iter().copied().filter(|&name| name != OURS && used(name)).collect();

    let _ = write!(text, "| # | workload |");
    for peer in &peers {
        let _ = write!(text, " {peer} |");
    }
    let _ = write!(
        text,
        " Phalanx plain | Phalanx best | line | ratio | verdict |\n|---|---|{}---|---|---|---|---|\n",
        "---|".repeat(peers.len())
    );

    for outcome in outcomes {
        let best = outcome.best(|line| line.library != LIMIT).map(|line| line.time.median);
        let cell = |line: Option<&Measured>| match line {
            None => "–".to_owned(),
            Some(line) if line.library != LIMIT && Some(line.time.median) == best => {
                format!("**{}**", nanos(line.time.median))
            }
            Some(line) => nanos(line.time.median),
        };
        let _ = write!(text, "| {} | {} |", outcome.workload.number(), outcome.workload.name());
        for peer in &peers {
            let _ = write!(text, " {} |", cell(outcome.best(|line| line.library == *peer)));
        }
        let ours = outcome.best_of_ours();
        let plain = outcome.best(|line| line.library == OURS && line.plain);
        let line = ours.map_or("–", |line| line.variant);
        let _ = write!(text, " {} | {} | {line} |", cell(plain), cell(ours));
        let ratio = outcome.ratio().map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
        let _ = writeln!(text, " {ratio} | {} |", outcome.verdict());
    }
}

fn detail(text: &mut String, outcome: &Outcome, line: &Measured) {
    let ratio = |other: Option<&Measured>| {
        other.map_or("–".to_owned(), |other| format!("{:.2}", line.time.median / other.time.median))
    };
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} – {} | {} | {} |",
        outcome.workload.name(),
        full_name(line.library, line.variant),
        nanos(line.time.median),
        nanos(line.time.low),
        nanos(line.time.high),
        ratio(outcome.best_peer()),
        ratio(outcome.limit())
    );
}
