//! Collections of other crates as lists of a target: `SmallVec` and `IndexSet`, each behind the feature of its name.
//!
//! Both keep the order in which entities came, as a `Vec` does. A `SmallVec` also lets it be changed. An `IndexSet`
//! finds an entity by its hash; taking one out closes the gap, so that it costs as much as the entities behind it.

use phalanx_store::Entity;

#[cfg(feature = "smallvec")]
use super::OrderedRelationshipSourceCollection;
use super::RelationshipSourceCollection;

#[cfg(feature = "smallvec")]
super::vector!([const N: usize] smallvec::SmallVec<[Entity; N]>);

#[cfg(feature = "indexmap")]
impl<S: std::hash::BuildHasher + Default + Send + Sync + 'static> RelationshipSourceCollection
    for indexmap::IndexSet<Entity, S>
{
    type SourceIter<'a> = std::iter::Copied<indexmap::set::Iter<'a, Entity>>;

    fn new() -> Self {
        Self::default()
    }
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, S::default())
    }
    fn reserve(&mut self, additional: usize) {
        self.reserve(additional);
    }
    fn add(&mut self, entity: Entity) -> bool {
        self.insert(entity)
    }
    fn remove(&mut self, entity: Entity) -> bool {
        self.shift_remove(&entity)
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
