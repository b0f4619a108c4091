//! Parents and children: the relation that most programs need.
//!
//! A child names its parent; the parent lists its children, in an order that can be set. Despawning and cloning a
//! parent takes its children along. What can be done with them is in `world/relations`, for any relation.

use std::ops::Deref;

use phalanx_store::Entity;

use super::list::EntityList;
use phalanx_derive::Component;

/// The parent of an entity.
///
/// Inserting it adds the entity to the parent's [`Children`], removing it takes it out. A link that would make an
/// entity its own ancestor is refused.
///
/// ```
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let ship = world.spawn_empty().id();
/// let engine = world.spawn(ChildOf(ship)).id();
/// let sail = world.spawn(ChildOf(ship)).id();
/// assert_eq!(world.get::<Children>(ship).unwrap()[..], [engine, sail]);
///
/// world.entity_mut(engine).remove::<ChildOf>();
/// assert_eq!(world.get::<Children>(ship).unwrap()[..], [sail]);
///
/// world.despawn(ship);
/// assert!(!world.contains(sail));
/// assert!(world.contains(engine));
/// ```
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
#[component(track = "row")]
#[cfg_attr(feature = "serde", component(save, name = "phalanx.ChildOf"))]
#[relationship(relationship_target = Children)]
pub struct ChildOf(pub Entity);

impl ChildOf {
    /// The parent.
    #[inline]
    pub fn parent(&self) -> Entity {
        self.0
    }
}

/// The children of an entity, in order. It dereferences to a slice.
///
/// The world keeps it: it is there as long as there are children. `&mut Children` changes the order
/// ([`OrderMut`](crate::relation::OrderMut)); for anything else change the [`ChildOf`] of the children, or use the
/// methods of [`EntityWorldMut`](crate::world::EntityWorldMut).
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let ship = world.spawn(children![Name::new("engine"), Name::new("sail")]).id();
/// let parts = world.get::<Children>(ship).unwrap();
/// assert_eq!(world.get::<Name>(parts[1]).unwrap().as_str(), "sail");
/// ```
#[derive(Component, Clone, PartialEq, Eq, Debug)]
#[component(track = "row")]
#[cfg_attr(feature = "serde", component(save, name = "phalanx.Children"))]
#[relationship_target(relationship = ChildOf, linked_spawn)]
pub struct Children(EntityList);

impl Deref for Children {
    type Target = [Entity];

    #[inline]
    fn deref(&self) -> &[Entity] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Children {
    type Item = &'a Entity;
    type IntoIter = std::slice::Iter<'a, Entity>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.as_slice().iter()
    }
}

/// Both halves are saved, so that the order of children is kept; a save whose halves disagree is refused.
#[cfg(feature = "serde")]
mod saving {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};

    use super::{ChildOf, Children, Entity, EntityList};

    impl Serialize for ChildOf {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for ChildOf {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Entity::deserialize(deserializer).map(Self)
        }
    }

    impl Serialize for Children {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Children {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            EntityList::deserialize(deserializer).map(Self)
        }
    }
}
