//! A program that measures cases and says which of their bars hold: its options, its tables, and how it ends.

use std::process::ExitCode;

use crate::bars::{Bar, Table, report};
use crate::clock;
use crate::contender::Contender;
use crate::machine::Machine;
use crate::measure::{Task, measure};
use crate::random::Random;

/// Something that is measured: its lines, and what some of them have to reach.
pub struct Case {
    pub name: &'static str,
    /// What times are divided by.
    pub items: usize,
    pub lines: fn() -> Vec<Contender>,
    pub bars: &'static [Bar],
}

/// Cases that are measured by one program.
pub struct Program {
    /// What it is about, for `--help`.
    pub about: &'static str,
    /// What there is to know about its figures, for `--help`.
    pub notes: &'static str,
    pub cases: &'static [Case],
    /// The libraries whose versions the tables name.
    pub libraries: &'static [&'static str],
    /// Samples per line, unless `--rounds` says otherwise.
    pub rounds: usize,
    /// As for [`Task`].
    pub lives: usize,
}

impl Program {
    /// Does what the arguments of the process say.
    pub fn run(&self) -> ExitCode {
        let args: Vec<String> = std::env::args().skip(1).collect();
        match self.run_with(&args) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Whether all bars hold that were looked at.
    fn run_with(&self, args: &[String]) -> Result<bool, String> {
        let after = |name: &str| args.iter().position(|arg| arg == name).map(|at| &args[at + 1..]);
        let word = |name: &str| after(name).and_then(|rest| rest.first());
        let number = |name: &str| word(name).and_then(|text| text.parse::<usize>().ok());
        if after("--help").is_some() {
            println!("{}", self.help());
            return Ok(true);
        }
        if after("--list").is_some() {
            for case in self.cases {
                let names: Vec<String> = (case.lines)().iter().map(Contender::name).collect();
                println!("{}: {}", case.name, names.join(" "));
            }
            return Ok(true);
        }
        if let Some([case, line, ..]) = after("--one") {
            return self.one(case, line, number("--iterations").unwrap_or(1)).map(|()| true);
        }
        let rounds = if after("--quick").is_some() { 3 } else { number("--rounds").unwrap_or(self.rounds) };
        let (mut random, mut table, mut all) = (Random::new(1), Table::default(), true);
        let chosen = |case: &&Case| word("--case").is_none_or(|name| case.name.starts_with(name.as_str()));
        for case in self.cases.iter().filter(chosen) {
            let task = Task { name: case.name, items: case.items, warm: true, lives: self.lives };
            let taken =
                measure(task, &(case.lines)(), rounds, &mut random).map_err(|error| error.to_string())?;
            all &= report(case.name, &taken.measured, case.bars, &mut table);
        }
        if let Some(file) = word("--markdown") {
            let machine = Machine::look(self.libraries, rounds, 1);
            let circumstances = format!("Measured {} {}", machine.sentence(), clock::sentence());
            std::fs::write(file, table.markdown(&circumstances))
                .map_err(|error| format!("{file} cannot be written: {error}"))?;
        }
        Ok(all)
    }

    fn help(&self) -> String {
        let Self { about, notes, rounds, .. } = self;
        format!(
            "\
{about}: all lines of a case in one run, interleaved.

  --list              the cases with their lines
  --case NAME         only cases whose names begin so
  --rounds N          samples per line ({rounds})
  --quick             three samples: does everything work?
  --markdown FILE     writes the tables
  --one CASE LINE     runs one line --iterations times, without measuring
  --iterations N      for --one (1)

Times are medians in nanoseconds per item; ratios are medians of the ratios of all rounds. All lines of a case must
leave the same checksum behind. With MEASURING_CLOCK=cpu, processor time is taken{notes}. Exits with an error when a bar is
missed."
        )
    }

    /// Runs one line, for tools that count instructions.
    fn one(&self, case: &str, line: &str, iterations: usize) -> Result<(), String> {
        let found = self.cases.iter().find(|known| known.name == case);
        let contender = found.and_then(|case| (case.lines)().into_iter().find(|known| known.name() == line));
        let (Some(case), Some(contender)) = (found, contender) else {
            return Err(format!("there is no line {line} of {case}; see --list"));
        };
        contender.start().sample(iterations);
        println!("{} {line} {iterations} {}", case.name, case.items);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: &[Case] = &[
        Case {
            name: "count",
            items: 1,
            lines: || ["a", "b"].map(|name| Contender::steady((name, ""), || 0, |n| *n += 1, |_| 7)).into(),
            bars: &[Bar { lines: &["a"], of: &["b"], most: 1e9, without: None }],
        },
        Case {
            name: "missed",
            items: 1,
            lines: || ["a", "b"].map(|name| Contender::steady((name, ""), || 0, |n| *n += 1, |_| 7)).into(),
            bars: &[Bar { lines: &["a"], of: &["b"], most: 0.0, without: None }],
        },
        Case {
            name: "differ",
            items: 1,
            lines: || {
                vec![
                    Contender::steady(("a", ""), || 0, |n| *n += 1, |_| 1),
                    Contender::steady(("b", ""), || 0, |n| *n += 1, |_| 2),
                ]
            },
            bars: &[],
        },
    ];
    const PROGRAM: Program =
        Program { about: "Counts", notes: "", cases: CASES, libraries: &[], rounds: 3, lives: 1 };

    fn run(args: &[&str]) -> Result<bool, String> {
        PROGRAM.run_with(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn bars_and_checksums_decide_how_it_ends() {
        assert_eq!(run(&["--case", "count"]), Ok(true));
        assert!(run(&["--case", "differ", "--quick"]).is_err(), "the lines do not do the same");
        assert_eq!(run(&["--case", "missed"]), Ok(false));
    }

    #[test]
    fn one_line_is_run_by_its_names() {
        assert_eq!(run(&["--one", "count", "b", "--iterations", "2"]), Ok(true));
        assert!(run(&["--one", "count", "c"]).is_err());
        assert!(PROGRAM.help().starts_with("Counts: all lines"));
    }
}
