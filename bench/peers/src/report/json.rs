//! All numbers, for programs.

use std::fmt::Write;

use crate::bars;
use crate::contender::full_name;
use crate::machine::Machine;
use crate::measure::Outcome;

/// The run as one JSON object.
pub fn render(machine: &Machine, outcomes: &[Outcome]) -> String {
    let mut text = String::from("{\n");
    let _ = writeln!(text, "  \"date\": {},", quoted(&machine.date));
    let _ = writeln!(text, "  \"processor\": {},", quoted(&machine.processor));
    let _ = writeln!(text, "  \"cores\": {},", machine.cores);
    let _ = writeln!(text, "  \"rustc\": {},", quoted(machine.rustc));
    let _ = writeln!(text, "  \"rounds\": {},\n  \"seed\": {},", machine.rounds, machine.seed);
    let versions: Vec<String> = machine
        .versions
        .iter()
        .map(|(name, version)| format!("{}: {}", quoted(name), quoted(version)))
        .collect();
    let _ = writeln!(text, "  \"versions\": {{{}}},", versions.join(", "));
    let workloads: Vec<String> = outcomes.iter().map(workload).collect();
    let _ = writeln!(text, "  \"workloads\": [\n{}\n  ],", workloads.join(",\n"));
    let bars: Vec<String> = bars::look(outcomes).iter().map(bar).collect();
    let _ = writeln!(text, "  \"bars\": [\n{}\n  ]\n}}", bars.join(",\n"));
    text
}

fn workload(outcome: &Outcome) -> String {
    let lines: Vec<String> = outcome
        .measured
        .iter()
        .map(|line| {
            format!(
                "      {{\"library\": {}, \"variant\": {}, \"plain\": {}, \"median\": {:.5}, \"low\": {:.5}, \"high\": {:.5}, \"min\": {:.5}}}",
                quoted(line.library),
                quoted(line.variant),
                line.plain,
                line.time.median,
                line.time.low,
                line.time.high,
                line.time.min
            )
        })
        .collect();
    format!(
        "    {{\"name\": {}, \"number\": {}, \"items\": {}, \"checksum\": \"{:016x}\", \"lines\": [\n{}\n    ]}}",
        quoted(outcome.workload.name()),
        quoted(outcome.workload.number()),
        outcome.workload.items(),
        outcome.checksum,
        lines.join(",\n")
    )
}

fn bar(result: &bars::Result<'_>) -> String {
    let name = |line: &crate::measure::Measured| quoted(&full_name(line.library, line.variant));
    format!(
        "    {{\"workload\": {}, \"what\": {}, \"ours\": {}, \"beside\": {}, \"ratio\": {:.4}, \"at_most\": {}, \"reached\": {}}}",
        quoted(result.bar.workload.name()),
        quoted(result.bar.what),
        name(result.ours),
        name(result.rival),
        result.ratio(),
        result.bar.at_most,
        result.reached()
    )
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
