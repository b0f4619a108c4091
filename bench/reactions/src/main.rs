//! Changes that somebody hears of, in Phalanx and in bevy_ecs: one program, one run, all lines interleaved.
//!
//! `bench/measure-reactions` runs it and counts instructions; `--help` lists the options.

use std::process::ExitCode;

use phalanx_measuring::bars::{Bar, Table, report};
use phalanx_measuring::clock;
use phalanx_measuring::contender::Contender;
use phalanx_measuring::machine::Machine;
use phalanx_measuring::measure::{Task, measure};
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
  --markdown FILE     writes the tables
  --one CASE LINE     runs one line --iterations times, without measuring
  --iterations N      for --one (1)

Times are medians in nanoseconds per item; ratios are medians of the ratios of all rounds. All lines of a case must
leave the same checksum behind. With MEASURING_CLOCK=cpu, processor time is taken. Exits with an error when a bar is
missed.";

/// Something that is measured: its lines, and what one of them may take in parts of another.
struct Case {
    name: &'static str,
    items: usize,
    lines: fn() -> Vec<Contender>,
    bars: &'static [Bar],
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
        bars: &[Bar { lines: &["phalanx/observed"], of: &["bevy/observed"], most: 0.7, without: None }],
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
            Bar { lines: &["phalanx/observed"], of: &["bevy/observed"], most: 0.7, without: None },
            Bar { lines: &["phalanx/batched"], of: &["phalanx/none"], most: 1.3, without: None },
        ],
    },
    Case {
        name: "matched",
        items: matching::CHANGED,
        lines: matching::lines,
        bars: &[Bar {
            lines: &["phalanx/matched"],
            of: &["phalanx/scan"],
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
    let word = |name: &str| after(name).and_then(|rest| rest.first());
    let rounds = number("--rounds").unwrap_or(61);
    let chosen = word("--case");
    let (mut random, mut table, mut all) = (Random::new(1), Table::default(), true);
    for case in CASES.iter().filter(|case| chosen.is_none_or(|name| name == case.name)) {
        let task = Task { name: case.name, items: case.items, warm: true, lives: 3 };
        match measure(task, &(case.lines)(), rounds, &mut random) {
            Ok(taken) => all &= report(case.name, &taken.measured, case.bars, &mut table),
            Err(mismatch) => {
                eprintln!("error: {mismatch}");
                return ExitCode::FAILURE;
            }
        }
    }
    if let Some(file) = word("--markdown") {
        let machine = Machine::look(&["phalanx", "bevy_ecs"], rounds, 1);
        let circumstances = format!("Measured {} {}", machine.sentence(), clock::sentence());
        if let Err(error) = std::fs::write(file, table.markdown(&circumstances)) {
            eprintln!("error: {file} cannot be written: {error}");
            return ExitCode::FAILURE;
        }
    }
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
