//! Why a system could not run.
//!
//! A parameter that cannot be had, such as a resource that the world lacks, keeps its system from running; the error
//! goes to the error handler. It is found before the function is called, so nothing was done.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use super::meta::ParamConflict;
use super::names::short_type_name;
use crate::world::BoxedError;

/// A parameter that could not be had. One pointer wide, as each parameter of each run may return it.
#[derive(Debug)]
pub struct ParamError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    param: Cow<'static, str>,
    reason: Cow<'static, str>,
    /// Whether the system is quietly not run.
    skips: bool,
    /// In a schedule, the error that the system itself returned: so a run returns in one register.
    returned: Option<BoxedError>,
}

impl ParamError {
    /// An error about a parameter: what it needs, and what to do.
    pub fn new(param: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts { param: param.into(), reason: reason.into(), skips: false, returned: None }))
    }

    /// As [`ParamError::new`], for a parameter without which the system is quietly not run.
    pub fn skip(param: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(param, reason).into_skip()
    }

    /// The same, without a report.
    #[must_use]
    pub fn into_skip(mut self) -> Self {
        self.0.skips = true;
        self
    }

    /// Whether the system is quietly not run.
    pub fn is_skip(&self) -> bool {
        self.0.skips
    }

    /// The error that a system of a schedule returned.
    #[cold]
    pub(crate) fn returned(error: BoxedError) -> Self {
        let nothing = Cow::Borrowed("");
        Self(Box::new(Parts { param: nothing.clone(), reason: nothing, skips: false, returned: Some(error) }))
    }

    /// Whether the system ran, and returned an error of its own.
    pub(crate) fn is_returned(&self) -> bool {
        self.0.returned.is_some()
    }

    /// The error that the system returned, or this one.
    pub(crate) fn into_error(mut self) -> BoxedError {
        match self.0.returned.take() {
            Some(error) => error,
            None => self.into(),
        }
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
        write!(f, "its parameter `{}` needs {}", short_type_name(self.param()), self.reason())
    }
}

impl Error for ParamError {}

/// Why a system could not be run once.
#[derive(Debug)]
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
