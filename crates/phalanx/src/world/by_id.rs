//! Components and resources by their ids, without naming their types: for tools and generic code.
//!
//! A value is lent as [`Any`], to be downcast. A component that is kept by fields has no value in one piece: its
//! fields are read and written by name ([`World::get_field`]), and so are those of run-time components.

use std::any::Any;

use phalanx_store::{ColId, Entity, InSet, Read};

use super::{EntityRef, EntityWorldMut, NoSuchEntity, World};
use crate::registry::{ComponentId, ComponentInfo};
use crate::resources::{ResourceId, ResourceTicks};
use crate::tracking::{ComponentTicks, Tick};

/// The ticks of one row, read by a function that knows whether a column is in a set.
pub(super) fn row_ticks(
    info: &ComponentInfo,
    read: impl Fn(ColId<Tick>, bool) -> Option<Tick>,
) -> Option<ComponentTicks> {
    let (added, changed) = info.tick_columns()?;
    let in_set = info.is_sparse();
    Some(ComponentTicks { added: read(added, in_set)?, changed: read(changed, in_set)? })
}

impl World {
    /// Reads a whole component by its id.
    ///
    /// `None` when the entity is dead or lacks it, and for a component that is kept by fields.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Debug, PartialEq)]
    /// struct Health(u32);
    ///
    /// let mut world = World::new();
    /// let id = world.register_component::<Health>();
    /// let entity = world.spawn(Health(3)).id();
    /// let health = world.get_by_id(entity, id).unwrap();
    /// assert_eq!(health.downcast_ref(), Some(&Health(3)));
    /// ```
    pub fn get_by_id(&self, entity: Entity, id: ComponentId) -> Option<&dyn Any> {
        self.store.erased(entity, self.components.get_info(id)?.any_access()?)
    }

    /// Writes a whole component by its id, and marks it as changed.
    ///
    /// `None` as for [`World::get_by_id`], and for what is never written in place: immutable components and the halves of
    /// relations, which are inserted anew.
    pub fn get_mut_by_id(&mut self, entity: Entity, id: ComponentId) -> Option<&mut dyn Any> {
        self.store.erased_mut(entity, self.components.get_info(id)?.any_access_mut()?)
    }

    /// Changes a whole component by its id; `None` as for [`World::get_mut_by_id`].
    ///
    /// # Errors
    /// When the entity is dead.
    pub fn modify_component_by_id<R>(
        &mut self,
        entity: Entity,
        id: ComponentId,
        change: impl FnOnce(&mut dyn Any) -> R,
    ) -> Result<Option<R>, NoSuchEntity> {
        if !self.contains(entity) {
            return Err(NoSuchEntity::new(entity));
        }
        Ok(self.get_mut_by_id(entity, id).map(change))
    }

    /// Reads a resource by its number.
    pub fn get_resource_by_id(&self, id: ResourceId) -> Option<&dyn Any> {
        self.resources.get_any(id).map(|(value, _)| value)
    }

    /// Writes a resource by its number, and marks it as changed.
    pub fn get_resource_mut_by_id(&mut self, id: ResourceId) -> Option<&mut dyn Any> {
        self.resources.get_any_mut(id, self.store.tick())
    }

    /// Changes a resource by its number; `None` when the world has none.
    pub fn modify_resource_by_id<R>(
        &mut self,
        id: ResourceId,
        change: impl FnOnce(&mut dyn Any) -> R,
    ) -> Option<R> {
        self.get_resource_mut_by_id(id).map(change)
    }

    /// Whether the world has the resource with this number.
    pub fn contains_resource_by_id(&self, id: ResourceId) -> bool {
        self.get_resource_by_id(id).is_some()
    }

    /// Drops the resource with this number. False when there is none.
    pub fn remove_resource_by_id(&mut self, id: ResourceId) -> bool {
        self.resources.remove_any(id)
    }

    /// As [`World::is_resource_added`], by number.
    pub fn is_resource_added_by_id(&self, id: ResourceId) -> bool {
        self.get_resource_change_ticks_by_id(id).is_some_and(|ticks| ticks.added.is_after(self.last_tick))
    }

    /// As [`World::is_resource_changed`], by number.
    pub fn is_resource_changed_by_id(&self, id: ResourceId) -> bool {
        self.get_resource_change_ticks_by_id(id).is_some_and(|ticks| ticks.changed.is_after(self.last_tick))
    }

    /// When the resource with this number came and was last written.
    pub fn get_resource_change_ticks_by_id(&self, id: ResourceId) -> Option<ResourceTicks> {
        self.resources.get_any(id).map(|(_, ticks)| ticks)
    }

    /// All resources: their numbers, their types' names and their values, in the order in which types were first seen.
    pub fn iter_resources(&self) -> impl Iterator<Item = (ResourceId, &'static str, &dyn Any)> {
        self.resources.iter_any()
    }

    /// As [`World::iter_resources`], for writing: each one that is yielded counts as changed.
    pub fn iter_resources_mut(&mut self) -> impl Iterator<Item = (ResourceId, &'static str, &mut dyn Any)> {
        self.resources.iter_any_mut(self.store.tick())
    }
}

impl<'w> EntityRef<'w> {
    /// Reads a whole component by its id; see [`World::get_by_id`].
    pub fn get_by_id(&self, id: ComponentId) -> Option<&'w dyn Any> {
        self.world().get_by_id(self.id(), id)
    }

    /// When the component with this id came and was last written; `None` also when it keeps no ticks per row.
    pub fn get_change_ticks_by_id(&self, id: ComponentId) -> Option<ComponentTicks> {
        let (world, entity) = (self.world(), self.id());
        row_ticks(world.components.get_info(id)?, |column, in_set| match in_set {
            false => world.store.get::<Read<Tick>>(entity, column).copied(),
            true => world.store.get::<InSet<Read<Tick>>>(entity, column).copied(),
        })
    }
}

impl<'w> EntityWorldMut<'w> {
    /// Reads a whole component by its id; see [`World::get_by_id`].
    pub fn get_by_id(&self, id: ComponentId) -> Option<&dyn Any> {
        self.world().get_by_id(self.id(), id)
    }

    /// As [`EntityWorldMut::get_by_id`], for as long as the world is borrowed.
    pub fn into_borrow_by_id(self, id: ComponentId) -> Option<&'w dyn Any> {
        self.into_readonly().get_by_id(id)
    }

    /// Writes a whole component by its id; see [`World::get_mut_by_id`].
    pub fn get_mut_by_id(&mut self, id: ComponentId) -> Option<&mut dyn Any> {
        let (world, entity) = self.world_and_id();
        world.get_mut_by_id(entity, id)
    }

    /// As [`EntityWorldMut::get_mut_by_id`], for as long as the world is borrowed.
    pub fn into_mut_by_id(self, id: ComponentId) -> Option<&'w mut dyn Any> {
        let entity = self.id();
        self.into_world_mut().get_mut_by_id(entity, id)
    }

    /// Changes a whole component by its id; `None` as for [`World::get_by_id`].
    pub fn modify_component_by_id<R>(
        &mut self,
        id: ComponentId,
        change: impl FnOnce(&mut dyn Any) -> R,
    ) -> Option<R> {
        self.get_mut_by_id(id).map(change)
    }

    /// When the component with this id came and was last written; `None` also when it keeps no ticks per row.
    pub fn get_change_ticks_by_id(&self, id: ComponentId) -> Option<ComponentTicks> {
        self.as_readonly().get_change_ticks_by_id(id)
    }
}
