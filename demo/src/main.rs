//! A battle of two armies: the program that `cargo run --release` starts.
//!
//! Archers, soldiers and medics walk, aim, hit, heal, die and are replaced, through systems, messages, commands and a
//! fixed phase. The same seed gives the same battle and the same `digest:` line for every number of threads.
//!
//! ```text
//!   options    what the command line says        battle    components, armies, the schedule
//!   grid       where fighters stand              systems   what happens in a frame
//!   report     summary, digest, picture            screen    the field while the battle lasts
//!   inspect    the battle in a browser
//! ```

#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::io::{self, Write as _};
use std::time::Instant;

use options::Options;
use phalanx::app::AppCheckpoint;
use phalanx::prelude::*;

mod battle;
mod grid;
mod inspect;
mod options;
mod report;
mod screen;
mod systems;

fn main() -> AppExit {
    match Options::from_args(std::env::args().skip(1)) {
        Ok(Some(options)) => start(options),
        Ok(None) => {
            // A closed pipe ends the demo without an error.
            let _ = io::stdout().lock().write_all(options::HELP.as_bytes());
            AppExit::Success
        }
        Err(error) => {
            eprintln!("{error}\n\n{}", options::HELP);
            AppExit::error()
        }
    }
}

fn start(mut options: Options) -> AppExit {
    if options.inspect {
        // It ends when the program does.
        options.frames = u32::MAX;
    }
    let mut app = battle::app(&options);
    if let Some(file) = &options.picture
        && let Err(error) = report::write_picture(&app, file)
    {
        eprintln!("cannot write {file}: {error}");
        return AppExit::error();
    }
    let threads = match options.threads {
        Threads::Auto => format!("{} threads", std::thread::available_parallelism().map_or(1, usize::from)),
        Threads::N(count) => format!("{count} threads"),
        _ => "one thread".to_owned(),
    };
    let words = format!("a battle of {} fighters, seed {}, on {threads}\n", options.entities, options.seed);
    let _ = io::stderr().lock().write_all(words.as_bytes());
    if let Some(file) = &options.load {
        match battle::load(&mut app, file, options.frames) {
            Ok(last) => options.frames = last,
            Err(error) => {
                eprintln!("cannot load {file}: {error}");
                return AppExit::error();
            }
        }
    }
    if options.inspect {
        inspect::add(&mut app);
        app.set_runner(|mut app| inspect::run(&mut app));
        return app.run();
    }
    app.set_runner(move |app| fight(app, options.frames, options.rewind, options.save.as_deref()));
    app.run()
}

/// Runs the battle to its end, frame by frame of the same length, and shows it. The last `rewind` frames are run twice.
fn fight(mut app: App, frames: u32, rewind: u32, save: Option<&str>) -> AppExit {
    app.startup();
    let before = battle::count(app.world());
    let mut screen = screen::Screen::new(frames);
    let start = Instant::now();
    let mut updated = 0;
    let mut exit = (frames == 0).then_some(AppExit::Success);
    let mut kept = None;
    while exit.is_none() {
        if rewind > 0 && app.world().resource::<Time>().frame() == u64::from(frames.saturating_sub(rewind)) {
            kept = Some(app.checkpoint());
        }
        app.step(1.0 / 60.0);
        updated += app.world().entities().len();
        let frame = u32::try_from(app.world().resource::<Time>().frame()).unwrap_or(frames);
        screen.show(frame, app.world());
        exit = app.should_exit();
    }
    if let Some(kept) = kept
        && let Err(error) = run_again(&mut app, &kept)
    {
        eprintln!("{error}");
        return AppExit::error();
    }
    if let Some(file) = save {
        match app.world().write_file(file) {
            Ok(mark) => eprintln!("{file}: {}", mark.report()),
            Err(error) => {
                eprintln!("cannot save {file}: {error}");
                return AppExit::error();
            }
        }
    }
    match report::summary(&mut io::stdout().lock(), &app, before, updated, start.elapsed()) {
        // A closed pipe ends the demo without an error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("cannot write the summary: {error}");
            AppExit::error()
        }
        _ => exit.unwrap_or_default(),
    }
}

/// Takes the frames since a checkpoint back and runs them again, which must give the same world.
fn run_again(app: &mut App, kept: &AppCheckpoint) -> Result<(), String> {
    let (end, digest) = (app.world().resource::<Time>().frame(), app.world().digest());
    app.restore(kept).map_err(|error| error.to_string())?;
    while app.world().resource::<Time>().frame() < end {
        app.step(1.0 / 60.0);
    }
    let frames = end - kept.frame();
    if app.world().digest() != digest {
        return Err(format!("{frames} frames that were run again gave another world"));
    }
    let words = format!("{frames} frames taken back and run again: the same world, {digest}\n");
    let _ = io::stderr().lock().write_all(words.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn battle_after(options: &Options, frames: u32) -> App {
        let mut app = battle::app(options);
        app.startup();
        (0..frames).for_each(|_| app.step(1.0 / 60.0));
        app
    }

    #[test]
    fn frames_that_are_taken_back_and_run_again_give_the_same_battle() {
        let options = Options { entities: 600, frames: 60, threads: Threads::Serial, ..Options::default() };
        let mut app = battle_after(&options, 40);
        let kept = app.checkpoint();
        (0..15).for_each(|_| app.step(1.0 / 60.0));
        run_again(&mut app, &kept).expect("the same battle");
        assert_eq!(app.world().digest(), battle_after(&options, 55).world().digest());
    }

    #[test]
    fn a_battle_that_goes_another_way_is_noticed() {
        let options = Options { entities: 600, frames: 60, threads: Threads::Serial, ..Options::default() };
        let mut app = battle_after(&options, 5);
        let kept = app.checkpoint();
        app.step(1.0 / 60.0);
        app.world_mut().spawn_empty();
        let error = run_again(&mut app, &kept).expect_err("nobody spawns it again");
        assert!(error.contains("another world"), "{error}");
    }
}
