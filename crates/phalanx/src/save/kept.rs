//! Components that this program does not know, kept as they were saved.
//!
//! A world that was loaded with [`Unknown::Keep`](super::Unknown::Keep) has them in this resource, and writes them
//! again when it is saved, as long as their entities live. So a save passes through a program that lacks a mod, and the
//! mod finds its components again.

use phalanx_store::Entity;

use crate::codec::Data;

/// Values of components that the registry did not know when the world was loaded.
#[derive(Default, phalanx_derive::Resource)]
#[resource(crate = "crate")]
pub struct KeptComponents(Vec<KeptComponent>);

/// The values of one such component.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeptComponent {
    /// The component's name.
    pub name: String,
    /// The version it was saved with.
    pub version: u32,
    /// The value of each entity.
    pub values: Vec<(Entity, Data)>,
    pub(super) readable: bool,
}

impl KeptComponents {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &KeptComponent> {
        self.0.iter()
    }

    pub(super) fn push(&mut self, name: &str, version: u32, readable: bool, values: Vec<(Entity, Data)>) {
        let same = |known: &&mut KeptComponent| {
            known.name == name && known.version == version && known.readable == readable
        };
        match self.0.iter_mut().find(same) {
            Some(known) => known.values.extend(values),
            None => self.0.push(KeptComponent { name: name.to_owned(), version, values, readable }),
        }
    }
}
