//! What can go wrong, in words.

use std::fmt;

/// Why values cannot be exported or imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowError {
    /// A batch has a component that neither the types nor the world know.
    UnknownComponent {
        /// The component's name in the batch.
        component: String,
    },
    /// A row of a batch cannot become a value.
    Row {
        /// The component.
        component: String,
        /// The row of the batch, from 0.
        row: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The columns of a batch do not fit together, or are of a type that no component has.
    Batch {
        /// What is wrong.
        message: String,
    },
    /// Arrow, Parquet or the file system refused.
    File {
        /// What they said.
        message: String,
    },
}

impl ArrowError {
    pub(crate) fn batch(message: impl fmt::Display) -> Self {
        Self::Batch { message: message.to_string() }
    }

    pub(crate) fn file(message: impl fmt::Display) -> Self {
        Self::File { message: message.to_string() }
    }

    pub(crate) fn row(component: &str, row: usize, message: impl fmt::Display) -> Self {
        Self::Row { component: component.to_owned(), row, message: message.to_string() }
    }
}

impl fmt::Display for ArrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownComponent { component } => write!(
                f,
                "the batch has component `{component}`, which is unknown here: add its type with `ArrowTypes::with`, \
                 register it in the world, or drop its columns"
            ),
            Self::Row { component, row, message } => {
                write!(f, "row {row} cannot become a `{component}`: {message}")
            }
            Self::Batch { message } => write!(f, "the record batch cannot be used: {message}"),
            Self::File { message } => write!(f, "the file cannot be written or read: {message}"),
        }
    }
}

impl std::error::Error for ArrowError {}

/// Why a value cannot be part of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueError(pub(crate) String);

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ValueError {}

impl serde::ser::Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl serde::de::Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}
