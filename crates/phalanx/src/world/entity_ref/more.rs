//! More of what can be asked of one entity: what a query would yield, when components changed, and the world around.
//!
//! Each method has the meaning it has for a query or for the world; here the entity is known already.

use std::any::TypeId;

use super::{EntityRef, EntityWorldMut};
use crate::archetype::{ArchetypeId, Archetypes};
use crate::bundle::Bundle;
use crate::component::{Component, Queryable, RowTracked};
use crate::query::{Everyone, Moment, QueryData, QueryEntityError, ReadOnlyQueryData};
use crate::registry::ComponentId;
use crate::resources::Resource;
use crate::tracking::{ComponentTicks, Mut, Ref, Tick};
use crate::world::{EntityCommands, EntityMut, FilteredEntityRef, World};
use phalanx_store::{Entity, WholeRow};

/// Where an entity is among those with the same components. It moves when components come or go, and when others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityLocation {
    /// The archetype.
    pub archetype_id: ArchetypeId,
    /// The position in the archetype's table; it means nothing for an entity without components in a table.
    pub table_row: usize,
}

impl EntityLocation {
    pub(crate) fn of(archetypes: &Archetypes, location: phalanx_store::EntityLocation) -> Self {
        Self { archetype_id: archetypes.of_table(location.table), table_row: location.row.index() }
    }
}

impl<'w> EntityRef<'w> {
    /// When the entity was spawned. `None` as long as the world does not keep these ticks: it does from its next tick on,
    /// after this or a query with [`Spawned`](crate::query::Spawned) was asked.
    pub fn spawn_tick(&self) -> Option<Tick> {
        self.world.store.spawn_tick(self.entity)
    }

    /// Where the entity is.
    pub fn location(&self) -> EntityLocation {
        let location = self.world.store.locate(self.entity);
        EntityLocation::of(
            &self.world.archetypes,
            location.expect("the world is borrowed, so the entity is alive"),
        )
    }

    /// The entity as queries lend it, with everything to be read.
    pub fn into_filtered(self) -> FilteredEntityRef<'w> {
        let World { store, archetypes, components, last_tick, .. } = self.world;
        let peek = store.get::<WholeRow>(self.entity, &[]);
        let peek = peek.expect("the world is borrowed, so the entity is alive");
        FilteredEntityRef::of_query(peek, Moment::from(*last_tick).among(archetypes, components))
    }

    /// Whether the entity has the component of this type.
    pub fn contains_type_id(&self, type_id: TypeId) -> bool {
        self.world.components.get_id(type_id).is_some_and(|id| self.contains_id(id))
    }

    /// Reads a component with row ticks, with when it came and was written.
    pub fn get_ref<C: Component + RowTracked>(&self) -> Option<Ref<'w, C>> {
        self.get_components::<Ref<'static, C>>().ok()
    }

    /// When a component with row ticks came and was last written.
    pub fn get_change_ticks<C: RowTracked>(&self) -> Option<ComponentTicks> {
        self.get_change_ticks_by_id(self.world.components.component_id::<C>()?)
    }

    /// Reads what a query would yield for the entity.
    ///
    /// # Panics
    /// When the entity lacks a part; see [`EntityRef::get_components`].
    #[track_caller]
    pub fn components<D: ReadOnlyQueryData + 'static>(&self) -> D::Item<'w> {
        self.get_components::<D>().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads what a query would yield for the entity.
    ///
    /// # Errors
    /// When the entity lacks a part.
    pub fn get_components<D: ReadOnlyQueryData + 'static>(&self) -> Result<D::Item<'w>, QueryEntityError> {
        self.world.view_filtered::<D, Everyone>().get_inner(self.entity)
    }
}

impl<'w> EntityWorldMut<'w> {
    /// The entity, to be read only, for as long as the world is borrowed.
    pub fn into_readonly(self) -> EntityRef<'w> {
        EntityRef::new(self.world, self.entity)
    }

    /// The entity, whose components can be written but do not come or go.
    ///
    /// # Panics
    /// When it was despawned meanwhile.
    #[track_caller]
    pub fn into_mutable(self) -> EntityMut<'w> {
        let entity = self.entity;
        self.world.lend_entity(entity).unwrap_or_else(|| despawned(entity))
    }

    /// As [`EntityWorldMut::into_mutable`], for a shorter time.
    ///
    /// # Panics
    /// When it was despawned meanwhile.
    #[track_caller]
    pub fn as_mutable(&mut self) -> EntityMut<'_> {
        let entity = self.entity;
        self.world.lend_entity(entity).unwrap_or_else(|| despawned(entity))
    }

    /// Whether the entity is alive: [`EntityWorldMut::world_scope`] may have despawned it.
    pub fn is_spawned(&self) -> bool {
        self.world.contains(self.entity)
    }

    /// The opposite of [`EntityWorldMut::is_spawned`].
    pub fn is_despawned(&self) -> bool {
        !self.is_spawned()
    }

    /// Where the entity is.
    ///
    /// # Panics
    /// When it was despawned meanwhile.
    #[track_caller]
    pub fn location(&self) -> EntityLocation {
        self.try_location().unwrap_or_else(|| despawned(self.entity))
    }

    /// Where the entity is, unless it was despawned meanwhile.
    pub fn try_location(&self) -> Option<EntityLocation> {
        let location = self.world.store.locate(self.entity)?;
        Some(EntityLocation::of(&self.world.archetypes, location))
    }

    /// When the entity was spawned. `None` as long as the world does not keep these ticks: it does from its next tick on,
    /// after this or a query with [`Spawned`](crate::query::Spawned) was asked.
    pub fn spawn_tick(&self) -> Option<Tick> {
        self.world.store.spawn_tick(self.entity)
    }

    /// Does nothing: where the entity is, is looked up when it is asked for. In bevy it is to be called after other
    /// changes of the world.
    pub fn update_location(&mut self) {}

    /// The entity's archetype.
    ///
    /// # Panics
    /// When it was despawned meanwhile.
    #[track_caller]
    pub fn archetype(&self) -> ArchetypeId {
        self.try_archetype().unwrap_or_else(|| despawned(self.entity))
    }

    /// The entity's archetype, unless it was despawned meanwhile.
    pub fn try_archetype(&self) -> Option<ArchetypeId> {
        self.world.archetype_of(self.entity)
    }

    /// Whether the entity has the component of this type.
    pub fn contains_type_id(&self, type_id: TypeId) -> bool {
        self.as_readonly().contains_type_id(type_id)
    }

    /// Reads what a query would yield for the entity.
    ///
    /// # Panics
    /// When the entity lacks a part; see [`EntityWorldMut::get_components`].
    #[track_caller]
    pub fn components<D: ReadOnlyQueryData + 'static>(&self) -> D::Item<'_> {
        self.as_readonly().components::<D>()
    }

    /// Reads what a query would yield for the entity.
    ///
    /// # Errors
    /// When the entity lacks a part.
    pub fn get_components<D: ReadOnlyQueryData + 'static>(&self) -> Result<D::Item<'_>, QueryEntityError> {
        self.as_readonly().get_components::<D>()
    }

    /// Reads and writes what a query would yield for the entity.
    ///
    /// # Errors
    /// When the entity lacks a part.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn get_components_mut<D: QueryData + 'static>(&mut self) -> Result<D::Item<'_>, QueryEntityError> {
        self.world.view_filtered_mut::<D, Everyone>().get_inner(self.entity)
    }

    /// As [`EntityWorldMut::get_components_mut`], for as long as the world is borrowed.
    ///
    /// # Errors
    /// When the entity lacks a part.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn into_components_mut<D: QueryData + 'static>(self) -> Result<D::Item<'w>, QueryEntityError> {
        self.world.view_filtered_mut::<D, Everyone>().get_inner(self.entity)
    }

    /// Reads a component, for as long as the world is borrowed.
    pub fn into_borrow<T: Queryable>(self) -> Option<T::Ref<'w>> {
        self.into_readonly().get::<T>()
    }

    /// Reads a component with row ticks, with when it came and was written.
    pub fn get_ref<C: Component + RowTracked>(&self) -> Option<Ref<'_, C>> {
        self.as_readonly().get_ref::<C>()
    }

    /// As [`EntityWorldMut::get_ref`], for as long as the world is borrowed.
    pub fn into_ref<C: Component + RowTracked>(self) -> Option<Ref<'w, C>> {
        self.into_readonly().get_ref::<C>()
    }

    /// Writes a component, for as long as the world is borrowed.
    pub fn into_mut<T: Queryable>(self) -> Option<T::Mut<'w>> {
        self.world.get_mut::<T>(self.entity)
    }

    /// Changes a component; `None` when the entity lacks it.
    pub fn modify_component<C: Component, R>(&mut self, change: impl FnOnce(&mut C) -> R) -> Option<R> {
        self.get_mut::<C>().map(|value| change(value.into_inner()))
    }

    /// When a component with row ticks came and was last written.
    pub fn get_change_ticks<C: RowTracked>(&self) -> Option<ComponentTicks> {
        self.as_readonly().get_change_ticks::<C>()
    }

    /// Reads a resource of the world.
    ///
    /// # Panics
    /// When the world has none.
    #[track_caller]
    pub fn resource<R: Resource>(&self) -> &R {
        self.world.resource::<R>()
    }

    /// Writes a resource of the world.
    ///
    /// # Panics
    /// When the world has none.
    #[track_caller]
    pub fn resource_mut<R: Resource>(&mut self) -> Mut<'_, R> {
        self.world.resource_mut::<R>()
    }

    /// Reads a resource of the world, if it has it.
    pub fn get_resource<R: Resource>(&self) -> Option<&R> {
        self.world.get_resource::<R>()
    }

    /// Writes a resource of the world, if it has it.
    pub fn get_resource_mut<R: Resource>(&mut self) -> Option<Mut<'_, R>> {
        self.world.get_resource_mut::<R>()
    }

    /// Uses a resource together with the entity; see [`World::resource_scope`].
    ///
    /// # Panics
    /// When the world has no such resource, or one was inserted meanwhile.
    #[track_caller]
    pub fn resource_scope<R: Resource, T>(
        &mut self,
        f: impl FnOnce(&mut EntityWorldMut<'_>, Mut<'_, R>) -> T,
    ) -> T {
        let entity = self.entity;
        self.world.resource_scope(|world, resource| f(&mut EntityWorldMut::new(world, entity), resource))
    }

    /// As [`EntityWorldMut::resource_scope`]; does nothing, and returns `None`, when the world has no such resource.
    ///
    /// # Panics
    /// When one was inserted meanwhile.
    #[track_caller]
    pub fn try_resource_scope<R: Resource, T>(
        &mut self,
        f: impl FnOnce(&mut EntityWorldMut<'_>, Mut<'_, R>) -> T,
    ) -> Option<T> {
        let entity = self.entity;
        self.world.try_resource_scope(|world, resource| f(&mut EntityWorldMut::new(world, entity), resource))
    }

    /// Removes a bundle and all that its components require.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or the entity's pool requires a component.
    #[track_caller]
    pub fn remove_with_requires<B: Bundle>(&mut self) -> &mut Self {
        let removed = self.world.remove_with_requires::<B>(self.entity);
        self.or_panic(removed)
    }

    /// Removes the components with these ids, as far as the entity has them.
    ///
    /// # Panics
    /// When the entity's pool requires one.
    #[track_caller]
    pub fn remove_by_ids(&mut self, ids: &[ComponentId]) -> &mut Self {
        let removed = self.world.remove_by_ids(self.entity, ids);
        self.or_panic(removed)
    }

    /// Applies the commands that wait in the world, and returns the id.
    pub fn flush(self) -> Entity {
        self.world.flush();
        self.entity
    }

    /// The world the entity lives in.
    pub fn into_world_mut(self) -> &'w mut World {
        self.world
    }

    /// Uses the whole world; afterwards the entity may be another place, or be gone
    /// ([`EntityWorldMut::is_despawned`]).
    pub fn world_scope<T>(&mut self, f: impl FnOnce(&mut World) -> T) -> T {
        f(self.world)
    }

    /// The world. The entity may be despawned through it: then [`is_despawned`](Self::is_despawned) says so, as after
    /// [`world_scope`](Self::world_scope).
    pub fn world_mut(&mut self) -> &mut World {
        self.world
    }

    /// Calls a function with the entity, which may consume it.
    pub fn reborrow_scope<T>(&mut self, f: impl FnOnce(EntityWorldMut<'_>) -> T) -> T {
        f(EntityWorldMut::new(self.world, self.entity))
    }

    /// Records changes of the entity, to be applied by [`World::flush`].
    pub fn entity_commands(&mut self) -> EntityCommands<'_> {
        self.world.commands().into_entity(self.entity)
    }
}

#[cold]
#[track_caller]
fn despawned(entity: Entity) -> ! {
    panic!("{}", crate::world::NoSuchEntity::new(entity))
}
