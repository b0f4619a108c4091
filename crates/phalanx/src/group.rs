//! Groups: entities with certain sparse components, kept together.
//!
//! A group over sparse sets is kept right by every change from the moment it is made. Sets that it owns ([`Own`]) are
//! ordered so that its members are the first rows of each: they are slices of one length, side by side. Sets that it only
//! looks at ([`Get`]) keep their order. A set has at most one owner.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Component)]
//! #[component(storage = "sparse")]
//! struct Stunned { left: f32 }
//! #[derive(Component)]
//! #[component(storage = "sparse")]
//! struct Burning { dps: f32 }
//!
//! let mut world = World::new();
//! let group = world.group::<Own<(Stunned, Burning)>, Get<()>, ()>()?;
//! world.spawn((Stunned { left: 1.0 }, Burning { dps: 3.0 }));
//! world.spawn(Stunned { left: 2.0 });
//! let (stunned, burning) = group.slices_mut(&mut world);
//! assert_eq!((stunned.len(), burning.len()), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// What a group is, and how it is kept right by every change, is in the store (`sets/groups` there). Here is
// what errors say about it. How groups are written is in `parts`; `world/groups` makes and reads them.

use std::fmt;

use phalanx_store::sorting;
use phalanx_store::{GroupGone, SetGroupId};

pub use parts::{Get, Group, GroupFilter, GroupParts, Own};

mod parts;

/// Why a group cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// Another group owns one of the components.
    Owned {
        /// The group that was asked for.
        group: String,
        /// The component.
        component: String,
        /// The group that owns it.
        owner: String,
    },
    /// A component occurs twice, or is both wanted and excluded.
    Repeated {
        /// The component.
        component: String,
    },
    /// The group asks for no sparse component at all.
    Empty,
    /// A component cannot be registered.
    Register(crate::registry::RegisterError),
    /// The group was dissolved; its handle is good for nothing any more.
    Dissolved,
    /// The handle is of another world.
    OtherWorld,
}

impl From<GroupGone> for GroupError {
    fn from(gone: GroupGone) -> Self {
        match gone {
            GroupGone::Dissolved => Self::Dissolved,
            GroupGone::OtherStore => Self::OtherWorld,
        }
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owned { group, component, owner } => write!(
                f,
                "{group} cannot own `{component}`, which {owner} owns: name it in `Get`, or dissolve the other group"
            ),
            Self::Repeated { component } => write!(f, "a group names `{component}` twice"),
            Self::Empty => write!(f, "a group needs at least one sparse component in `Own` or `Get`"),
            Self::Register(error) => error.fmt(f),
            Self::Dissolved => {
                write!(f, "the group was dissolved: ask `World::group` for a new handle")
            }
            Self::OtherWorld => write!(f, "the group belongs to another world"),
        }
    }
}

impl std::error::Error for GroupError {}

/// Why the rows of a set cannot be brought into another order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderError {
    /// A group owns the component, and with it the order.
    Owned {
        /// The component.
        component: String,
        /// The group that owns it.
        group: String,
    },
    /// The set is stable and has holes.
    Holes {
        /// The component.
        component: String,
    },
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owned { component, group } => {
                write!(f, "`{component}` is owned by {group}: sort the group instead")
            }
            Self::Holes { component } => {
                write!(f, "the stable set of `{component}` has holes: call `compact` before ordering it")
            }
        }
    }
}

impl std::error::Error for OrderError {}

/// The names of a world's groups.
#[derive(Clone, Default)]
pub(crate) struct Groups {
    names: Vec<(SetGroupId, String)>,
}

impl Groups {
    pub(crate) fn add(&mut self, id: SetGroupId, name: String) {
        self.names.push((id, name));
    }

    pub(crate) fn remove(&mut self, id: SetGroupId) {
        self.names.retain(|(known, _)| *known != id);
    }

    /// The groups with their names, in the order of the names.
    pub(crate) fn by_name(&self) -> Vec<(&str, SetGroupId)> {
        let mut named: Vec<_> = self.names.iter().map(|(id, name)| (name.as_str(), *id)).collect();
        sorting::sort_by_key(&mut named, |(name, _)| *name);
        named
    }

    /// All groups with their names, in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SetGroupId, &str)> {
        self.names.iter().map(|(id, name)| (*id, name.as_str()))
    }

    pub(crate) fn name(&self, id: SetGroupId) -> &str {
        let known = self.names.iter().find(|(known, _)| *known == id);
        known.map_or("a group", |(_, name)| name)
    }
}
