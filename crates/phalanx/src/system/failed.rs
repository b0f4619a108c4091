//! Why a system could not run.
//!
//! A parameter that cannot be had, such as a resource that the world lacks, keeps its system from running; the error
//! goes to the error handler. It is found before the function is called, so nothing was done.

use std::error::Error;
use std::fmt;

use super::meta::ParamConflict;

/// A parameter that could not be had. One pointer wide, as each parameter of each run may return it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    param: String,
    reason: String,
}

impl ParamError {
    /// An error about a parameter: what it needs, and what to do.
    pub fn new(param: impl Into<String>, reason: impl Into<String>) -> Self {
        Self(Box::new(Parts { param: param.into(), reason: reason.into() }))
    }

    /// The parameter.
    pub fn param(&self) -> &str {
        &self.0.param
    }

    /// What the parameter needs, and what to do.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its parameter `{}` needs {}", self.param(), self.reason())
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
