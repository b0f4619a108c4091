//! A battle of two armies: the program that `cargo run --release` starts.
//!
//! Archers, soldiers and medics walk, aim, hit, heal, die and are replaced, through systems, messages, commands and a
//! fixed phase. The same seed gives the same battle and the same `digest:` line for every number of threads.
//!
//! ```text
//!   options    what the command line says        battle    components, armies, the schedule
//!   grid       who stands where                  systems   what happens in a frame
//!   report     progress, summary, digest
//! ```

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::process::ExitCode;
use std::time::Instant;

use options::Options;

mod battle;
mod grid;
mod options;
mod report;
mod systems;

fn main() -> ExitCode {
    match Options::from_args(std::env::args().skip(1)) {
        Ok(Some(options)) => run(&options),
        Ok(None) => {
            print!("{}", options::HELP);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}\n\n{}", options::HELP);
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> ExitCode {
    let mut app = battle::app(options);
    if let Some(file) = &options.picture
        && let Err(error) = report::write_picture(&app, file)
    {
        eprintln!("cannot write {file}: {error}");
        return ExitCode::FAILURE;
    }
    app.startup();
    let before = battle::count(app.world());
    let mut progress = report::Progress::new(options.frames);
    let start = Instant::now();
    let mut updated = 0;
    for frame in 0..options.frames {
        app.step(1.0 / 60.0);
        updated += app.world().entities().len();
        progress.show(frame + 1, app.world().entities().len());
    }
    progress.end();
    report::summary(&app, before, updated, start.elapsed());
    ExitCode::SUCCESS
}
