//! Why a frame cannot begin.
//!
//! Both reasons are found before anything runs, so the world is as it was.

use std::fmt;

use crate::schedule::BuildError;

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
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delta { dt } => {
                write!(
                    f,
                    "a frame cannot take {dt} seconds: give zero or more, and not so much that time overflows"
                )
            }
            Self::Build { phase, error } => write!(f, "phase `{phase}`: {error}"),
        }
    }
}

impl std::error::Error for UpdateError {}
