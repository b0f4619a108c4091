//! The command line.

use crate::contender::Contender;
use crate::workload::{self, Workload};

/// What `--help` prints.
pub const HELP: &str = "\
Measures Phalanx beside other entity component systems: all contenders of a workload in one run, interleaved.

usage: cargo run --release --manifest-path bench/Cargo.toml -- [options]

  --list                    the workloads and who takes part in each
  --workload NAME[,NAME]    only these; the beginning of a name takes all that begin so
  --contender NAME[,NAME]   only these libraries (`hecs`) or lines (`phalanx/table`)
  --no-curves               without the growth curves
  --rounds N                samples per contender (61)
  --quick                   7 samples per contender: to see that everything works
  --seed N                  for the order in which contenders take turns (1)
  --json FILE               all numbers
  --markdown FILE           tables
  --plain FILE              the table of plain code: what has to be reached, and what is missed
  --summary FILE            one short table
  --svg FILE                bars
  --one WORKLOAD CONTENDER  runs one line --iterations times, without measuring
  --iterations N            for --one (1)
  --help                    this text

Times are medians in nanoseconds per item. All contenders must leave the same checksum behind.";

/// What to do.
pub enum Mode {
    Help,
    List,
    Measure,
    One { workload: Workload, contender: String, iterations: usize },
}

/// What the command line says.
pub struct Options {
    pub mode: Mode,
    pub workloads: Vec<Workload>,
    pub rounds: usize,
    pub seed: u64,
    pub json: Option<String>,
    pub markdown: Option<String>,
    pub plain: Option<String>,
    pub summary: Option<String>,
    pub svg: Option<String>,
    contenders: Vec<String>,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// When an option is unknown, lacks its value, or names nothing.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            mode: Mode::Measure,
            workloads: workload::ALL.to_vec(),
            rounds: 61,
            seed: 1,
            json: None,
            markdown: None,
            plain: None,
            summary: None,
            svg: None,
            contenders: Vec::new(),
        };
        let (mut one, mut iterations) = (None, 1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--help" | "-h" => options.mode = Mode::Help,
                "--list" => options.mode = Mode::List,
                "--workload" => options.workloads = workloads(&value()?)?,
                "--contender" => options.contenders = value()?.split(',').map(str::to_owned).collect(),
                "--no-curves" => options.workloads.retain(|workload| !workload.is_curve()),
                "--rounds" => options.rounds = number(&value()?)?.max(1),
                "--quick" => options.rounds = 7,
                "--seed" => options.seed = number(&value()?)? as u64,
                "--json" => options.json = Some(value()?),
                "--markdown" => options.markdown = Some(value()?),
                "--plain" => options.plain = Some(value()?),
                "--summary" => options.summary = Some(value()?),
                "--svg" => options.svg = Some(value()?),
                "--one" => one = Some((value()?, value()?)),
                "--iterations" => iterations = number(&value()?)?.max(1),
                _ => return Err(format!("unknown option {arg}")),
            }
        }
        if let Some((name, contender)) = one {
            let found = workload::ALL.iter().find(|workload| workload.name() == name);
            let workload = *found.ok_or_else(|| format!("no workload is called {name}"))?;
            options.mode = Mode::One { workload, contender, iterations };
        }
        Ok(options)
    }

    /// Whether a contender was asked for.
    pub fn takes(&self, contender: &Contender) -> bool {
        let name = contender.name();
        let asked = |wanted: &String| *wanted == name || wanted == contender.library;
        self.contenders.is_empty() || self.contenders.iter().any(asked)
    }

    /// How many samples a contender gives; runs over a million entities are long enough to need fewer.
    pub fn rounds_of(&self, workload: Workload) -> usize {
        if workload.is_curve() && workload.items() >= 1_000_000 { self.rounds.min(15) } else { self.rounds }
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn workloads(names: &str) -> Result<Vec<Workload>, String> {
    let mut found = Vec::new();
    for name in names.split(',') {
        let before = found.len();
        match workload::ALL.iter().find(|workload| workload.name() == name) {
            Some(workload) => found.push(*workload),
            None => found.extend(workload::ALL.iter().filter(|workload| workload.name().starts_with(name))),
        }
        if found.len() == before {
            return Err(format!("no workload is called {name}"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_whole_name_takes_one_workload() {
        assert_eq!(parse("--workload random_get").ok().map(|o| o.workloads), Some(vec![Workload::RandomGet]));
    }

    #[test]
    fn the_beginning_of_a_name_takes_all_that_begin_so() {
        assert_eq!(parse("--workload grow_iter").map(|options| options.workloads.len()).ok(), Some(4));
    }

    #[test]
    fn unknown_names_are_refused() {
        assert!(parse("--workload nonsense").is_err());
        assert!(parse("--one nonsense hecs").is_err());
        assert!(parse("--colour").is_err());
        assert!(parse("--rounds").is_err());
    }
}
