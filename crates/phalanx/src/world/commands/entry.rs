//! A component of an entity that may or may not be there when the commands are applied.
//!
//! Every method queues one function; what it does is decided by then.

use std::marker::PhantomData;

use super::EntityCommands;
use crate::component::Component;
use crate::tracking::Mut;
use crate::world::{EntityWorldMut, FromWorld, World};

/// Records what is to become of a component that an entity may lack; made by
/// [`EntityCommands::entry`].
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Default, Debug, PartialEq)]
/// struct Level(u32);
///
/// let mut world = World::new();
/// let entity = world.spawn_empty().id();
/// world.commands().entity(entity).entry::<Level>().or_insert(Level(1)).and_modify(|mut level| level.0 += 1);
/// world.flush();
/// assert_eq!(world.get::<Level>(entity), Some(&Level(2)));
/// ```
pub struct EntityEntryCommands<'q, C> {
    entity: EntityCommands<'q>,
    component: PhantomData<fn() -> C>,
}

impl<'q, C: Component> EntityEntryCommands<'q, C> {
    pub(super) fn new(entity: EntityCommands<'q>) -> Self {
        Self { entity, component: PhantomData }
    }

    /// Changes the component, if the entity has it by then.
    pub fn and_modify(&mut self, modify: impl FnOnce(Mut<'_, C>) + Send + 'static) -> &mut Self {
        self.entity.queue(move |mut entity: EntityWorldMut<'_>| {
            if let Some(value) = entity.get_mut::<C>() {
                modify(value);
            }
        });
        self
    }

    /// The same recorder for a shorter time.
    pub fn reborrow(&mut self) -> EntityEntryCommands<'_, C> {
        EntityEntryCommands::new(self.entity.reborrow())
    }

    /// Inserts a value if the entity lacks the component by then.
    pub fn or_insert(&mut self, default: C) -> &mut Self {
        self.entity.insert_if_new(default);
        self
    }

    /// As [`or_insert`](Self::or_insert); not an error if the entity was despawned.
    pub fn or_try_insert(&mut self, default: C) -> &mut Self {
        self.entity.try_insert_if_new(default);
        self
    }

    /// Inserts the value that the function gives, if the entity lacks the component by then.
    pub fn or_insert_with(&mut self, default: impl FnOnce() -> C + Send + 'static) -> &mut Self {
        self.entity.queue(move |entity: EntityWorldMut<'_>| insert_made(entity, |_| default()));
        self
    }

    /// As [`or_insert_with`](Self::or_insert_with); not an error if the entity was despawned.
    pub fn or_try_insert_with(&mut self, default: impl FnOnce() -> C + Send + 'static) -> &mut Self {
        self.entity.queue_silenced(move |entity: EntityWorldMut<'_>| insert_made(entity, |_| default()));
        self
    }

    /// Inserts the default value if the entity lacks the component by then.
    pub fn or_default(&mut self) -> &mut Self
    where
        C: Default,
    {
        self.or_insert_with(C::default)
    }

    /// Inserts the value that the world gives, if the entity lacks the component by then.
    pub fn or_from_world(&mut self) -> &mut Self
    where
        C: FromWorld,
    {
        self.entity.queue(|entity: EntityWorldMut<'_>| insert_made(entity, C::from_world));
        self
    }

    /// The recorder for the entity.
    pub fn entity(&mut self) -> EntityCommands<'_> {
        self.entity.reborrow()
    }
}

fn insert_made<C: Component>(mut entity: EntityWorldMut<'_>, make: impl FnOnce(&mut World) -> C) {
    if !entity.contains::<C>() {
        let value = entity.world_scope(make);
        entity.insert(value);
    }
}
