//! Phalanx beside other entity component systems: one program, one run, all contenders interleaved.
//!
//! `--help` lists the options; `bench/README.md` says what is measured and how.

use std::process::ExitCode;

use machine::Machine;
use measure::Outcome;
use options::{Mode, Options};
use phalanx_measuring::{cache, checksum, contender, machine, random};
use random::Random;

mod bars;
mod measure;
mod options;
mod peers;
mod report;
mod shapes;
mod workload;

/// The crates of the contenders, as the lock file names them.
const CRATES: &[&str] = &["phalanx", "bevy_ecs", "hecs", "shipyard", "flecs_ecs", "sparsey", "gecs"];

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::HELP);
            return ExitCode::FAILURE;
        }
    };
    let result = match &options.mode {
        Mode::Help => {
            println!("{}", options::HELP);
            Ok(())
        }
        Mode::List => {
            list(&options);
            Ok(())
        }
        Mode::One { workload, contender, iterations } => one(*workload, contender, *iterations),
        Mode::Measure => measure_all(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn list(options: &Options) {
    for &workload in &options.workloads {
        println!("{:<22} {:>7}  {}", workload.name(), workload.number(), workload.about());
        let names: Vec<String> = chosen(options, workload).iter().map(contender::Contender::name).collect();
        println!("{:<22}          {}", "", names.join(" "));
    }
}

/// Runs one contender a given number of times, for tools that count instructions or samples.
fn one(workload: workload::Workload, name: &str, iterations: usize) -> Result<(), String> {
    let contenders = peers::contenders(workload);
    let Some(contender) = contenders.iter().find(|contender| contender.name() == name) else {
        let names: Vec<String> = contenders.iter().map(contender::Contender::name).collect();
        return Err(format!("{} has no contender `{name}`; there are {}", workload.name(), names.join(", ")));
    };
    let mut session = contender.start();
    session.sample(iterations);
    println!("{} {} {iterations} {} {:016x}", workload.name(), name, workload.items(), session.checksum());
    Ok(())
}

fn chosen(options: &Options, workload: workload::Workload) -> Vec<contender::Contender> {
    let mut contenders = peers::contenders(workload);
    contenders.retain(|contender| options.takes(contender));
    contenders
}

fn measure_all(options: &Options) -> Result<(), String> {
    let mut random = Random::new(options.seed);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for &workload in &options.workloads {
        let contenders = chosen(options, workload);
        if contenders.is_empty() {
            continue;
        }
        let rounds = options.rounds_of(workload);
        let outcome = measure::measure(workload, &contenders, rounds, &mut random)
            .map_err(|mismatch| mismatch.to_string())?;
        print!("{}", report::text::outcome(&outcome));
        outcomes.push(outcome);
    }
    print!("{}", report::plain::misses(&outcomes));
    let machine = Machine::look(CRATES, options.rounds, options.seed);
    let write = |path: &Option<String>, text: &dyn Fn() -> String| match path {
        Some(path) => std::fs::write(path, text()).map_err(|error| format!("{path}: {error}")),
        None => Ok(()),
    };
    write(&options.json, &|| report::json::render(&machine, &outcomes))?;
    write(&options.markdown, &|| report::markdown::render(&machine, &outcomes))?;
    write(&options.plain, &|| report::plain::render(&outcomes))?;
    write(&options.summary, &|| report::summary::render(&machine, &outcomes))?;
    write(&options.svg, &|| report::svg::render(&machine, &outcomes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_has_a_version() {
        assert!(CRATES.iter().all(|name| !machine::version(name).is_empty()));
    }
}
