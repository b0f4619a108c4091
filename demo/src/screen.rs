//! The battlefield as a picture of characters, and the bar below it while the battle lasts.
//!
//! On a terminal the picture is redrawn in place, in two colours; elsewhere a line says now and then how far the battle
//! is. All of it goes to the error stream, so that the standard output holds results alone.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use phalanx::prelude::*;

use crate::battle::{FIELD, Position, Team};

const ROWS: usize = 20;
const COLUMNS: usize = 72;
/// Steps of the bar on a terminal, and lines elsewhere.
const STEPS: (u64, u64) = (60, 5);

/// What the user sees while the battle lasts.
pub struct Screen {
    frames: u32,
    terminal: bool,
    shown: u64,
    drawn: bool,
}

impl Screen {
    pub fn new(frames: u32) -> Self {
        Self { frames, terminal: std::io::stderr().is_terminal(), shown: 0, drawn: false }
    }

    /// `frame` frames are done.
    pub fn show(&mut self, frame: u32, world: &World) {
        let steps = if self.terminal { STEPS.0 } else { STEPS.1 };
        let done = u64::from(frame) * steps / u64::from(self.frames.max(1));
        if done == self.shown {
            return;
        }
        self.shown = done;
        let fighting = world.view_filtered::<(), With<Team>>().count();
        let mut text = String::new();
        if self.terminal {
            if self.drawn {
                let _ = write!(text, "\x1b[{}A", ROWS + 1); // back up over the last picture
            }
            self.drawn = true;
            text.push_str(&map(world, true));
            let full = usize::try_from(done * 40 / steps).unwrap_or(40);
            let bar = "#".repeat(full) + &"-".repeat(40 - full);
            let _ = writeln!(text, "[{bar}] frame {frame} of {}, {fighting} fighting\x1b[K", self.frames);
        } else {
            let _ = writeln!(text, "frame {frame} of {}, {fighting} fighting", self.frames);
        }
        // Nothing is lost when the picture cannot be shown.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Which team holds which part of the field: one character per part, `o` and `x` for the teams, larger where there are
/// many.
pub fn map(world: &World, coloured: bool) -> String {
    let mut counts = vec![[0_u32; 2]; ROWS * COLUMNS];
    #[allow(clippy::cast_possible_truncation, reason = "a part of the field is a small number")]
    let part = |value: f32, parts: usize| {
        let at = (value + FIELD) / (2.0 * FIELD) * parts as f32;
        (at.max(0.0) as usize).min(parts - 1)
    };
    for (position, team) in world.view::<(&Position, &Team)>() {
        let at = part(*position.y, ROWS) * COLUMNS + part(*position.x, COLUMNS);
        counts[at][usize::from(team.0)] += 1;
    }
    let most = counts.iter().map(|both| both[0] + both[1]).max().unwrap_or(0).max(1);
    let mut text = String::new();
    for row in counts.chunks(COLUMNS) {
        let mut colour = None;
        for both in row {
            let team = usize::from(both[1] > both[0]);
            let many = (both[0] + both[1]) * 3 > most;
            let mark = match (both[0] + both[1], team, many) {
                (0, ..) => ' ',
                (_, 0, false) => 'o',
                (_, 0, true) => 'O',
                (.., false) => 'x',
                _ => 'X',
            };
            if coloured && mark != ' ' && colour != Some(team) {
                colour = Some(team);
                text.push_str(["\x1b[34m", "\x1b[31m"][team]);
            }
            text.push(mark);
        }
        text.push_str(if coloured { "\x1b[0m\n" } else { "\n" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_shows_each_team_where_it_stands() {
        let mut world = World::new();
        world.spawn((Position { x: -FIELD, y: -FIELD }, Team(0)));
        world.spawn((Position { x: FIELD, y: FIELD }, Team(1)));
        let map = map(&world, false);
        let lines: Vec<&str> = map.lines().collect();
        assert_eq!(
            (lines.len(), lines[0].chars().next(), lines[ROWS - 1].chars().last()),
            (ROWS, Some('O'), Some('X'))
        );
        assert_eq!(map.matches(['o', 'O', 'x', 'X']).count(), 2);
    }

    #[test]
    fn an_empty_field_is_drawn_empty() {
        assert!(map(&World::new(), false).trim().is_empty());
    }
}
