//! Changes of relations that are recorded now and applied later.
//!
//! What spawns is recorded as it is, so that new entities have their ids at once; everything else is a function that
//! does the same to the entity of the world.

use phalanx_store::Entity;

use super::RelatedSpawnerCommands;
use crate::bundle::Bundle;
use crate::relation::{OrderedRelationshipSourceCollection, Relationship, RelationshipTarget};
use crate::world::{EntityCommands, EntityWorldMut};

impl EntityCommands<'_> {
    /// Spawns an entity that points at this one.
    #[track_caller]
    pub fn with_related<R: Relationship>(&mut self, bundle: impl Bundle) -> &mut Self {
        let target = self.id();
        self.commands().spawn((bundle, R::from(target)));
        self
    }

    /// Spawns entities that point at this one.
    pub fn with_related_entities<R: Relationship>(
        &mut self,
        spawn: impl FnOnce(&mut RelatedSpawnerCommands<'_, R>),
    ) -> &mut Self {
        let target = self.id();
        spawn(&mut RelatedSpawnerCommands::new(self.commands(), target));
        self
    }

    /// Makes entities point at this one.
    pub fn add_related<R: Relationship>(&mut self, related: &[Entity]) -> &mut Self {
        let related: Box<[Entity]> = related.into();
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            entity.add_related::<R>(&related);
        })
    }

    /// Makes an entity point at this one.
    pub fn add_one_related<R: Relationship>(&mut self, entity: Entity) -> &mut Self {
        self.add_related::<R>(&[entity])
    }

    /// Takes the links of all entities that point at this one.
    pub fn detach_all_related<R: Relationship>(&mut self) -> &mut Self {
        self.queue(|mut entity: EntityWorldMut<'_>| {
            entity.detach_all_related::<R>();
        })
    }

    /// Makes entities point at this one, and puts them into its list from an index on.
    pub fn insert_related<R: Relationship>(&mut self, index: usize, related: &[Entity]) -> &mut Self
    where
        <R::RelationshipTarget as RelationshipTarget>::Collection: OrderedRelationshipSourceCollection,
    {
        let related: Box<[Entity]> = related.into();
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            entity.insert_related::<R>(index, &related);
        })
    }

    /// Takes the links of entities that point at this one.
    pub fn remove_related<R: Relationship>(&mut self, related: &[Entity]) -> &mut Self {
        let related: Box<[Entity]> = related.into();
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            entity.remove_related::<R>(&related);
        })
    }

    /// Makes exactly these entities point at this one, in this order.
    pub fn replace_related<R: Relationship>(&mut self, related: &[Entity]) -> &mut Self {
        let related: Box<[Entity]> = related.into();
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            entity.replace_related::<R>(&related);
        })
    }

    /// As [`replace_related`](Self::replace_related), given what changes.
    pub fn replace_related_with_difference<R: Relationship>(
        &mut self,
        entities_to_unrelate: &[Entity],
        entities_to_relate: &[Entity],
        newly_related_entities: &[Entity],
    ) -> &mut Self {
        let all: [Box<[Entity]>; 3] =
            [entities_to_unrelate.into(), entities_to_relate.into(), newly_related_entities.into()];
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            let [unrelate, relate, new] = &all;
            entity.replace_related_with_difference::<R>(unrelate, relate, new);
        })
    }

    /// Despawns all entities that point at this one.
    pub fn despawn_related<S: RelationshipTarget>(&mut self) -> &mut Self {
        self.queue(|mut entity: EntityWorldMut<'_>| {
            entity.despawn_related::<S>();
        })
    }

    /// Inserts clones of a bundle into this entity and into all that point at it, over any number of links.
    pub fn insert_recursive<S: RelationshipTarget>(&mut self, bundle: impl Bundle + Clone) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            entity.insert_recursive::<S>(bundle);
        })
    }

    /// Removes a bundle from this entity and from all that point at it, over any number of links.
    pub fn remove_recursive<S: RelationshipTarget, B: Bundle>(&mut self) -> &mut Self {
        self.queue(|mut entity: EntityWorldMut<'_>| {
            entity.remove_recursive::<S, B>();
        })
    }
}
