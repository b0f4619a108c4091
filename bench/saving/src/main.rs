//! Checkpoints beside a copy of the written bytes and beside a clone per component; saves and loads beside hecs and a
//! plain `Vec` of rows. All lines of a case in one run, interleaved; what counts is their ratios.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml -p phalanx-saving -- [--rounds N] [--case NAME]`

use std::process::ExitCode;

use phalanx_measuring::contender::Contender;
use phalanx_measuring::measure::{Task, measure};
use phalanx_measuring::nanos;
use phalanx_measuring::random::Random;

mod formats;
mod rewind;

/// What is measured: a name, how many rows a run handles, and the lines; the first is what the others are compared with.
pub struct Case {
    pub name: String,
    pub rows: usize,
    pub lines: Vec<Contender>,
}

fn main() -> ExitCode {
    let (mut rounds, mut chosen) = (15, String::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--rounds", Some(value)) if value.parse::<usize>().is_ok() => {
                rounds = value.parse().expect("looked at just now");
            }
            ("--case", Some(value)) => chosen = value,
            _ => {
                eprintln!("usage: phalanx-saving [--rounds N] [--case BEGINNING_OF_A_NAME]");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("| case | line | µs per run | quartiles | ratio to the first line |\n|---|---|---|---|---|");
    let cases = rewind::cases().into_iter().chain(formats::cases());
    for case in cases.filter(|case| case.name.starts_with(&chosen)) {
        if let Err(message) = run(&case, rounds) {
            eprintln!("error: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(case: &Case, rounds: usize) -> Result<(), String> {
    let task = Task { name: &case.name, items: 1, warm: false, lives: 2 };
    let taken = measure(task, &case.lines, rounds, &mut Random::new(1)).map_err(|error| error.to_string())?;
    for line in &taken.measured {
        let (time, ratio) = (line.time, line.ratio_to(&taken.measured[0]).median);
        let micros = |value: f64| nanos(value / 1e3);
        println!(
            "| {} | {} {} | {} | {}–{} | {ratio:.2} |",
            case.name,
            line.library,
            line.variant,
            micros(time.median),
            micros(time.low),
            micros(time.high),
        );
    }
    Ok(())
}
