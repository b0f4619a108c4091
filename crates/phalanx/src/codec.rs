//! How values are written down, whatever format carries them: for saving worlds.
//!
//! ```text
//!   T ──serialize──▶ Shape + bytes ──▶ a readable format (JSON, RON)   names everywhere, row by row
//!                                  ──▶ a compact format, a file        the shape once per run of values
//! ```
//!
//! Both say what they hold: a [`Data`] by itself, bytes through their [`Shape`], which carries field names and types.
//! So a value of an older version can be read as a tree and changed before it becomes a value of today, and one that
//! is of no known type can be kept. Nothing that is read is trusted: counts are compared with the bytes that are left,
//! depth is limited, and no memory is set aside for what is only claimed. This file knows neither worlds nor components.

use std::fmt;

pub use data::Data;
pub(crate) use decode::{Budget, decode};
pub(crate) use encode::{Halt, encode, encode_fields};
pub(crate) use from_tagged::{FromTagged, from_data};
pub(crate) use reader::{Reader, put_entity, put_text, put_varint};
pub(crate) use shape::{Name, Shape};
pub(crate) use tagged::{Token, read_token, skip_tagged};
pub(crate) use to_data::ToData;
pub(crate) use to_tagged::to_tagged;
pub(crate) use transcode::Run;
pub(crate) use values::{ValueSink, ValueSource, shape_of, write_block, write_run};

mod data;
mod decode;
mod encode;
mod from_tagged;
mod reader;
mod shape;
mod tagged;
mod to_data;
mod to_tagged;
mod transcode;
mod tree;
mod values;

/// How deep values may lie in each other.
pub(crate) const MAX_DEPTH: u32 = 96;

/// Why a value cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::box_collection,
    reason = "one word: a result is handed on per part of a value, in registers"
)]
pub struct CodecError(Box<String>);

impl CodecError {
    #[cold]
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self(Box::new(message.to_string()))
    }

    /// The same error, within a field or an element.
    #[cold]
    pub(crate) fn within(self, place: impl fmt::Display) -> Self {
        Self::new(format_args!("{place}: {}", self.0))
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CodecError {}

impl serde::ser::Error for CodecError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message)
    }
}

impl serde::de::Error for CodecError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message)
    }
}
