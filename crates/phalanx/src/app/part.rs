//! A frame in parts: one system after the other, with the world to be looked at in between.
//!
//! ```text
//!   step_system   the clocks move on, then the first system runs
//!   step_system   the second
//!   ..
//!   finish_frame  the rest, or what `update` and `step` do in this case
//! ```
//!
//! Clocks, messages and the number of the frame are those of one frame, however many parts it has. Commands are applied
//! after each part, so later systems may see them earlier than in a whole frame.

use std::collections::VecDeque;
use std::time::Duration;

use super::frame::Step;
use super::phase::When;
use super::{App, UpdateError};
use crate::schedule::Label;

/// What is left of a frame that was begun.
pub(super) struct Part {
    left: VecDeque<Piece>,
    /// How many systems of the first piece have run.
    place: usize,
    delta: Duration,
}

#[derive(Clone, Copy)]
enum Piece {
    /// A phase, by its position.
    Phase(usize),
    /// The fixed phases, as often as their time has come.
    Fixed,
    /// The clock of the fixed phases moves on.
    FixedStep,
    /// The clock of the frame is shown again.
    FixedEnd,
    /// States change.
    Transitions,
}

impl App {
    /// Runs the next system of a frame of `dt` seconds, and begins the frame if none was begun. The phase and the
    /// name of the system, which may have been skipped by its condition; `None` when none was left, and the frame has ended.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Resource, Default)]
    /// struct Log(Vec<&'static str>);
    /// fn first(mut log: ResMut<Log>) { log.0.push("first") }
    /// fn second(mut log: ResMut<Log>) { log.0.push("second") }
    ///
    /// let mut app = App::new();
    /// app.init_resource::<Log>().add_systems(Update, (first, second).chain());
    /// let (phase, system) = app.step_system(0.1).unwrap().unwrap();
    /// assert_eq!((phase.to_string().as_str(), system.as_str()), ("Update", "first"));
    /// assert_eq!(app.world().resource::<Log>().0, ["first"]);
    /// app.finish_frame();
    /// assert_eq!(app.world().resource::<Log>().0, ["first", "second"]);
    /// ```
    ///
    /// # Errors
    /// When `dt` is negative, not finite or too large, or systems cannot be ordered; then nothing has run.
    ///
    /// # Panics
    /// When the system does.
    #[track_caller]
    pub fn step_system(&mut self, dt: f64) -> Result<Option<(Label, String)>, UpdateError> {
        if self.part.is_none() {
            let real = Duration::try_from_secs_f64(dt).map_err(|_| UpdateError::Delta { dt })?;
            let delta = self.start_frame(self.given_time(real))?;
            let steps = self.steps.iter().flatten().map(|step| match *step {
                Step::Phase(at) => Piece::Phase(at),
                Step::Fixed => Piece::Fixed,
                Step::Transitions => Piece::Transitions,
            });
            self.part = Some(Part { left: steps.collect(), place: 0, delta });
        }
        while let Some((piece, place)) = self.next_piece() {
            let Piece::Phase(at) = piece else {
                self.run_piece(piece);
                continue;
            };
            if let Some(part) = &mut self.part {
                part.place += 1;
            }
            if let Some(name) = self.run_part_of(at, place, place + 1) {
                return Ok(Some((self.phases[at].label.clone(), name)));
            }
            self.drop_piece();
        }
        self.end_part()?;
        Ok(None)
    }

    /// Runs the rest of a frame that [`App::step_system`] began; nothing if there is none. [`App::update`] and
    /// [`App::step`] do this instead of a whole frame.
    ///
    /// # Panics
    /// When a system does, or an app beside this one cannot run its frame.
    #[track_caller]
    pub fn finish_frame(&mut self) {
        if self.part.is_none() {
            return;
        }
        while let Some((piece, place)) = self.next_piece() {
            if let Piece::Phase(at) = piece {
                self.drop_piece();
                self.run_part_of(at, place, usize::MAX);
            } else {
                self.run_piece(piece);
            }
        }
        if let Err(error) = self.end_part() {
            panic!("{error}");
        }
    }

    /// Whether a frame was begun and has not ended.
    pub fn is_in_frame(&self) -> bool {
        self.part.is_some()
    }

    fn next_piece(&self) -> Option<(Piece, usize)> {
        let part = self.part.as_ref()?;
        part.left.front().map(|piece| (*piece, part.place))
    }

    fn drop_piece(&mut self) {
        if let Some(part) = &mut self.part {
            part.left.pop_front();
            part.place = 0;
        }
    }

    #[track_caller]
    fn end_part(&mut self) -> Result<(), UpdateError> {
        self.part = None;
        self.end_frame()
    }

    #[track_caller]
    fn run_part_of(&mut self, at: usize, from: usize, to: usize) -> Option<String> {
        let phase = &mut self.phases[at];
        match phase.schedule.run_part(&mut self.world, from..to) {
            Ok(name) => name,
            Err(error) => panic!("phase `{}`: {error}", phase.label),
        }
    }

    /// Does what lies between the phases.
    fn run_piece(&mut self, piece: Piece) {
        self.drop_piece();
        match piece {
            Piece::Fixed => {
                let delta = self.part.as_ref().map_or(Duration::ZERO, |part| part.delta);
                let due = self.due_fixed_steps(delta);
                let phases = self.runs(When::Fixed).map(Piece::Phase);
                let step: Vec<Piece> = std::iter::once(Piece::FixedStep).chain(phases).collect();
                let pieces = step.repeat(usize::try_from(due).unwrap_or(usize::MAX));
                if let Some(part) = &mut self.part {
                    let rest = std::mem::take(&mut part.left);
                    part.left = pieces.into_iter().chain([Piece::FixedEnd]).chain(rest).collect();
                }
            }
            Piece::FixedStep => self.begin_fixed_step(),
            Piece::FixedEnd => self.end_fixed_steps(),
            Piece::Transitions => self.run_transitions(),
            Piece::Phase(_) => {}
        }
    }
}
