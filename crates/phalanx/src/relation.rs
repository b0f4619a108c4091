//! Relations: components that point at another entity, and what the other entity knows of it.
//!
//! ```text
//!   source   ChildOf(ship)                  the truth: a sparse component with the target
//!   target   Children [engine, sail]        follows: the sources, in an order that can be set
//! ```
//!
//! [`ChildOf`] and [`Children`] are parents and children; `#[relationship(..)]` and `#[relationship_target(..)]` declare
//! others. Linking makes no archetype and moves no row. A link that would close a cycle is refused.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! let mut world = World::new();
//! let ship = world.spawn((Name::new("ship"), children![Name::new("engine"), Name::new("sail")])).id();
//! assert_eq!(world.get::<Children>(ship).unwrap().len(), 2);
//! world.despawn(ship); // takes its children along
//! assert!(world.entities().is_empty());
//! ```

// This file and `list` and `collection` say what a relation is as types; `world/relations` keeps both sides in
// agreement. Nothing here knows worlds (ADR 0055).

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use phalanx_store::{ColId, Entity, Tick};

use crate::capture::Capture;
use crate::component::{AnyComponent, Queryable};
use crate::tracking::{Mut, Tracked};

pub use collection::{OrderedRelationshipSourceCollection, RelationshipSourceCollection};
pub use hierarchy::{ChildOf, Children};
pub use list::{EntityList, Iter, Places};
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use saving::{EdgeSaving, rest_of_link, rest_of_list};
pub use traverse::{AncestorIter, DescendantDepthFirstIter, DescendantIter, Reads, ReadsBoth};
pub use via::{Along, Parent, Up, WithParent};

mod collection;
mod hierarchy;
mod list;
#[cfg(feature = "serde")]
mod saving;
mod traverse;
mod via;

/// A component that points at another entity, its target.
///
/// Derived: `#[derive(Component)]` with `#[relationship(relationship_target = ..)]`. The target gets the other half,
/// a [`RelationshipTarget`], which lists all entities that point at it. The component cannot be written in place,
/// only inserted and removed, so that both halves always agree.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// #[relationship(relationship_target = Crew)]
/// struct Serves(Entity);
///
/// #[derive(Component)]
/// #[relationship_target(relationship = Serves)]
/// struct Crew(Vec<Entity>);
///
/// let mut world = World::new();
/// let ship = world.spawn_empty().id();
/// let cook = world.spawn(Serves(ship)).id();
/// assert_eq!(world.get::<Crew>(ship).unwrap().iter().collect::<Vec<_>>(), [cook]);
/// world.entity_mut(cook).remove::<Serves>();
/// assert!(world.get::<Crew>(ship).is_none());
/// ```
///
/// A link that would close a cycle is refused; `#[relationship(relationship_target = .., cyclic)]` allows cycles, and
/// `allow_self_referential` allows an entity to point at itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation",
    label = "expected a component with `#[relationship(..)]`",
    note = "add `#[relationship(relationship_target = ..)]` beside `#[derive(Component)]`"
)]
pub trait Relationship: AnyComponent + for<'a> Queryable<Ref<'a> = &'a Self> {
    /// What a target gets: the list of those that point at it.
    type RelationshipTarget: RelationshipTarget<Relationship = Self>;
    /// Whether an entity may point at itself.
    const ALLOW_SELF_REFERENTIAL: bool = false;
    /// Whether links may form cycles.
    const CYCLIC: bool = false;

    /// The target.
    fn get(&self) -> Entity;
    /// The component that points at `entity`; other fields have their default.
    fn from(entity: Entity) -> Self;
    /// Points at another entity. The world is not notified: only for values that are in no world.
    fn set_risky(&mut self, entity: Entity);
    /// The column of the component.
    #[doc(hidden)]
    fn column() -> Option<ColId<Self>> {
        None
    }
}

/// The other half of a [`Relationship`]: the entities that point at this one.
///
/// Derived: `#[derive(Component)]` with `#[relationship_target(relationship = ..)]`; `linked_spawn` despawns and clones
/// the listed entities together with this one. The world keeps the component; it cannot be written in place, but
/// `&mut` gives an [`OrderMut`], which changes the order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the other half of a relation",
    label = "expected a component with `#[relationship_target(..)]`",
    note = "add `#[relationship_target(relationship = ..)]` beside `#[derive(Component)]`"
)]
pub trait RelationshipTarget:
    AnyComponent + Tracked + for<'a> Queryable<Ref<'a> = &'a Self, Mut<'a> = OrderMut<'a, Self>>
{
    /// Whether the listed entities are despawned, and cloned, together with this one.
    const LINKED_SPAWN: bool;
    /// The half that points here.
    type Relationship: Relationship<RelationshipTarget = Self>;
    /// How the entities are kept.
    type Collection: RelationshipSourceCollection;

    /// The entities.
    fn collection(&self) -> &Self::Collection;
    /// The entities, to be changed. The world is not notified: only for values that are in no world.
    fn collection_mut_risky(&mut self) -> &mut Self::Collection;
    /// The component with these entities. Only the world inserts it.
    fn from_collection_risky(collection: Self::Collection) -> Self;
    /// The columns of the component.
    #[doc(hidden)]
    fn columns() -> Option<ListColumns<Self>> {
        None
    }

    /// The entities that point here, in order.
    fn iter(&self) -> SourceIter<'_, Self> {
        self.collection().iter()
    }
    /// How many entities point here.
    fn len(&self) -> usize {
        self.collection().len()
    }
    /// Whether no entity points here.
    fn is_empty(&self) -> bool {
        self.collection().is_empty()
    }
}

/// The value of an edge between two entities, of a relation of many to many.
///
/// Derived: `#[derive(Component)]` with `#[relationship(many)]`, and `#[target]` at the field that names the other entity.
/// `exclusive` lets an entity have one edge only; `symmetric` makes an edge in both directions. The values are no
/// components by themselves: [`World::link`](crate::World::link) gives an entity an edge, and all edges of an entity are
/// its [`Links`](crate::world::Links).
///
/// `#[component(save)]` saves edges with their values, `name` and `version` as for components: `SaveRegistry::register`
/// takes the type of the edge.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation of many to many",
    label = "expected a struct with `#[relationship(many)]`",
    note = "add `#[relationship(many)]` beside `#[derive(Component)]`, and `#[target]` at the field with the other entity"
)]
pub trait ManyRelationship: Clone + Send + Sync + 'static {
    /// Whether an entity has at most one edge.
    const EXCLUSIVE: bool = false;
    /// Whether each edge goes in both directions.
    const SYMMETRIC: bool = false;

    /// The other entity.
    fn target(&self) -> Entity;
    /// Names another entity. The world is not notified: only for values that are in no world.
    fn set_target(&mut self, target: Entity);

    /// The name of the relation, which is that of [`Links`](crate::world::Links) as a component.
    #[doc(hidden)]
    fn name() -> Cow<'static, str> {
        std::any::type_name::<Self>().into()
    }
    /// What can be done with the values of edges.
    #[doc(hidden)]
    fn capture() -> Capture<Self> {
        Capture::none()
    }
    /// How edges are saved, with `#[component(save)]`.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn saving() -> Option<EdgeSaving> {
        None
    }
}

/// The column of a [`RelationshipTarget`], and that of the ticks at which its rows changed, if they have any.
#[doc(hidden)]
pub type ListColumns<S> = (ColId<S>, Option<ColId<Tick>>);

/// The iterator over the entities of a [`RelationshipTarget`].
pub type SourceIter<'w, S> =
    <<S as RelationshipTarget>::Collection as RelationshipSourceCollection>::SourceIter<'w>;

/// What `&mut` gives of a [`RelationshipTarget`]: it reads everything, and changes the order.
pub struct OrderMut<'a, T: Tracked> {
    value: Mut<'a, T>,
}

impl<'a, T: Tracked> OrderMut<'a, T> {
    #[doc(hidden)]
    #[inline]
    pub fn new(value: Mut<'a, T>) -> Self {
        Self { value }
    }

    /// Everything of it, for code that keeps both halves.
    #[inline]
    pub(crate) fn into_mut(self) -> Mut<'a, T> {
        self.value
    }
}

impl<T: Tracked> Deref for OrderMut<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Tracked + fmt::Debug> fmt::Debug for OrderMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<S: RelationshipTarget<Collection: OrderedRelationshipSourceCollection>> OrderMut<'_, S> {
    fn order(&mut self) -> &mut [Entity] {
        self.value.collection_mut_risky().order()
    }

    /// Exchanges the entities at two indices.
    ///
    /// # Panics
    /// When there are not as many.
    #[track_caller]
    pub fn swap(&mut self, a_index: usize, b_index: usize) {
        self.order().swap(a_index, b_index);
    }

    /// Moves an entity of the list to an index, or to the end if there are not as many.
    pub fn place(&mut self, entity: Entity, index: usize) {
        self.value.collection_mut_risky().place(entity, index);
    }

    /// Sorts the entities; equal ones keep their order.
    pub fn sort_by(&mut self, compare: impl FnMut(&Entity, &Entity) -> std::cmp::Ordering) {
        self.order().sort_by(compare);
    }

    /// Sorts the entities by a key; equal ones keep their order.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl FnMut(&Entity) -> K) {
        self.order().sort_by_key(key);
    }

    /// As [`OrderMut::sort_by_key`], asking for each key once.
    pub fn sort_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&Entity) -> K) {
        self.order().sort_by_cached_key(key);
    }

    /// Sorts the entities.
    pub fn sort_unstable_by(&mut self, compare: impl FnMut(&Entity, &Entity) -> std::cmp::Ordering) {
        self.order().sort_unstable_by(compare);
    }

    /// Sorts the entities by a key.
    pub fn sort_unstable_by_key<K: Ord>(&mut self, key: impl FnMut(&Entity) -> K) {
        self.order().sort_unstable_by_key(key);
    }
}
