//! Pools of both strategies beside General: one program, one run, all lines interleaved.
//!
//! `--help` lists the options; `bench/measure-pools` puts the tables into `docs/pools-measured.md`.

use std::process::ExitCode;

use case::Case;
use phalanx_measuring::contender::Contender;
use phalanx_measuring::machine::Machine;
use phalanx_measuring::measure;
use phalanx_measuring::random::Random;

mod case;
mod kinds;
mod memory;
mod report;
mod subject;

const HELP: &str = "\
Measures pools of both strategies beside General: all lines of a case in one run, interleaved.

usage: cargo run --release --manifest-path bench/Cargo.toml -p phalanx-strategies -- [options]

  --list              the cases
  --case NAME         only cases whose name begins so
  --rounds N          samples per line (61)
  --seed N            for the order in which lines take turns (1)
  --markdown FILE     tables
  --one CASE LINE     runs one line --iterations times, without measuring
  --iterations N      for --one (1)
  --help              this text

Times are medians in nanoseconds per item. All lines must leave the same checksum behind.";

struct Options {
    cases: Vec<Case>,
    list: bool,
    rounds: usize,
    seed: u64,
    markdown: Option<String>,
    one: Option<String>,
    iterations: usize,
}

fn main() -> ExitCode {
    let result = match parse(std::env::args().skip(1)) {
        Ok(Some(options)) => run(&options),
        Ok(None) => {
            println!("{HELP}");
            Ok(())
        }
        Err(message) => Err(format!("{message}\n\n{HELP}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the command line; `None` when only help is asked for.
fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        cases: case::all(),
        list: false,
        rounds: 61,
        seed: 1,
        markdown: None,
        one: None,
        iterations: 1,
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number = |text: String| text.parse::<usize>().map_err(|_| format!("{text} is not a number"));
        match arg.as_str() {
            "--help" | "-h" => return Ok(None),
            "--list" => options.list = true,
            "--case" => choose(&mut options.cases, &value()?)?,
            "--rounds" => options.rounds = number(value()?)?.max(1),
            "--seed" => options.seed = number(value()?)? as u64,
            "--markdown" => options.markdown = Some(value()?),
            "--one" => {
                let name = value()?;
                options.cases.retain(|case| case.name() == name);
                options.one = Some(value()?);
            }
            "--iterations" => options.iterations = number(value()?)?.max(1),
            _ => return Err(format!("unknown option {arg}")),
        }
    }
    Ok(Some(options))
}

fn choose(cases: &mut Vec<Case>, beginning: &str) -> Result<(), String> {
    cases.retain(|case| case.name().starts_with(beginning));
    if cases.is_empty() { Err(format!("no case is called {beginning}")) } else { Ok(()) }
}

fn run(options: &Options) -> Result<(), String> {
    if options.list {
        options.cases.iter().for_each(|case| println!("{}", case.name()));
        return Ok(());
    }
    if let Some(line) = &options.one {
        return one(options, line);
    }
    let mut random = Random::new(options.seed);
    let mut outcomes = Vec::new();
    for &case in &options.cases {
        let name = case.name();
        let taken = measure::measure(case.task(&name), &case.contenders(), options.rounds, &mut random)
            .map_err(|mismatch| mismatch.to_string())?;
        let outcome = report::Outcome { case, lines: taken.measured };
        print!("{}", report::text(&outcome));
        outcomes.push(outcome);
    }
    match &options.markdown {
        Some(path) => {
            let machine = Machine::look(&["phalanx"], options.rounds, options.seed);
            let text = report::markdown(&machine, &outcomes);
            std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
        }
        None => Ok(()),
    }
}

/// Runs one line a given number of times, for tools that count instructions or cache misses.
fn one(options: &Options, line: &str) -> Result<(), String> {
    let case = options.cases.first().ok_or("no case is called so")?;
    let contenders = case.contenders();
    let Some(contender) = contenders.iter().find(|contender| contender.name() == line) else {
        let names: Vec<String> = contenders.iter().map(Contender::name).collect();
        return Err(format!("{} has no line `{line}`; there are {}", case.name(), names.join(", ")));
    };
    let mut session = contender.start();
    session.sample(options.iterations);
    println!("{} {line} {} {}", case.name(), options.iterations, case.items());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cases_are_unique() {
        let mut names: Vec<String> = case::all().into_iter().map(Case::name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn all_lines_of_a_case_do_the_same() {
        // Small cases are enough: large ones run the same code.
        for case in case::all().into_iter().filter(|case| case.items() <= 2_000) {
            let mut sums = Vec::new();
            for contender in case.contenders() {
                let mut session = contender.start();
                session.sample(2);
                sums.push(session.checksum());
            }
            assert!(sums.windows(2).all(|pair| pair[0] == pair[1]), "{}: {sums:?}", case.name());
        }
    }

    #[test]
    fn unknown_options_are_refused() {
        let parse = |line: &str| parse(line.split_whitespace().map(str::to_owned));
        assert!(parse("--colour").is_err());
        assert!(parse("--case nonsense").is_err());
        assert!(parse("--rounds").is_err());
        assert!(parse("--case spawn --rounds 3").is_ok_and(|options| options.is_some_and(|o| o.rounds == 3)));
    }
}
