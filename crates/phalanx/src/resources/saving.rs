//! How a resource is written down and read again.
//!
//! `#[resource(save)]` gives the type its [`ResourceSaving`], which the world keeps beside the value.

use std::any::Any;
use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Resource, Resources};
use crate::codec::{CodecError, Halt, ValueSink, ValueSource};
use crate::world::World;

/// How the value of one resource type is written and read.
#[derive(Clone, Copy, Debug)]
pub struct ResourceSaving {
    name: fn() -> Cow<'static, str>,
    /// What follows the name, where several resources belong to one type.
    suffix: &'static str,
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
            suffix: "",
            version,
            write: |resources, sink| resources.get::<R>().map_or(Ok(()), |value| sink.push(value)),
            read: |source| {
                let value: R = source.next()?;
                source.finish()?;
                Ok(Box::new(Loaded(value)))
            },
        }
    }

    /// For resources of the library, which are saved as something else than themselves.
    pub(crate) fn through<R: SavedAs>(
        name: fn() -> Cow<'static, str>,
        suffix: &'static str,
        version: u32,
    ) -> Self {
        Self {
            name,
            suffix,
            version,
            write: |resources, sink| {
                resources.get::<R>().map_or(Ok(()), |value| sink.push(&value.to_saved()))
            },
            read: |source| {
                let value = R::from_saved(source.next()?).map_err(CodecError::new)?;
                source.finish()?;
                Ok(Box::new(LoadedAs(value)))
            },
        }
    }

    /// The name in saves.
    pub fn name(&self) -> Cow<'static, str> {
        match self.suffix {
            "" => (self.name)(),
            suffix => format!("{}{suffix}", (self.name)()).into(),
        }
    }
}

/// A resource that is saved as a value of another type.
pub(crate) trait SavedAs: Resource {
    type Saved: Serialize + DeserializeOwned;

    fn to_saved(&self) -> Self::Saved;

    /// The resource, or what is wrong with the value.
    fn from_saved(saved: Self::Saved) -> Result<Self, String>
    where
        Self: Sized;

    /// Called when a loaded value was put into the world.
    fn loaded(_world: &mut World) {}
}

struct LoadedAs<R>(R);

impl<R: SavedAs> LoadedResource for LoadedAs<R> {
    fn insert(self: Box<Self>, world: &mut World) -> Option<Box<dyn Any + Send + Sync>> {
        let old = Box::new(Loaded(self.0)).insert(world);
        R::loaded(world);
        old
    }
}

/// A resource that was read.
pub(crate) trait LoadedResource: Send {
    /// Inserts it, and returns the one it replaces.
    fn insert(self: Box<Self>, world: &mut World) -> Option<Box<dyn Any + Send + Sync>>;
}

struct Loaded<R>(R);

impl<R: Resource> LoadedResource for Loaded<R> {
    fn insert(self: Box<Self>, world: &mut World) -> Option<Box<dyn Any + Send + Sync>> {
        let now = world.read_change_tick();
        world.resources.insert(self.0, now).map(|old| Box::new(old) as Box<dyn Any + Send + Sync>)
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
