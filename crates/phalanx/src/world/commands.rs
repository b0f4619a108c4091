//! Changes recorded now and applied later.
//!
//! A command is a boxed function on the world; [`World::flush`] runs them in the order they were recorded.
//! Entities that died meanwhile are skipped. A command that panics is gone, those before it are applied,
//! and those after it stay recorded for the next flush.

use std::collections::VecDeque;

use phalanx_store::{Entity, Store};

use super::World;
use crate::bundle::Bundle;
use crate::messages::Message;
use crate::resources::Resource;

type Command = Box<dyn FnOnce(&mut World) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Queue {
    commands: VecDeque<Command>,
}

/// Records changes for later.
pub struct Commands<'w> {
    queue: &'w mut Queue,
    store: &'w Store,
}

impl Commands<'_> {
    /// Spawns an entity. Its id is valid at once; it is alive after the flush.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> EntityCommands<'_> {
        let mut entity = self.spawn_empty();
        entity.insert(bundle);
        entity
    }

    /// Spawns an entity without components.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> EntityCommands<'_> {
        let entity = self.store.reserve_entity().unwrap_or_else(|error| panic!("{error}"));
        EntityCommands { queue: self.queue, entity }
    }

    /// Spawns an entity per bundle.
    pub fn spawn_batch<B: Bundle, I>(&mut self, bundles: I)
    where
        I: IntoIterator<Item = B> + Send + Sync + 'static,
    {
        self.queue(move |world: &mut World| {
            world.spawn_batch(bundles);
        });
    }

    /// Changes an entity.
    pub fn entity(&mut self, entity: Entity) -> EntityCommands<'_> {
        EntityCommands { queue: self.queue, entity }
    }

    /// Inserts a resource.
    pub fn insert_resource<R: Resource>(&mut self, resource: R) {
        self.queue(move |world: &mut World| {
            world.insert_resource(resource);
        });
    }

    /// Writes a message.
    pub fn write_message<M: Message>(&mut self, message: M) {
        self.queue(move |world: &mut World| {
            world.write_message(message);
        });
    }

    /// Runs a function on the world.
    pub fn queue(&mut self, command: impl FnOnce(&mut World) + Send + Sync + 'static) {
        self.queue.commands.push_back(Box::new(command));
    }
}

/// Records changes of one entity for later.
pub struct EntityCommands<'q> {
    queue: &'q mut Queue,
    entity: Entity,
}

impl EntityCommands<'_> {
    /// The entity's id.
    pub fn id(&self) -> Entity {
        self.entity
    }

    /// Inserts a bundle.
    pub fn insert<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        self.queue(move |world, entity| {
            // A dead entity is skipped.
            let _ = world.insert(entity, bundle);
        })
    }

    /// Removes a bundle.
    pub fn remove<B: Bundle>(&mut self) -> &mut Self {
        self.queue(|world, entity| {
            // A dead entity is skipped.
            let _ = world.remove::<B>(entity);
        })
    }

    /// Despawns the entity.
    pub fn despawn(&mut self) {
        self.queue(|world, entity| {
            world.despawn(entity);
        });
    }

    fn queue(&mut self, change: impl FnOnce(&mut World, Entity) + Send + Sync + 'static) -> &mut Self {
        let entity = self.entity;
        self.queue.commands.push_back(Box::new(move |world| change(world, entity)));
        self
    }
}

impl World {
    /// Records changes, to be applied by [`World::flush`].
    pub fn commands(&mut self) -> Commands<'_> {
        Commands { queue: &mut self.commands, store: &self.store }
    }

    /// Brings reserved ids to life and applies recorded changes, in the order they were recorded; changes
    /// recorded by a command come after those recorded before.
    pub fn flush(&mut self) {
        self.store.flush();
        while let Some(command) = self.commands.commands.pop_front() {
            command(self);
        }
        self.store.flush();
    }
}
