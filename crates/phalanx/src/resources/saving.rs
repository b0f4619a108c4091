//! How a resource is written down and read again.
//!
//! `#[resource(save)]` gives the type its [`ResourceSaving`], which the world keeps beside the value.

use std::any::Any;
use std::borrow::Cow;

use phalanx_store::Tick;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Resource, Resources};
use crate::codec::{CodecError, Halt, ValueSink, ValueSource};

/// How the value of one resource type is written and read.
#[derive(Clone, Copy, Debug)]
pub struct ResourceSaving {
    name: fn() -> Cow<'static, str>,
    pub(crate) version: u32,
    /// Writes the value, if there is one.
    pub(crate) write: fn(&Resources, &mut ValueSink<'_>) -> Result<(), Halt>,
    pub(crate) read: fn(&mut ValueSource) -> Result<Box<dyn LoadedResource>, CodecError>,
}

impl ResourceSaving {
    /// For types with `#[resource(save)]`.
    #[doc(hidden)]
    pub fn of<R: Resource + Serialize + DeserializeOwned>(
        name: fn() -> Cow<'static, str>,
        version: u32,
    ) -> Self {
        Self {
            name,
            version,
            write: |resources, sink| resources.get::<R>().map_or(Ok(()), |value| sink.push(value)),
            read: |source| {
                let value: R = source.next()?;
                source.finish()?;
                Ok(Box::new(Loaded(value)))
            },
        }
    }

    /// The name in saves.
    pub fn name(&self) -> Cow<'static, str> {
        (self.name)()
    }
}

/// A resource that was read.
pub(crate) trait LoadedResource: Send {
    /// Inserts it, and returns the one it replaces.
    fn insert(self: Box<Self>, resources: &mut Resources, now: Tick) -> Option<Box<dyn Any + Send + Sync>>;
}

struct Loaded<R>(R);

impl<R: Resource> LoadedResource for Loaded<R> {
    fn insert(self: Box<Self>, resources: &mut Resources, now: Tick) -> Option<Box<dyn Any + Send + Sync>> {
        resources.insert(self.0, now).map(|old| Box::new(old) as Box<dyn Any + Send + Sync>)
    }
}

impl Resources {
    /// All types that were seen, with their names and, where they are saved, how; and whether there is a value.
    pub(crate) fn iter_saving(
        &self,
    ) -> impl Iterator<Item = (&'static str, Option<ResourceSaving>, bool)> + '_ {
        let there = self.slots.iter().map(Option::is_some);
        self.names.iter().zip(&self.saving).zip(there).map(|((name, saving), there)| (*name, *saving, there))
    }
}
