//! A world whose structure stands still: what hooks get.
//!
//! Everything can be read; values of components and resources can be written. Whatever would move rows is recorded in
//! [`DeferredWorld::commands`], and applied when the change that is being announced is complete.

use std::ops::Deref;

use phalanx_store::Entity;

use crate::component::Queryable;
use crate::messages::{Message, MessageId};
use crate::resources::Resource;
use crate::tracking::Mut;
use crate::world::{Commands, World};

/// A world that can be read, and whose values can be written, but in which nothing comes or goes.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// #[component(on_add = greet)]
/// struct Guest;
/// #[derive(Component)]
/// struct Greeted;
///
/// fn greet(mut world: DeferredWorld, context: HookContext) {
///     assert!(world.get::<Guest>(context.entity).is_some());
///     world.commands().entity(context.entity).insert(Greeted);
/// }
///
/// let mut world = World::new();
/// let guest = world.spawn(Guest).id();
/// assert!(world.get::<Greeted>(guest).is_some());
/// ```
pub struct DeferredWorld<'w> {
    world: &'w mut World,
}

impl<'w> From<&'w mut World> for DeferredWorld<'w> {
    fn from(world: &'w mut World) -> Self {
        Self { world }
    }
}

impl Deref for DeferredWorld<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        self.world
    }
}

impl DeferredWorld<'_> {
    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> DeferredWorld<'_> {
        DeferredWorld { world: self.world }
    }

    /// The world itself, for those who change no structure.
    pub(in crate::world) fn world_mut(&mut self) -> &mut World {
        self.world
    }

    /// Records changes, which are applied when the change that is being announced is complete.
    pub fn commands(&mut self) -> Commands<'_, '_> {
        self.world.commands()
    }

    /// Writes a component, or one field of one; `None` when the entity is dead or lacks it.
    pub fn get_mut<T: Queryable>(&mut self, entity: Entity) -> Option<T::Mut<'_>> {
        self.world.get_mut::<T>(entity)
    }

    /// Writes a resource.
    ///
    /// # Panics
    /// When it does not exist; see [`DeferredWorld::get_resource_mut`].
    #[track_caller]
    pub fn resource_mut<R: Resource>(&mut self) -> Mut<'_, R> {
        self.world.resource_mut()
    }

    /// Writes a resource; `None` when it does not exist.
    pub fn get_resource_mut<R: Resource>(&mut self) -> Option<Mut<'_, R>> {
        self.world.get_resource_mut()
    }

    /// Writes a message.
    pub fn write_message<M: Message>(&mut self, message: M) -> MessageId {
        self.world.write_message(message)
    }
}
