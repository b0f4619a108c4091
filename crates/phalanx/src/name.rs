//! Names of entities.
//!
//! [`Name`] is an ordinary component; entities without one cost nothing, and several may have the same name. The hash
//! of the text is kept beside it, so that different names are told apart without comparing texts. Finding an entity by
//! name is in `world/index`.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use phalanx_store::Entity;

use phalanx_derive::{Component, QueryData};

/// The name of an entity.
///
/// ```
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let ship = world.spawn(Name::new("ship")).id();
/// assert_eq!(world.get::<Name>(ship).unwrap().as_str(), "ship");
/// world.get_mut::<Name>(ship).unwrap().set("wreck");
/// assert_eq!(world.get::<Name>(ship).unwrap().to_string(), "wreck");
/// ```
#[derive(Component, Clone)]
#[component(track = "row")]
#[cfg_attr(feature = "serde", component(save, name = "phalanx.Name"))]
pub struct Name {
    text: Cow<'static, str>,
    hash: u64,
}

impl Name {
    /// A name.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        let text = name.into();
        Self { hash: hash_of(&text), text }
    }

    /// Replaces the text.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>) {
        *self = Self::new(name);
    }

    /// Changes the text in place.
    pub fn mutate(&mut self, change: impl FnOnce(&mut String)) {
        change(self.text.to_mut());
        self.hash = hash_of(&self.text);
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A hash of the text, the same in every process.
    #[inline]
    pub fn pre_hash(&self) -> u64 {
        self.hash
    }
}

/// The hash of a name: FNV-1a, which is the same everywhere and good enough for short texts.
fn hash_of(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Default for Name {
    fn default() -> Self {
        Self::new("")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.text.into_owned()
    }
}

impl From<&Name> for String {
    fn from(name: &Name) -> Self {
        name.as_str().to_owned()
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

// As for `str`, which a name can be borrowed as.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.text == other.text
    }
}
impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

/// A name is saved as its text.
#[cfg(feature = "serde")]
mod saving {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};

    use super::Name;

    impl Serialize for Name {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(self.as_str())
        }
    }

    impl<'de> Deserialize<'de> for Name {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            String::deserialize(deserializer).map(Self::new)
        }
    }
}

/// What to call an entity in a message: its name, or its id when it has none.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(i32);
///
/// fn report(dying: Query<(NameOrEntity, &Health)>) -> Vec<String> {
///     dying.iter().filter(|(_, health)| health.0 <= 0).map(|(who, _)| who.to_string()).collect()
/// }
///
/// let mut world = World::new();
/// world.spawn((Name::new("cook"), Health(0)));
/// let nameless = world.spawn(Health(-1)).id();
/// let mut dying = world.run_system_once(report).unwrap();
/// dying.sort();
/// assert_eq!(dying, [nameless.to_string(), "cook".to_owned()]);
/// ```
#[derive(QueryData)]
pub struct NameOrEntity {
    /// The name, if there is one.
    pub name: Option<&'static Name>,
    /// The entity.
    pub entity: Entity,
}

impl fmt::Display for NameOrEntityItem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => fmt::Display::fmt(name, f),
            None => fmt::Display::fmt(&self.entity, f),
        }
    }
}
