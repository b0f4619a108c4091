//! How a target keeps the entities that point at it.
//!
//! `Vec<Entity>` and [`EntityList`] keep the order in which entities came, and let it be changed. A `BTreeSet` sorts by
//! id; a `HashSet` has the order of its hasher; a single [`Entity`] makes the relation one-to-one. Lists of other crates are
//! in `others`. Only the world adds and removes, so none of them is asked to refuse duplicates.

use std::collections::{BTreeSet, HashSet, btree_set, hash_set};
use std::hash::BuildHasher;

use phalanx_store::Entity;

use super::list::{self, EntityList, Places};

#[cfg(any(feature = "smallvec", feature = "indexmap"))]
mod others;

/// A collection of the entities that point at a target.
pub trait RelationshipSourceCollection: Send + Sync + 'static {
    /// The iterator over the entities.
    type SourceIter<'a>: Iterator<Item = Entity>
    where
        Self: 'a;

    /// An empty collection.
    fn new() -> Self;
    /// An empty collection with room for `capacity` entities.
    fn with_capacity(capacity: usize) -> Self;
    /// Makes room for `additional` more entities.
    fn reserve(&mut self, additional: usize);
    /// Adds an entity. False when it was there.
    fn add(&mut self, entity: Entity) -> bool;
    /// Takes an entity out. False when it was not there.
    fn remove(&mut self, entity: Entity) -> bool;
    /// The entities.
    fn iter(&self) -> Self::SourceIter<'_>;
    /// How many entities there are.
    fn len(&self) -> usize;
    /// Takes everything out.
    fn clear(&mut self);
    /// Gives memory back that holds nothing.
    fn shrink_to_fit(&mut self);
    /// Whether there are no entities.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// As `add`, with notes of where entities came to stand, which are the relation's own.
    #[doc(hidden)]
    fn add_noting(&mut self, entity: Entity, _: &mut Places) -> bool {
        self.add(entity)
    }
    /// As `remove`, with those notes.
    #[doc(hidden)]
    fn remove_noted(&mut self, entity: Entity, _: &mut Places) -> bool {
        self.remove(entity)
    }
    /// The entity that must leave before another one can come.
    fn source_to_remove_before_add(&self) -> Option<Entity> {
        None
    }
    /// Adds all of them.
    fn extend_from_iter(&mut self, entities: impl IntoIterator<Item = Entity>) {
        for entity in entities {
            self.add(entity);
        }
    }
    /// Verifies what the collection knows about itself. For tests.
    #[doc(hidden)]
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A collection with an order that can be changed.
pub trait OrderedRelationshipSourceCollection: RelationshipSourceCollection {
    /// The entities, to be put in another order.
    fn order(&mut self) -> &mut [Entity];
    /// Puts an entity at an index, or at the end if there are not as many; the others keep their order.
    fn insert_stable(&mut self, index: usize, entity: Entity);
    /// Takes the entity at an index out; the others keep their order.
    fn remove_at_stable(&mut self, index: usize) -> Option<Entity>;
    /// Moves an entity of the collection to an index, or to the end if there are not as many.
    fn place(&mut self, entity: Entity, index: usize);
    /// Moves the last entity to an index.
    fn place_most_recent(&mut self, index: usize);
}

impl RelationshipSourceCollection for EntityList {
    type SourceIter<'a> = list::Iter<'a>;

    fn new() -> Self {
        Self::new()
    }
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }
    fn reserve(&mut self, additional: usize) {
        self.reserve(additional);
    }
    fn add(&mut self, entity: Entity) -> bool {
        self.push(entity);
        true
    }
    fn remove(&mut self, entity: Entity) -> bool {
        self.remove(entity)
    }
    #[inline]
    fn add_noting(&mut self, entity: Entity, places: &mut Places) -> bool {
        self.push_noting(entity, places);
        true
    }
    #[inline]
    fn remove_noted(&mut self, entity: Entity, places: &mut Places) -> bool {
        self.remove_noted(entity, Some(places))
    }
    fn iter(&self) -> list::Iter<'_> {
        self.iter()
    }
    fn len(&self) -> usize {
        self.len()
    }
    fn clear(&mut self) {
        self.clear();
    }
    fn shrink_to_fit(&mut self) {
        self.shrink_to_fit();
    }
    fn check(&self) -> Result<(), String> {
        self.check()
    }
}

impl OrderedRelationshipSourceCollection for EntityList {
    fn order(&mut self) -> &mut [Entity] {
        self.order()
    }
    fn insert_stable(&mut self, index: usize, entity: Entity) {
        self.insert(index, entity);
    }
    fn remove_at_stable(&mut self, index: usize) -> Option<Entity> {
        self.remove_at(index)
    }
    fn place(&mut self, entity: Entity, index: usize) {
        self.place(entity, index);
    }
    fn place_most_recent(&mut self, index: usize) {
        if let Some(entity) = self.last() {
            self.place(entity, index);
        }
    }
}

/// A vector as the list of a target.
macro_rules! vector {
    ([$($generics:tt)*] $list:ty) => {
        impl<$($generics)*> RelationshipSourceCollection for $list {
            type SourceIter<'a> = std::iter::Copied<std::slice::Iter<'a, Entity>>;

            fn new() -> Self {
                Self::new()
            }
            fn with_capacity(capacity: usize) -> Self {
                Self::with_capacity(capacity)
            }
            fn reserve(&mut self, additional: usize) {
                self.reserve(additional);
            }
            fn add(&mut self, entity: Entity) -> bool {
                self.push(entity);
                true
            }
            fn remove(&mut self, entity: Entity) -> bool {
                match self.as_slice().iter().rposition(|&other| other == entity) {
                    Some(at) => {
                        self.remove(at);
                        true
                    }
                    None => false,
                }
            }
            fn iter(&self) -> Self::SourceIter<'_> {
                self.as_slice().iter().copied()
            }
            fn len(&self) -> usize {
                self.len()
            }
            fn clear(&mut self) {
                self.clear();
            }
            fn shrink_to_fit(&mut self) {
                self.shrink_to_fit();
            }
        }

        impl<$($generics)*> OrderedRelationshipSourceCollection for $list {
            fn order(&mut self) -> &mut [Entity] {
                self
            }
            fn insert_stable(&mut self, index: usize, entity: Entity) {
                self.insert(index.min(self.len()), entity);
            }
            fn remove_at_stable(&mut self, index: usize) -> Option<Entity> {
                (index < self.len()).then(|| self.remove(index))
            }
            fn place(&mut self, entity: Entity, index: usize) {
                if RelationshipSourceCollection::remove(self, entity) {
                    self.insert_stable(index, entity);
                }
            }
            fn place_most_recent(&mut self, index: usize) {
                if let Some(entity) = self.pop() {
                    self.insert_stable(index, entity);
                }
            }
        }
    };
}
#[cfg(feature = "smallvec")]
pub(crate) use vector;

vector!([] Vec<Entity>);

impl RelationshipSourceCollection for BTreeSet<Entity> {
    type SourceIter<'a> = std::iter::Copied<btree_set::Iter<'a, Entity>>;

    fn new() -> Self {
        BTreeSet::new()
    }
    fn with_capacity(_: usize) -> Self {
        BTreeSet::new()
    }
    fn reserve(&mut self, _: usize) {}
    fn add(&mut self, entity: Entity) -> bool {
        self.insert(entity)
    }
    fn remove(&mut self, entity: Entity) -> bool {
        self.remove(&entity)
    }
    fn iter(&self) -> Self::SourceIter<'_> {
        self.iter().copied()
    }
    fn len(&self) -> usize {
        self.len()
    }
    fn clear(&mut self) {
        self.clear();
    }
    fn shrink_to_fit(&mut self) {}
}

/// Sources are despawned and walked in the order of the hasher, which std's own takes anew in each run of a program; where
/// runs have to be alike, choose a hasher that is always the same, or another collection.
impl<S: BuildHasher + Default + Send + Sync + 'static> RelationshipSourceCollection for HashSet<Entity, S> {
    type SourceIter<'a> = std::iter::Copied<hash_set::Iter<'a, Entity>>;

    fn new() -> Self {
        HashSet::default()
    }
    fn with_capacity(capacity: usize) -> Self {
        HashSet::with_capacity_and_hasher(capacity, S::default())
    }
    fn reserve(&mut self, additional: usize) {
        self.reserve(additional);
    }
    fn add(&mut self, entity: Entity) -> bool {
        self.insert(entity)
    }
    fn remove(&mut self, entity: Entity) -> bool {
        self.remove(&entity)
    }
    fn iter(&self) -> Self::SourceIter<'_> {
        self.iter().copied()
    }
    fn len(&self) -> usize {
        self.len()
    }
    fn clear(&mut self) {
        self.clear();
    }
    fn shrink_to_fit(&mut self) {
        self.shrink_to_fit();
    }
}

/// One-to-one: the new source takes the place of the old one.
impl RelationshipSourceCollection for Entity {
    type SourceIter<'a> = std::option::IntoIter<Entity>;

    fn new() -> Self {
        Self::PLACEHOLDER
    }
    fn with_capacity(_: usize) -> Self {
        Self::PLACEHOLDER
    }
    fn reserve(&mut self, _: usize) {}
    fn add(&mut self, entity: Entity) -> bool {
        *self = entity;
        true
    }
    fn remove(&mut self, entity: Entity) -> bool {
        let there = *self == entity;
        if there {
            *self = Self::PLACEHOLDER;
        }
        there
    }
    fn iter(&self) -> Self::SourceIter<'_> {
        self.source_to_remove_before_add().into_iter()
    }
    fn len(&self) -> usize {
        usize::from(*self != Self::PLACEHOLDER)
    }
    fn clear(&mut self) {
        *self = Self::PLACEHOLDER;
    }
    fn shrink_to_fit(&mut self) {}
    fn source_to_remove_before_add(&self) -> Option<Entity> {
        (*self != Self::PLACEHOLDER).then_some(*self)
    }
}
