//! Why a world could not be saved or loaded, and where.
//!
//! An error of loading names the place in the save as far as it is known: the part of the save, the component, the
//! entity, the field. Whatever it is, the world that was to be loaded into is as it was.

use std::fmt;

use crate::codec::CodecError;

/// Why a world cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The format could not be read: what the format says about it.
    Format {
        /// The error of the format.
        message: String,
    },
    /// The save is damaged, or does not fit together.
    Invalid {
        /// Where in the save.
        place: String,
        /// What is wrong there.
        message: String,
    },
    /// A type of the save is not in the registry.
    Unknown {
        /// Whether it is a component, a resource, a message or a pool.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A type has another version in the save, and no migration leads from there to here.
    Version {
        /// The name of the type.
        name: String,
        /// The version in the save.
        saved: u32,
        /// The version of the type in this program.
        current: u32,
    },
    /// A value could not be read as its type.
    Value {
        /// Which value: the component and the entity, the resource, or the message.
        place: String,
        /// What is wrong with it.
        message: String,
    },
}

impl LoadError {
    pub(crate) fn invalid(place: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::Invalid { place: place.to_string(), message: message.to_string() }
    }

    /// The same error, within a field or an element (`[3]`).
    #[cold]
    pub(crate) fn inside(self, step: &str) -> Self {
        match self {
            Self::Invalid { place, message } => {
                let dot = if place.is_empty() || place.starts_with('[') { "" } else { "." };
                Self::Invalid { place: format!("{step}{dot}{place}"), message }
            }
            other => other,
        }
    }

    /// The same error, at a place that has a name where it had none.
    pub(crate) fn somewhere_in(self, whole: &str) -> Self {
        match self {
            Self::Invalid { place, message } if place.is_empty() => Self::invalid(whole, message),
            other => other,
        }
    }

    pub(crate) fn value(place: impl fmt::Display, error: &CodecError) -> Self {
        Self::Value { place: place.to_string(), message: error.to_string() }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { message } => write!(f, "the save cannot be read: {message}"),
            Self::Invalid { place, message } => write!(f, "the save is not valid, in {place}: {message}"),
            Self::Unknown { kind, name } => {
                write!(
                    f,
                    "the save has a {kind} `{name}` that is not registered: add it to the `SaveRegistry`"
                )?;
                // Only components can be kept.
                let keep = ", or allow unknown components with `SaveRegistry::unknown`";
                f.write_str(if *kind == "component" { keep } else { "" })
            }
            Self::Version { name, saved, current } if saved > current => write!(
                f,
                "`{name}` has version {saved} in the save, but version {current} in this program, which is older"
            ),
            Self::Version { name, saved, current } => write!(
                f,
                "`{name}` has version {saved} in the save, but version {current} in this program: add \
                 `Migration::new(\"{name}\", {saved}..{})` to the `SaveRegistry`",
                saved + 1
            ),
            Self::Value { place, message } => write!(f, "{place} cannot be read: {message}"),
        }
    }
}

impl std::error::Error for LoadError {}
