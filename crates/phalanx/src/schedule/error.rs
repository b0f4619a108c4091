//! What can go wrong with a schedule.
//!
//! Contradictions are found when the order is worked out, before anything runs. Errors and panics of systems carry
//! the system's name.

use std::any::Any;
use std::fmt;

use super::SystemId;
use crate::system::BoxedError;

/// Systems that would each have to run before the next, in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderCycle {
    /// The systems on the circle, in the order they ask for.
    pub systems: Vec<String>,
}

impl fmt::Display for OrderCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "these systems cannot be ordered, each must run before the next: ")?;
        for system in &self.systems {
            write!(f, "`{system}` -> ")?;
        }
        write!(f, "`{}`: remove one of the constraints", self.systems.first().map_or("", String::as_str))
    }
}

impl std::error::Error for OrderCycle {}

/// A constraint that names no system of its schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownConstraint {
    /// The system or set that has the constraint.
    pub of: String,
    /// What it names.
    pub names: String,
}

impl fmt::Display for UnknownConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is ordered relative to `{}`, which has no system in this schedule: the constraint is ignored; \
             remove it, or add both to one phase",
            self.of, self.names
        )
    }
}

impl std::error::Error for UnknownConstraint {}

/// Why the order of a schedule cannot be worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The constraints contradict each other.
    Cycle(OrderCycle),
    /// A constraint names nothing, and the schedule is strict.
    Unknown(UnknownConstraint),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle(cycle) => cycle.fmt(f),
            Self::Unknown(unknown) => unknown.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<OrderCycle> for BuildError {
    fn from(cycle: OrderCycle) -> Self {
        Self::Cycle(cycle)
    }
}

/// There is no system with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoSuchSystem {
    /// The number asked for.
    pub id: SystemId,
}

impl fmt::Display for NoSuchSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no system {}: it was removed, or belongs to another app", self.id.get())
    }
}

impl std::error::Error for NoSuchSystem {}

/// An error that a system returned.
#[derive(Debug)]
#[non_exhaustive]
pub struct SystemError {
    /// The system.
    pub system: String,
    /// What it returned.
    pub error: BoxedError,
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "system `{}` failed: {}", self.system, self.error)
    }
}

impl std::error::Error for SystemError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.error)
    }
}

/// What is passed on when a system panics with something that is not text.
pub struct SystemPanic {
    /// The system.
    pub system: String,
    /// What it panicked with.
    pub payload: Box<dyn Any + Send>,
}

impl fmt::Debug for SystemPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemPanic").field("system", &self.system).finish_non_exhaustive()
    }
}

/// The panic to pass on: text with the system's name in front, or a [`SystemPanic`].
pub(crate) fn named_panic(system: &str, payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    let text = match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
        (Some(text), _) => Some(text.as_str()),
        (_, text) => text.copied(),
    };
    match text {
        Some(text) => Box::new(format!("system `{system}` panicked: {text}")),
        None => Box::new(SystemPanic { system: system.to_owned(), payload }),
    }
}
