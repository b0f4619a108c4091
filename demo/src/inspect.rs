//! The battle with the inspector beside it: it lasts until the program is stopped, and is drawn in the browser.
//!
//! Frames are paced to sixty a second, so that a person can follow. Pausing and stepping come from the page; a frame that
//! the inspector holds back returns at once, and is asked for again. The last two seconds are kept, within 256 MB, so
//! that the page can go back in time; a hundred thousand fighters leave room for one second of them, and keeping it costs
//! about a quarter of a frame's time.

use std::time::{Duration, Instant};

use phalanx::prelude::App;
use phalanx_inspect::Inspector;

/// How long a frame is.
const FRAME: Duration = Duration::from_nanos(16_666_667);
/// How many frames can be gone back.
const KEPT: usize = 120;
/// What they may take together, in bytes.
const BUDGET: usize = 256 << 20;

/// Adds the inspector as the battle wants it.
pub fn add(app: &mut App) {
    let inspector = Inspector::default().in_release(true).allow_edits();
    app.add_plugins(inspector.map("Position.x", "Position.y", "Team.0"));
    app.keep_history_within(KEPT, BUDGET);
}

/// Fights on until the program is stopped.
pub fn run(app: &mut App) -> ! {
    eprintln!("open the address above in a browser; Ctrl+C ends the battle");
    loop {
        let start = Instant::now();
        app.step(FRAME.as_secs_f64());
        std::thread::sleep(FRAME.saturating_sub(start.elapsed()));
    }
}
