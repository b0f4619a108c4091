//! What can go wrong between ranks, in words.

use std::fmt;

/// Why ranks cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterError {
    /// A rank is gone.
    Lost {
        /// Who noticed.
        here: usize,
        /// Who is gone.
        rank: usize,
    },
    /// What a rank sent, or a file holds, cannot be read.
    Damaged {
        /// Where it came from.
        source: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file cannot be written or read.
    File {
        /// Its path.
        path: String,
        /// What the system said.
        message: String,
    },
}

impl ClusterError {
    pub(crate) fn damaged(source: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::Damaged { source: source.to_string(), message: message.to_string() }
    }

    pub(crate) fn file(path: &std::path::Path, message: impl fmt::Display) -> Self {
        Self::File { path: path.display().to_string(), message: message.to_string() }
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { here, rank } => write!(
                f,
                "rank {rank} is gone, as rank {here} noticed: restart from the last checkpoint, on any number of ranks"
            ),
            Self::Damaged { source, message } => write!(f, "{source} cannot be read: {message}"),
            Self::File { path, message } => write!(f, "{path}: {message}"),
        }
    }
}

impl std::error::Error for ClusterError {}
