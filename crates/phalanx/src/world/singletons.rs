//! Resources and messages of a world.
//!
//! Both are kept by type, one value or one channel each. Looking one up costs a hash of its type, per call and
//! never per row; systems find theirs once.

use super::World;
use crate::messages::{Message, MessageId, Messages};
use crate::resources::Resource;

impl World {
    /// Inserts a resource, and returns the one it replaces.
    pub fn insert_resource<R: Resource>(&mut self, resource: R) -> Option<R> {
        self.resources.insert(resource, self.store.tick())
    }

    /// Inserts the default value of a resource unless the world has one.
    pub fn init_resource<R: Resource + Default>(&mut self) -> &mut R {
        self.resources.get_or_insert_with(self.store.tick(), R::default)
    }

    /// Reads a resource.
    ///
    /// # Panics
    /// When the world has none; see [`World::get_resource`].
    #[track_caller]
    pub fn resource<R: Resource>(&self) -> &R {
        match self.get_resource() {
            Some(resource) => resource,
            None => missing::<R>(),
        }
    }

    /// Writes a resource.
    ///
    /// # Panics
    /// When the world has none; see [`World::get_resource_mut`].
    #[track_caller]
    pub fn resource_mut<R: Resource>(&mut self) -> &mut R {
        match self.get_resource_mut() {
            Some(resource) => resource,
            None => missing::<R>(),
        }
    }

    /// Reads a resource, if the world has it.
    pub fn get_resource<R: Resource>(&self) -> Option<&R> {
        self.resources.get()
    }

    /// Writes a resource, if the world has it.
    pub fn get_resource_mut<R: Resource>(&mut self) -> Option<&mut R> {
        self.resources.get_mut(self.store.tick())
    }

    /// Whether the world has a resource.
    pub fn contains_resource<R: Resource>(&self) -> bool {
        self.resources.contains::<R>()
    }

    /// Takes a resource out of the world.
    pub fn remove_resource<R: Resource>(&mut self) -> Option<R> {
        self.resources.remove()
    }

    /// Writes a message, which everyone can read until the end of the frame.
    pub fn write_message<M: Message>(&mut self, message: M) -> MessageId {
        self.messages.get_or_register().write(message)
    }

    /// The messages of one type, if any was ever written.
    pub fn messages<M: Message>(&self) -> Option<&Messages<M>> {
        self.messages.get()
    }

    /// The messages of one type, to be drained or kept for longer.
    pub fn messages_mut<M: Message>(&mut self) -> &mut Messages<M> {
        self.messages.get_or_register()
    }

    /// Ends a frame: messages that were not kept are dropped.
    pub fn end_frame(&mut self) {
        self.messages.end_frame_all();
    }
}

#[cold]
#[track_caller]
fn missing<R>() -> ! {
    panic!("the world has no resource `{}`: insert it with `insert_resource`", std::any::type_name::<R>())
}
