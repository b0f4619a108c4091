//! Relations of one entity, changed from the side of the target.
//!
//! All of these insert and remove the pointing half, and leave the list to the upkeep; only the order of a list is
//! changed directly.

use hashbrown::HashSet;
use phalanx_store::Entity;

use super::{LinkError, RelatedSpawner};
use crate::bundle::Bundle;
use crate::names::short_type;
use crate::relation::{
    OrderedRelationshipSourceCollection, Relationship, RelationshipSourceCollection, RelationshipTarget,
};
use crate::world::{EntityWorldMut, Failed, SystemError, World};

impl EntityWorldMut<'_> {
    /// Spawns an entity that points at this one.
    #[track_caller]
    pub fn with_related<R: Relationship>(&mut self, bundle: impl Bundle) -> &mut Self {
        let (world, target) = self.world_and_id();
        world.spawn((bundle, R::from(target)));
        self
    }

    /// Spawns entities that point at this one.
    pub fn with_related_entities<R: Relationship>(
        &mut self,
        spawn: impl FnOnce(&mut RelatedSpawner<'_, R>),
    ) -> &mut Self {
        let (world, target) = self.world_and_id();
        spawn(&mut RelatedSpawner::new(world, target));
        self
    }

    /// Makes entities point at this one; they come at the end of its list, in this order. Dead ones are an error for
    /// the error handler.
    pub fn add_related<R: Relationship>(&mut self, related: &[Entity]) -> &mut Self {
        let (world, target) = self.world_and_id();
        related.iter().for_each(|&source| world.point_at::<R>(source, target));
        self
    }

    /// Makes an entity point at this one.
    pub fn add_one_related<R: Relationship>(&mut self, entity: Entity) -> &mut Self {
        self.add_related::<R>(&[entity])
    }

    /// Takes the links of all entities that point at this one.
    pub fn detach_all_related<R: Relationship>(&mut self) -> &mut Self {
        self.remove::<R::RelationshipTarget>()
    }

    /// Makes entities point at this one, and puts them into its list from an index on. Those that are in the list
    /// already move there.
    pub fn insert_related<R: Relationship>(&mut self, index: usize, related: &[Entity]) -> &mut Self
    where
        <R::RelationshipTarget as RelationshipTarget>::Collection: OrderedRelationshipSourceCollection,
    {
        let (world, target) = self.world_and_id();
        for (offset, &source) in related.iter().enumerate() {
            if !world.points_at::<R>(source, target) {
                world.point_at::<R>(source, target);
            }
            if let Some(list) = world.get_mut::<R::RelationshipTarget>(target) {
                list.into_mut().collection_mut_risky().place(source, index.saturating_add(offset));
            }
        }
        self
    }

    /// Takes the links of entities that point at this one; others are left alone.
    pub fn remove_related<R: Relationship>(&mut self, related: &[Entity]) -> &mut Self {
        let (world, target) = self.world_and_id();
        for &source in related {
            if world.points_at::<R>(source, target) {
                let _ = world.remove::<R>(source);
            }
        }
        self
    }

    /// Makes exactly these entities point at this one, in this order; of one that is named twice the first place
    /// counts.
    pub fn replace_related<R: Relationship>(&mut self, related: &[Entity]) -> &mut Self {
        if related.is_empty() {
            return self.detach_all_related::<R>();
        }
        let (world, target) = self.world_and_id();
        let mut wanted = HashSet::with_capacity(related.len());
        let order: Vec<Entity> = related.iter().copied().filter(|&source| wanted.insert(source)).collect();
        let former: Vec<Entity> =
            world.get::<R::RelationshipTarget>(target).map(|list| list.iter().collect()).unwrap_or_default();
        for source in former {
            if !wanted.contains(&source) && world.points_at::<R>(source, target) {
                let _ = world.remove::<R>(source);
            }
        }
        for &source in &order {
            if !world.points_at::<R>(source, target) {
                world.point_at::<R>(source, target);
            }
        }
        world.order_sources::<R::RelationshipTarget>(target, &order);
        self
    }

    /// As [`replace_related`](Self::replace_related), given what changes: `entities_to_relate` is the whole new list,
    /// of which `newly_related_entities` do not point here yet, and `entities_to_unrelate` no longer do. What is given
    /// wrongly is put right.
    pub fn replace_related_with_difference<R: Relationship>(
        &mut self,
        entities_to_unrelate: &[Entity],
        entities_to_relate: &[Entity],
        newly_related_entities: &[Entity],
    ) -> &mut Self {
        self.remove_related::<R>(entities_to_unrelate);
        self.add_related::<R>(newly_related_entities);
        self.replace_related::<R>(entities_to_relate)
    }

    /// Despawns all entities that point at this one.
    pub fn despawn_related<S: RelationshipTarget>(&mut self) -> &mut Self {
        let (world, target) = self.world_and_id();
        let sources: Vec<Entity> =
            world.get::<S>(target).map(|list| list.iter().collect()).unwrap_or_default();
        // The last first, which leaves a list at its end.
        world.despawn_batch(sources.into_iter().rev());
        self
    }

    /// Inserts clones of a bundle into this entity and into all that point at it, over any number of links.
    #[track_caller]
    pub fn insert_recursive<S: RelationshipTarget>(&mut self, bundle: impl Bundle + Clone) -> &mut Self {
        let (world, entity) = self.world_and_id();
        for related in world.descendants_of::<S>(entity) {
            let _ = world.insert(related, bundle.clone());
        }
        self.insert(bundle)
    }

    /// Removes a bundle from this entity and from all that point at it, over any number of links.
    #[track_caller]
    pub fn remove_recursive<S: RelationshipTarget, B: Bundle>(&mut self) -> &mut Self {
        let (world, entity) = self.world_and_id();
        for related in world.descendants_of::<S>(entity) {
            let _ = world.remove::<B>(related);
        }
        self.remove::<B>()
    }
}

impl World {
    /// Whether an entity points at another one.
    fn points_at<R: Relationship>(&self, source: Entity, target: Entity) -> bool {
        self.get::<R>(source).is_some_and(|link| link.get() == target)
    }

    /// Makes an entity point at another one. What else the component holds stays.
    fn point_at<R: Relationship>(&mut self, source: Entity, target: Entity) {
        let mut link = R::from(target);
        if size_of::<R>() > size_of::<Entity>()
            && let Some(held) = self.take::<R>(source)
        {
            link = held;
            link.set_risky(target);
        }
        if self.insert(source, link).is_err() {
            let error = LinkError::DeadSource { relation: short_type::<R>(), source, target };
            self.fail(SystemError::new(Failed::Command, short_type::<R>(), error.into()));
        }
    }

    /// Puts the sources of a list into an order. Those that are not named come last.
    fn order_sources<S: RelationshipTarget>(&mut self, target: Entity, order: &[Entity]) {
        let Some(list) = self.get_mut::<S>(target) else { return };
        let mut list = list.into_mut();
        let collection = list.collection_mut_risky();
        if collection.iter().eq(order.iter().copied()) {
            return;
        }
        let present: HashSet<Entity> = collection.iter().collect();
        let named: HashSet<Entity> = order.iter().copied().collect();
        let rest: Vec<Entity> = collection.iter().filter(|source| !named.contains(source)).collect();
        collection.clear();
        collection.extend_from_iter(order.iter().copied().filter(|source| present.contains(source)));
        collection.extend_from_iter(rest);
    }
}
