//! All entities, all resources, and the clock of changes: what concerns a world as a whole.
//!
//! Looking at every entity costs time in proportion to all of them; for those with certain components ask a query.

use phalanx_store::{Entity, Existing, FirstPanic, Tick};

use super::{EntityRef, NoSuchEntity, World};
use crate::bundle::Bundle;
use crate::component::Component;
use crate::messages::{Message, MessageId};
use crate::query::{QueryData, QueryFilter};
use crate::registry::{ComponentId, ComponentInfo};
use crate::resources::{Resource, ResourceTicks};

impl World {
    /// How many entities are alive.
    pub fn entity_count(&self) -> usize {
        self.store.entities().len()
    }

    /// All living entities, in the order of their indices.
    pub fn iter_entities(&self) -> impl Iterator<Item = EntityRef<'_>> {
        self.store.entities().iter().map(|entity| EntityRef::new(self, entity))
    }

    /// The components that an entity has: those in its table first.
    ///
    /// # Errors
    /// When the entity is dead.
    pub fn inspect_entity(
        &self,
        entity: Entity,
    ) -> Result<impl Iterator<Item = (ComponentId, &ComponentInfo)>, NoSuchEntity> {
        let ids = self.get_entity(entity)?.component_ids();
        Ok(ids.map(|id| (id, self.components.info(id))))
    }

    /// Changes a component; `None` when the entity lacks it.
    ///
    /// # Errors
    /// When the entity is dead.
    pub fn modify_component<C: Component, R>(
        &mut self,
        entity: Entity,
        change: impl FnOnce(&mut C) -> R,
    ) -> Result<Option<R>, NoSuchEntity> {
        if !self.contains(entity) {
            return Err(NoSuchEntity::new(entity));
        }
        Ok(self.get_mut::<C>(entity).map(|value| change(value.into_inner())))
    }

    /// Changes a resource; `None` when the world has none.
    pub fn modify_resource<R: Resource, T>(&mut self, change: impl FnOnce(&mut R) -> T) -> Option<T> {
        self.get_resource_mut::<R>().map(|value| change(value.into_inner()))
    }

    /// When a resource came and was last written.
    pub fn get_resource_change_ticks<R: Resource>(&self) -> Option<ResourceTicks> {
        self.resources.get_with_ticks::<R>().map(|(_, ticks)| ticks)
    }

    /// Despawns all entities that pass a filter, in the order in which a query visits them.
    pub fn despawn_all<F: QueryFilter + 'static>(&mut self) {
        let found: Vec<Entity> = self.view_filtered::<Entity, F>().into_iter().collect();
        self.despawn_batch(found);
    }

    /// Despawns all entities that pass a filter and a condition on their data.
    pub fn despawn_all_where<D: QueryData + 'static, F: QueryFilter + 'static>(
        &mut self,
        mut condition: impl FnMut(D::Item<'_>) -> bool,
    ) {
        let mut found = Vec::new();
        for (entity, item) in self.view_filtered_mut::<(Entity, D), F>() {
            if condition(item) {
                found.push(entity);
            }
        }
        self.despawn_batch(found);
    }

    /// Inserts what each entity lacks of a bundle. Dead entities, and those whose pool does not declare a component, are
    /// skipped; returns how many were not.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn insert_batch_if_new<B: Bundle>(&mut self, batch: impl IntoIterator<Item = (Entity, B)>) -> usize {
        let inserted = batch
            .into_iter()
            .filter_map(|(entity, bundle)| self.insert_with(entity, bundle, Existing::Keep).ok());
        inserted.count()
    }

    /// As [`World::insert_batch`]; tells which entities were skipped.
    ///
    /// # Errors
    /// When some were; the others have their bundles.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn try_insert_batch<B: Bundle>(
        &mut self,
        batch: impl IntoIterator<Item = (Entity, B)>,
    ) -> Result<(), TryInsertBatchError> {
        self.insert_each(batch, Existing::Replace)
    }

    /// As [`World::insert_batch_if_new`]; tells which entities were skipped.
    ///
    /// # Errors
    /// When some were; the others have their bundles.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn try_insert_batch_if_new<B: Bundle>(
        &mut self,
        batch: impl IntoIterator<Item = (Entity, B)>,
    ) -> Result<(), TryInsertBatchError> {
        self.insert_each(batch, Existing::Keep)
    }

    #[track_caller]
    fn insert_each<B: Bundle>(
        &mut self,
        batch: impl IntoIterator<Item = (Entity, B)>,
        existing: Existing,
    ) -> Result<(), TryInsertBatchError> {
        let mut entities = Vec::new();
        for (entity, bundle) in batch {
            if self.insert_with(entity, bundle, existing).is_err() {
                entities.push(entity);
            }
        }
        if entities.is_empty() {
            return Ok(());
        }
        Err(TryInsertBatchError { bundle: std::any::type_name::<B>(), entities })
    }

    /// Writes the default message of a type.
    pub fn write_message_default<M: Message + Default>(&mut self) -> MessageId {
        self.write_message(M::default())
    }

    /// Writes messages in order.
    pub fn write_message_batch<M: Message>(&mut self, messages: impl IntoIterator<Item = M>) {
        self.messages_mut::<M>().write_batch(messages);
    }

    /// Despawns everything and drops all resources, those of this thread included. Components and systems that the
    /// world knows stay known.
    ///
    /// # Panics
    /// When a value does in its drop; everything is gone nevertheless.
    pub fn clear_all(&mut self) {
        let mut panics = FirstPanic::default();
        panics.guard(|| self.clear_entities());
        panics.guard(|| self.clear_resources());
        panics.guard(|| self.clear_non_send());
        panics.resume();
    }

    /// Drops all resources but those that belong to one thread.
    ///
    /// # Panics
    /// When a value does in its drop; all are gone nevertheless.
    pub fn clear_resources(&mut self) {
        let mut panics = FirstPanic::default();
        self.resources.drop_all(&mut panics);
        panics.resume();
    }

    /// Moves the clock of writes on, and returns where it was: what is written from now on is newer than what was written
    /// before.
    pub fn increment_change_tick(&mut self) -> Tick {
        let before = self.store.tick();
        self.store.advance_tick();
        before
    }

    /// The present moment of the clock of writes.
    pub fn read_change_tick(&self) -> Tick {
        self.store.tick()
    }

    /// The present moment of the clock of writes.
    pub fn change_tick(&mut self) -> Tick {
        self.store.tick()
    }

    /// The moment after which changes count as new.
    pub fn last_change_tick(&self) -> Tick {
        self.last_tick
    }

    /// Calls a function for which changes after `last_change_tick` count as new.
    pub fn last_change_tick_scope<T>(&mut self, last_change_tick: Tick, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.last_tick, last_change_tick);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(self)));
        self.last_tick = before;
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The id of a resource type, if the world has seen it.
    pub fn resource_id<R: Resource>(&self) -> Option<crate::resources::ResourceId> {
        self.resources.id::<R>()
    }
}

/// Some entities of a batch did not get their bundles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TryInsertBatchError {
    /// The bundle's type.
    pub bundle: &'static str,
    /// The entities that are dead, or in a pool that does not declare a component.
    pub entities: Vec<Entity>,
}

impl std::fmt::Display for TryInsertBatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bundle, entities } = self;
        write!(
            f,
            "{} entities could not get `{bundle}`, the first of them {}: they are not alive, or their pools do not \
             declare a component of it",
            entities.len(),
            entities[0]
        )
    }
}

impl std::error::Error for TryInsertBatchError {}
