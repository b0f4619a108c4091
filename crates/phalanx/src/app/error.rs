//! Why a frame cannot begin, or a system never runs.
//!
//! The reasons against a frame are found before anything runs, so the world is as it was.

use std::fmt;

use crate::schedule::BuildError;
use crate::world::NotCaptured;

/// Why start-up or a frame cannot begin.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum UpdateError {
    /// The time step is negative, not a number, or more than can be counted.
    Delta {
        /// The time step given.
        dt: f64,
    },
    /// The systems of a phase cannot be ordered.
    Build {
        /// The phase.
        phase: String,
        /// What is wrong with it.
        error: BuildError,
    },
    /// Frames are to be kept ([`App::keep_history`](super::App::keep_history)), and some types cannot be copied.
    NotCaptured(NotCaptured),
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delta { dt } => {
                write!(
                    f,
                    "a frame cannot take {dt} seconds: give zero or more, and so little that the time elapsed stays below \
                     584 billion years"
                )
            }
            Self::Build { phase, error } => write!(f, "phase `{phase}`: {error}"),
            Self::NotCaptured(error) => write!(f, "frames cannot be kept: {error}"),
        }
    }
}

impl std::error::Error for UpdateError {}

/// A system that was added to a phase of start-up which has run already, so that it will not run by itself.
///
/// It goes to the world's error handler: a panic unless there is one. The system is added all the same, for
/// [`App::run_phase`](super::App::run_phase).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddedTooLate {
    /// The phase.
    pub phase: String,
}

impl fmt::Display for AddedTooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it was added to phase `{}`, which has run already and does not run again: add it before the first frame, \
             or run it now with `world.run_system_once`",
            self.phase
        )
    }
}

impl std::error::Error for AddedTooLate {}
