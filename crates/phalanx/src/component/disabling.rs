//! Components that hide their entities from queries.
//!
//! Presence is all they say, and they stand in tables, so that archetypes decide and no row is looked at. Three are
//! there: one for an entity by itself, one for an entity with all below it, and one that the world gives to those below.
//! So enabling a parent does not enable a child that was disabled by itself.

use std::any::TypeId;

use phalanx_derive::Component;

/// Hides an entity from all queries that do not mention this component.
///
/// `With<Disabled>`, `Without<Disabled>`, `&Disabled`, `Has<Disabled>` and [`Allow<Disabled>`](crate::query::Allow)
/// mention it. The entity itself is not changed: it is found by its id, and its relations stay. Its children are not
/// disabled; see [`DisabledTree`]. The entity gets another archetype, so disabling is for what stays so for a while.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// let mut world = World::new();
/// let sleeper = world.spawn((Health(1), Disabled)).id();
/// world.spawn(Health(2));
/// assert_eq!(world.view::<&Health>().count(), 1);
/// assert_eq!(world.view_filtered::<&Health, Allow<Disabled>>().count(), 2);
///
/// world.entity_mut(sleeper).remove::<Disabled>();
/// assert_eq!(world.view::<&Health>().count(), 2);
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", component(save, name = "phalanx.Disabled"))]
pub struct Disabled;

/// Hides an entity and all entities below it along [`ChildOf`](crate::relation::ChildOf) from queries.
///
/// Those below it get [`DisabledByTree`], as long as they are below it: also children that come later. Removing it
/// enables them, but for those that are [`Disabled`] themselves or below another `DisabledTree`.
///
/// ```
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let ship = world.spawn_empty().id();
/// let engine = world.spawn(ChildOf(ship)).id();
/// let broken = world.spawn((ChildOf(ship), Disabled)).id();
///
/// world.entity_mut(ship).insert(DisabledTree);
/// assert!(world.entity(engine).is_disabled());
/// world.entity_mut(ship).remove::<DisabledTree>();
/// assert!(!world.entity(engine).is_disabled());
/// assert!(world.entity(broken).is_disabled(), "it was disabled by itself");
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", component(save, name = "phalanx.DisabledTree"))]
pub struct DisabledTree;

/// Marks an entity as hidden because one above it has [`DisabledTree`]. The world gives and takes it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", component(save, name = "phalanx.DisabledByTree"))]
#[non_exhaustive]
pub struct DisabledByTree;

/// The name of a component of this file, which disables entities in every world.
pub(crate) fn disabling_name(component: TypeId) -> Option<&'static str> {
    let all = [
        (TypeId::of::<Disabled>(), "Disabled"),
        (TypeId::of::<DisabledTree>(), "DisabledTree"),
        (TypeId::of::<DisabledByTree>(), "DisabledByTree"),
    ];
    all.into_iter().find(|(id, _)| *id == component).map(|(_, name)| name)
}

#[cfg(feature = "serde")]
mod saving {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};

    use super::{Disabled, DisabledByTree, DisabledTree};

    macro_rules! saved_as_nothing {
        ($($tag:ident)*) => {$(
            impl Serialize for $tag {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_unit()
                }
            }
            impl<'de> Deserialize<'de> for $tag {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    <()>::deserialize(deserializer).map(|()| Self)
                }
            }
        )*};
    }
    saved_as_nothing!(Disabled DisabledTree DisabledByTree);
}
