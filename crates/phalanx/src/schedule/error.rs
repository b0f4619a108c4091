//! What can go wrong with a schedule.
//!
//! Contradictions are found when the order is worked out, before anything runs. Panics of systems carry the system's
//! name.

use std::any::Any;
use std::fmt;

use super::{Ambiguity, SystemKey};
use crate::system::ParamConflict;

/// Systems or sets that would each have to come before the next, in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderCycle {
    /// The systems on the cycle, in the order they ask for.
    pub systems: Vec<String>,
    /// The whole cycle: its systems, and the sets by which they are ordered.
    pub path: Vec<String>,
    /// Whether it is a cycle of sets of which each lies in the one before.
    pub hierarchy: bool,
}

impl fmt::Display for OrderCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.path.first().map_or("", String::as_str);
        match (self.hierarchy, self.path.len()) {
            (true, _) => write!(f, "these sets lie in each other, each contains the next: ")?,
            (false, 1) => {
                let itself = "it is ordered before or after itself, or a set that it lies in";
                return write!(f, "`{first}` cannot be ordered: {itself}; remove that constraint");
            }
            (false, _) if self.systems.is_empty() => {
                write!(f, "these sets cannot be ordered, each must come before the next: ")?;
            }
            (false, _) => write!(f, "these systems cannot be ordered, each must run before the next: ")?,
        }
        for part in &self.path {
            write!(f, "`{part}` -> ")?;
        }
        let what = if self.hierarchy { "`in_set`s" } else { "constraints" };
        write!(f, "`{first}`: remove one of the {what}")
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
    /// Whether that is a function, and no label.
    pub(crate) is_function: bool,
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

/// A constraint that names a function of which the schedule has several systems.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedSystem {
    /// The system or set that has the constraint.
    pub of: String,
    /// The function that it names.
    pub names: String,
    /// How many systems there are of it.
    pub systems: usize,
}

impl fmt::Display for RepeatedSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, names, systems } = self;
        write!(
            f,
            "`{of}` is ordered relative to `{names}`, which was added {systems} times: the order holds for all of them; \
             add it once, or put the one that is meant into a set and name that"
        )
    }
}

impl std::error::Error for RepeatedSystem {}

/// Writes a warning to the standard error, or to the log with the feature `trace`.
pub(crate) fn tell_warning(warning: &dyn fmt::Display) {
    #[cfg(feature = "trace")]
    tracing::warn!("{warning}");
    #[cfg(not(feature = "trace"))]
    eprintln!("warning: {warning}");
}

/// Why the order of a schedule cannot be worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The constraints contradict each other.
    Cycle(OrderCycle),
    /// A constraint names nothing, and the schedule is strict.
    Unknown(UnknownConstraint),
    /// Systems conflict, their order is not declared, and the schedule is to be without such.
    Ambiguous(Vec<Ambiguity>),
    /// Parameters of a system or a condition conflict.
    Params(Box<ParamConflict>),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle(cycle) => cycle.fmt(f),
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::Ambiguous(pairs) => {
                for (at, pair) in pairs.iter().enumerate() {
                    let between = if at > 0 { "\n" } else { "" };
                    write!(f, "{between}{pair}")?;
                }
                Ok(())
            }
            Self::Params(conflict) => conflict.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<OrderCycle> for BuildError {
    fn from(cycle: OrderCycle) -> Self {
        Self::Cycle(cycle)
    }
}

impl From<ParamConflict> for BuildError {
    fn from(conflict: ParamConflict) -> Self {
        Self::Params(Box::new(conflict))
    }
}

/// There is no system with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoSuchSystem {
    /// The number asked for.
    pub id: SystemKey,
}

impl fmt::Display for NoSuchSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no system {}: it was removed, or belongs to another app", self.id.get())
    }
}

impl std::error::Error for NoSuchSystem {}

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

/// Says which system panicked. The panic itself was reported when it happened, without the system's name.
pub(crate) fn tell_panic(system: &str) {
    #[cfg(feature = "trace")]
    tracing::error!("system `{system}` panicked");
    #[cfg(not(feature = "trace"))]
    eprintln!("system `{system}` panicked");
}
