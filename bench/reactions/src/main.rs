//! Changes that somebody hears of, in Phalanx and in bevy_ecs: one program, one run, all lines interleaved.
//!
//! `bench/measure-reactions` runs it and counts instructions; `--help` lists the options.

use std::process::ExitCode;

use phalanx_measuring::contender::Contender;
use phalanx_measuring::measure::{Measured, Task, measure};
use phalanx_measuring::nanos;
use phalanx_measuring::random::Random;

mod bevy;
mod matching;
mod ours;

/// How many entities come, or get a component and lose it.
pub const ENTITIES: usize = 10_000;

const HELP: &str = "\
Measures changes that somebody hears of: all lines of a case in one run, interleaved.

  --list              the cases with their lines
  --case NAME         only this case
  --rounds N          samples per line (61)
  --one CASE LINE     runs one line --iterations times, without measuring
  --iterations N      for --one (1)

Times are medians in nanoseconds per item; ratios are medians of the ratios of all rounds. All lines of a case must
leave the same checksum behind.";

/// Something that is measured: its lines, and what one of them may take in parts of another.
struct Case {
    name: &'static str,
    items: usize,
    lines: fn() -> Vec<Contender>,
    bars: &'static [Bar],
}

/// What a line may take in parts of another one.
struct Bar {
    line: &'static str,
    of: &'static str,
    most: f64,
    /// A line whose time is taken off both, because neither is about it.
    without: Option<&'static str>,
}

const CASES: &[Case] = &[
    Case {
        name: "add_remove",
        items: ENTITIES,
        lines: || {
            vec![
                bevy::add_remove(false),
                bevy::add_remove(true),
                ours::add_remove(false),
                ours::add_remove(true),
            ]
        },
        bars: &[Bar { line: "phalanx/observed", of: "bevy/observed", most: 0.7, without: None }],
    },
    Case {
        name: "spawn_batch",
        items: ENTITIES,
        lines: || {
            use ours::Listening::{Batched, None, Observed};
            let ours = [None, Observed, Batched].map(ours::spawn_batch);
            [bevy::spawn_batch(false), bevy::spawn_batch(true)].into_iter().chain(ours).collect()
        },
        bars: &[
            Bar { line: "phalanx/observed", of: "bevy/observed", most: 0.7, without: None },
            Bar { line: "phalanx/batched", of: "phalanx/none", most: 1.3, without: None },
        ],
    },
    Case {
        name: "matched",
        items: matching::CHANGED,
        lines: matching::lines,
        bars: &[Bar {
            line: "phalanx/matched",
            of: "phalanx/scan",
            most: 0.3,
            without: Some("phalanx/none"),
        }],
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| args.iter().position(|arg| arg == name).map(|at| &args[at + 1..]);
    let number = |name: &str| after(name).and_then(|rest| rest.first()).and_then(|text| text.parse().ok());
    if after("--help").is_some() {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if after("--list").is_some() {
        for case in CASES {
            let names: Vec<String> = (case.lines)().iter().map(Contender::name).collect();
            println!("{} {}", case.name, names.join(" "));
        }
        return ExitCode::SUCCESS;
    }
    if let Some([case, line, ..]) = after("--one") {
        return one(case, line, number("--iterations").unwrap_or(1));
    }
    let chosen = after("--case").and_then(|rest| rest.first());
    let mut random = Random::new(1);
    let mut missed = false;
    for case in CASES.iter().filter(|case| chosen.is_none_or(|name| name == case.name)) {
        let task = Task { name: case.name, items: case.items, warm: true, lives: 3 };
        match measure(task, &(case.lines)(), number("--rounds").unwrap_or(61), &mut random) {
            Ok(taken) => missed |= !report(case, &taken.measured),
            Err(mismatch) => {
                eprintln!("error: {mismatch}");
                return ExitCode::FAILURE;
            }
        }
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs one line, for tools that count instructions.
fn one(case: &str, line: &str, iterations: usize) -> ExitCode {
    let found = CASES.iter().find(|known| known.name == case);
    let contender = found.and_then(|case| (case.lines)().into_iter().find(|known| known.name() == line));
    let (Some(case), Some(contender)) = (found, contender) else {
        eprintln!("error: there is no line {line} of {case}; see --list");
        return ExitCode::FAILURE;
    };
    contender.start().sample(iterations);
    println!("{} {line} {iterations} {}", case.name, case.items);
    ExitCode::SUCCESS
}

/// Prints the times and the ratios; whether all bars hold.
fn report(case: &Case, lines: &[Measured]) -> bool {
    let name = |line: &Measured| format!("{}/{}", line.library, line.variant);
    let find = |wanted: &str| lines.iter().find(|line| name(line) == wanted).expect("a line of the case");
    println!("{} ({} items)", case.name, case.items);
    for line in lines {
        println!("  {:<20} {:>9} ns", name(line), nanos(line.time.median));
    }
    let mut hold = true;
    for bar in case.bars {
        let (mut line, mut of) = (find(bar.line).clone(), find(bar.of).clone());
        if let Some(without) = bar.without {
            println!("  {} of {}: {:.2}, all in all", bar.line, bar.of, line.ratio_to(&of).median);
            let base = &find(without).samples;
            let less = |all: &[f64]| all.iter().zip(base).map(|(all, base)| all - base).collect::<Vec<f64>>();
            line.samples = less(&line.samples);
            of.samples = less(&of.samples);
        }
        let ratio = line.ratio_to(&of).median;
        let verdict = if ratio <= bar.most { "holds" } else { "missed" };
        let part = bar.without.map_or(String::new(), |without| format!(" (without {without})"));
        println!("  {} of {}{part}: {ratio:.2}, at most {:.2}: {verdict}", bar.line, bar.of, bar.most);
        hold &= ratio <= bar.most;
    }
    hold
}
