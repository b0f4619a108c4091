//! More commands for one entity: conditions, ids instead of types, and errors with a handler of their own.
//!
//! What changes components and can be merged with other changes of the entity is recorded as such in the parent
//! module; what is here and not merged is a function that runs between them.

use std::any::Any;

use phalanx_store::Entity;

use super::{EntityCommand, EntityCommands, EntityEntryCommands};
use crate::bundle::Bundle;
use crate::component::Component;
use crate::registry::ComponentId;
use crate::world::failure::SystemError;
use crate::world::{EntityWorldMut, World};

impl EntityCommands<'_> {
    /// The same recorder for a shorter time.
    pub fn reborrow(&mut self) -> EntityCommands<'_> {
        EntityCommands { queue: self.queue, ids: self.ids, entity: self.entity }
    }

    /// A component that the entity may or may not have by then.
    pub fn entry<C: Component>(&mut self) -> EntityEntryCommands<'_, C> {
        EntityEntryCommands::new(self.reborrow())
    }

    /// Inserts a bundle if the condition holds now.
    pub fn insert_if<B: Bundle>(&mut self, bundle: B, condition: impl FnOnce() -> bool) -> &mut Self {
        if condition() { self.insert(bundle) } else { self }
    }

    /// Inserts what the entity lacks of a bundle, if the condition holds now.
    pub fn insert_if_new_and<B: Bundle>(&mut self, bundle: B, condition: impl FnOnce() -> bool) -> &mut Self {
        if condition() { self.insert_if_new(bundle) } else { self }
    }

    /// Inserts a component unless the entity has an equal one by then.
    pub fn insert_if_neq<C: Component + PartialEq>(&mut self, component: C) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            if entity.get::<C>().is_none_or(|held| *held != component) {
                entity.insert(component);
            }
        })
    }

    /// As [`insert_if`](Self::insert_if); not an error if the entity was despawned.
    pub fn try_insert_if<B: Bundle>(&mut self, bundle: B, condition: impl FnOnce() -> bool) -> &mut Self {
        if condition() { self.try_insert(bundle) } else { self }
    }

    /// As [`insert_if_new_and`](Self::insert_if_new_and); not an error if the entity was despawned.
    pub fn try_insert_if_new_and<B: Bundle>(
        &mut self,
        bundle: B,
        condition: impl FnOnce() -> bool,
    ) -> &mut Self {
        if condition() { self.try_insert_if_new(bundle) } else { self }
    }

    /// Removes what the entity has of a bundle, if the condition holds now.
    pub fn remove_if<B: Bundle>(&mut self, condition: impl FnOnce() -> bool) -> &mut Self {
        if condition() { self.remove::<B>() } else { self }
    }

    /// As [`remove_if`](Self::remove_if); not an error if the entity was despawned.
    pub fn try_remove_if<B: Bundle>(&mut self, condition: impl FnOnce() -> bool) -> &mut Self {
        if condition() { self.try_remove::<B>() } else { self }
    }

    /// Removes a bundle and all that its components require.
    pub fn remove_with_requires<B: Bundle>(&mut self) -> &mut Self {
        self.queue(|mut entity: EntityWorldMut<'_>| {
            entity.remove_with_requires::<B>();
        })
    }

    /// Inserts a component by its id, a boxed value of its type; see [`World::insert_by_id`]. A wrong type is an error for
    /// the error handler.
    pub fn insert_by_id(&mut self, id: ComponentId, value: Box<dyn Any + Send + Sync>) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| entity.insert_by_id(id, value).map(|_| ()))
    }

    /// As [`insert_by_id`](Self::insert_by_id); not an error if the entity was despawned.
    pub fn try_insert_by_id(&mut self, id: ComponentId, value: Box<dyn Any + Send + Sync>) -> &mut Self {
        let entity = self.entity;
        self.commands().queue(move |world: &mut World| match world.contains(entity) {
            true => world.insert_by_id(entity, id, value),
            false => Ok(()),
        });
        self
    }

    /// Removes the component with this id.
    pub fn remove_by_id(&mut self, id: ComponentId) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            entity.remove_by_id(id);
        })
    }

    /// Removes all components.
    pub fn clear(&mut self) -> &mut Self {
        self.retain::<()>()
    }

    /// Removes every component that is neither in the bundle nor required by a component of it.
    pub fn retain<B: Bundle>(&mut self) -> &mut Self {
        self.queue(|mut entity: EntityWorldMut<'_>| {
            entity.retain::<B>();
        })
    }

    /// Writes the names of the entity's components to the standard error, or to the log with the feature `trace`.
    pub fn log_components(&mut self) -> &mut Self {
        self.queue(|entity: EntityWorldMut<'_>| {
            #[cfg(feature = "trace")]
            tracing::info!("{entity:?}");
            #[cfg(not(feature = "trace"))]
            eprintln!("{entity:?}");
        })
    }

    /// As [`queue`](Self::queue), with an error handler of the command's own, which is also called when the entity was
    /// despawned.
    pub fn queue_handled<C: EntityCommand>(
        &mut self,
        command: C,
        handler: impl FnOnce(&mut World, SystemError) + Send + 'static,
    ) -> &mut Self {
        let entity = self.entity;
        self.commands().queue_handled(move |world: &mut World| on_entity(world, entity, command), handler);
        self
    }

    /// As [`queue`](Self::queue); neither an error is reported, nor that the entity was despawned.
    pub fn queue_silenced<C: EntityCommand>(&mut self, command: C) -> &mut Self {
        let entity = self.entity;
        self.commands().queue_silenced(move |world: &mut World| on_entity(world, entity, command));
        self
    }
}

/// Applies a command to an entity, whose death is an error.
fn on_entity<C: EntityCommand>(
    world: &mut World,
    entity: Entity,
    command: C,
) -> Result<(), super::BoxedError> {
    use super::CommandOutput;

    let entity = world.get_entity_mut(entity)?;
    command.apply(entity).into_result()
}
