//! Why a system could not run.
//!
//! A parameter that cannot be had, such as a resource that the world lacks, keeps its system from running; the error
//! goes to the error handler. It is found before the function is called, so nothing was done.

use std::error::Error;
use std::fmt;

use super::meta::ParamConflict;

/// A parameter that could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamError {
    /// The parameter.
    pub param: String,
    /// What is wrong, and what to do.
    pub reason: String,
}

impl ParamError {
    /// An error about a parameter: what is wrong, and what to do.
    pub fn new(param: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { param: param.into(), reason: reason.into() }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its parameter `{}` needs {}", self.param, self.reason)
    }
}

impl Error for ParamError {}

/// Why a system could not be run once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunSystemError {
    /// Two of its parameters conflict.
    Conflict(ParamConflict),
    /// One of its parameters could not be had.
    Param {
        /// The system.
        system: String,
        /// What is wrong.
        error: ParamError,
    },
}

impl fmt::Display for RunSystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Param { system, error } => write!(f, "system `{system}` failed: {error}"),
        }
    }
}

impl Error for RunSystemError {}
