//! More commands that concern the whole world: many entities, resources, and errors with a handler of their own.
//!
//! Each is a function that is queued, and calls the method of the same name on the world.

use phalanx_store::Entity;

use super::{Command, Commands, EntityCommands};
use crate::bundle::Bundle;
use crate::query::{QueryData, QueryFilter};
use crate::resources::Resource;
use crate::world::failure::SystemError;
use crate::world::{FromWorld, NoSuchEntity, World};

impl Commands<'_, '_> {
    /// Changes an entity that is alive, or was reserved for an entity to come.
    ///
    /// # Errors
    /// When the id is one of the past.
    pub fn get_entity(&mut self, entity: Entity) -> Result<EntityCommands<'_>, NoSuchEntity> {
        if self.ids.is_past(entity) { Err(NoSuchEntity::new(entity)) } else { Ok(self.entity(entity)) }
    }

    /// Changes an entity that is alive.
    ///
    /// # Errors
    /// When it is not: it was despawned, or is still to come.
    pub fn get_spawned_entity(&mut self, entity: Entity) -> Result<EntityCommands<'_>, NoSuchEntity> {
        if self.ids.contains(entity) { Ok(self.entity(entity)) } else { Err(NoSuchEntity::new(entity)) }
    }

    /// As [`Commands::queue`], with an error handler of the command's own.
    pub fn queue_handled<C: Command>(
        &mut self,
        command: C,
        handler: impl FnOnce(&mut World, SystemError) + Send + 'static,
    ) {
        self.queue(command.handle_error_with(handler));
    }

    /// As [`Commands::queue`]; an error is not reported.
    pub fn queue_silenced<C: Command>(&mut self, command: C) {
        self.queue(command.ignore_error());
    }

    /// Despawns all entities that pass a filter; see [`World::despawn_all`].
    pub fn despawn_all<F: QueryFilter + 'static>(&mut self) {
        self.queue(World::despawn_all::<F>);
    }

    /// Despawns all entities that pass a filter and a condition; see [`World::despawn_all_where`].
    pub fn despawn_all_where<D: QueryData + 'static, F: QueryFilter + 'static>(
        &mut self,
        condition: impl FnMut(D::Item<'_>) -> bool + Send + 'static,
    ) {
        self.queue(move |world: &mut World| world.despawn_all_where::<D, F>(condition));
    }

    /// Inserts a bundle into each entity. Entities that are dead by then are skipped.
    pub fn insert_batch<I, B: Bundle>(&mut self, batch: I)
    where
        I: IntoIterator<Item = (Entity, B)> + Send + 'static,
    {
        self.queue(move |world: &mut World| {
            world.insert_batch(batch);
        });
    }

    /// Inserts what each entity lacks of a bundle. Entities that are dead by then are skipped.
    pub fn insert_batch_if_new<I, B: Bundle>(&mut self, batch: I)
    where
        I: IntoIterator<Item = (Entity, B)> + Send + 'static,
    {
        self.queue(move |world: &mut World| {
            world.insert_batch_if_new(batch);
        });
    }

    /// As [`Commands::insert_batch`]; entities that are dead by then are an error for the error handler.
    pub fn try_insert_batch<I, B: Bundle>(&mut self, batch: I)
    where
        I: IntoIterator<Item = (Entity, B)> + Send + 'static,
    {
        self.queue(move |world: &mut World| world.try_insert_batch(batch));
    }

    /// As [`Commands::insert_batch_if_new`]; entities that are dead by then are an error for the error handler.
    pub fn try_insert_batch_if_new<I, B: Bundle>(&mut self, batch: I)
    where
        I: IntoIterator<Item = (Entity, B)> + Send + 'static,
    {
        self.queue(move |world: &mut World| world.try_insert_batch_if_new(batch));
    }

    /// Inserts the first value of a resource unless the world has one by then.
    pub fn init_resource<R: Resource + FromWorld>(&mut self) {
        self.queue(|world: &mut World| {
            world.init_resource::<R>();
        });
    }

    /// Inserts a resource unless the world has an equal one by then.
    pub fn insert_resource_if_neq<R: Resource + PartialEq>(&mut self, resource: R) {
        self.queue(move |world: &mut World| match world.get_resource_mut::<R>() {
            Some(mut held) => {
                held.set_if_neq(resource);
            }
            None => {
                world.insert_resource(resource);
            }
        });
    }
}
