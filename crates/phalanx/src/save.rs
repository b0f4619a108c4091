//! Saving worlds and loading them again, in any format of serde, and in files.
//!
//! What has the attribute `save` is saved: components, resources and messages with `Serialize` and `Deserialize`, and
//! components that were described at run time. Entities keep their ids; the free list, the order of rows, sets and
//! groups are kept, so that the loaded world goes on exactly as the saved one would have: the next ids are the same,
//! and queries visit in the same order.
//!
//! ```
//! use phalanx::prelude::*;
//! use phalanx::save::SaveRegistry;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Component, Serialize, Deserialize, PartialEq, Debug)]
//! #[component(save, name = "game.Health")]
//! struct Health(f32);
//!
//! let mut world = World::new();
//! let hero = world.spawn(Health(7.5)).id();
//! let mut text = Vec::new();
//! world.save(&mut serde_json::Serializer::pretty(&mut text)).unwrap();
//!
//! let mut types = SaveRegistry::new();
//! types.register::<Health>();
//! let loaded = World::load(&mut serde_json::Deserializer::from_slice(&text), &types).unwrap();
//! assert_eq!(loaded.get::<Health>(hero), Some(&Health(7.5)));
//! ```
//!
//! Readable formats (JSON, RON) get rows with names, others (postcard) get columns. Loading announces nothing: no hook
//! and no observer runs, and all that was loaded counts as added and changed at the moment of loading. A save is not
//! trusted: whatever is wrong with it is an error that says where, and no world is touched.

use std::fmt;

use phalanx_store::entity_map_scope;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeSeq, Serializer};

use chunk::Chunks;
use image::Image;
use plan::Plan;

use crate::codec::to_tagged;
use crate::world::World;

pub use crate::codec::Data;
pub use crate::component::Saved as SavedComponent;
pub use crate::messages::SavedMessage;
pub use error::LoadError;
pub use file::{FileError, FileMark};
pub use filter::{SaveFilter, SaveReport, Saved};
pub use into::{LoadedInto, Loader};
pub use kept::{KeptComponent, KeptComponents};
pub use migration::Migration;
#[doc(hidden)]
pub use registry::name_or_type;
pub use registry::{Save, SaveRegistry, Unknown};

mod build;
mod chunk;
mod compact;
mod decode;
mod error;
mod file;
mod filter;
mod image;
mod into;
mod kept;
mod migration;
mod plan;
mod readable;
mod registry;

impl World {
    /// Writes everything that can be saved. The report says by name what is not.
    ///
    /// # Errors
    /// When a value, or the format, fails, and when two resources or two messages have one name in saves.
    pub fn save<S: Serializer>(&self, serializer: S) -> Result<Saved<S::Ok>, S::Error> {
        self.save_filtered(serializer, &SaveFilter::new())
    }

    /// As [`World::save`], for a part of the world.
    ///
    /// # Errors
    /// When a value, or the format, fails.
    pub fn save_filtered<S: Serializer>(
        &self,
        serializer: S,
        filter: &SaveFilter<'_>,
    ) -> Result<Saved<S::Ok>, S::Error> {
        let plan = Plan::new(self, filter);
        plan.check().map_err(S::Error::custom)?;
        let output = if serializer.is_human_readable() {
            readable::Document(&plan).serialize(serializer)?
        } else {
            write_compact(&plan, serializer)?
        };
        Ok(Saved { output, report: plan.report })
    }

    /// What a save would hold, and what it would lack.
    pub fn save_report(&self, filter: &SaveFilter<'_>) -> SaveReport {
        Plan::new(self, filter).report
    }

    /// Makes a world of a save.
    ///
    /// # Errors
    /// When the save cannot be read, is damaged, or has types that the registry does not know in this version.
    pub fn load<'de, D: Deserializer<'de>>(
        deserializer: D,
        registry: &SaveRegistry,
    ) -> Result<Self, LoadError> {
        entity_map_scope(None, || {
            let image = read(deserializer)?;
            let now = phalanx_store::Store::new().tick();
            build::build(decode::decode(image, registry, now)?, registry)
        })
    }
}

fn write_compact<S: Serializer>(plan: &Plan<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let keys = plan.keys();
    let mut list = serializer.serialize_seq(Some(keys.len()))?;
    for key in keys {
        let mut bytes = Vec::new();
        key.write(&mut bytes);
        bytes.extend(plan.piece(key).map_err(S::Error::custom)?);
        list.serialize_element(&Bytes(bytes))?;
    }
    list.end()
}

/// Reads a save in whatever form its format has.
fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Image, LoadError> {
    let format = |error: D::Error| LoadError::Format { message: error.to_string() };
    if deserializer.is_human_readable() {
        return readable::read(to_tagged(deserializer).map_err(format)?);
    }
    compact::read(deserializer.deserialize_seq(Pieces).map_err(format)??)
}

/// A byte string.
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(ByteString)
    }
}

struct ByteString;

impl<'de> Visitor<'de> for ByteString {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes(bytes.to_vec()))
    }
    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
        Ok(Bytes(bytes))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Bytes, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(Bytes(bytes))
    }
}

/// The pieces of a compact save.
struct Pieces;

impl<'de> Visitor<'de> for Pieces {
    type Value = Result<Chunks, LoadError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pieces of a saved world")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut chunks = Chunks::default();
        let mut at = 0;
        while let Some(Bytes(bytes)) = seq.next_element()? {
            if let Err(error) = chunks.add(at, &bytes) {
                return Ok(Err(error));
            }
            at += 1;
        }
        Ok(Ok(chunks))
    }
}
