//! One entity of a world, to be read or changed.
//!
//! Both handles borrow the world, so the entity cannot be despawned meanwhile; after
//! [`EntityWorldMut::despawn`] the handle is gone.

use std::fmt;

use phalanx_store::{Entity, Existing};

use super::{ChangeError, ComponentMissing, World};
use crate::archetype::ArchetypeId;
use crate::bundle::Bundle;
use crate::component::{AnyComponent, Queryable};
use crate::registry::ComponentId;

pub use more::EntityLocation;

mod more;

/// An entity that can be read.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(f32);
/// let mut world = World::new();
/// let id = world.spawn(Health(2.0)).id();
/// let entity = world.entity(id);
/// assert!(entity.contains::<Health>());
/// assert_eq!(entity.get::<Health>().unwrap().0, 2.0);
/// ```
#[derive(Clone, Copy)]
pub struct EntityRef<'w> {
    world: &'w World,
    entity: Entity,
}

impl<'w> EntityRef<'w> {
    pub(crate) fn new(world: &'w World, entity: Entity) -> Self {
        Self { world, entity }
    }

    /// The entity's id.
    #[inline]
    pub fn id(&self) -> Entity {
        self.entity
    }

    /// The world the entity lives in.
    pub fn world(&self) -> &'w World {
        self.world
    }

    /// Whether the entity has a component.
    pub fn contains<C: AnyComponent>(&self) -> bool {
        self.world.components.component_id::<C>().is_some_and(|id| self.contains_id(id))
    }

    /// Whether the entity has the component with this id.
    pub fn contains_id(&self, id: ComponentId) -> bool {
        let archetype = self.world.archetype_of(self.entity);
        archetype.is_some_and(|archetype| self.world.archetypes.signature(archetype).has(id))
            || self.world.has_sparse(self.entity, id)
    }

    /// Reads a component, or one field of one.
    #[inline]
    pub fn get<T: Queryable>(&self) -> Option<T::Ref<'w>> {
        self.world.get::<T>(self.entity)
    }

    /// The entity's archetype.
    pub fn archetype(&self) -> ArchetypeId {
        self.world.archetype_of(self.entity).expect("the world is borrowed, so the entity is alive")
    }

    /// The ids of the entity's components: those in its table, ascending, then those in sparse sets.
    pub fn component_ids(&self) -> impl Iterator<Item = ComponentId> + use<'w> {
        let (world, entity) = (self.world, self.entity);
        let sparse =
            world.set_components.iter().copied().flatten().filter(move |&id| world.has_sparse(entity, id));
        world.archetypes.signature(self.archetype()).iter().chain(sparse)
    }
}

impl fmt::Debug for EntityRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.component_ids().map(|id| self.world.components.info(id).name());
        write!(f, "{} ", self.entity)?;
        f.debug_set().entries(names).finish()
    }
}

/// An entity that can be read and changed.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(f32);
/// # #[derive(Component)] struct Frozen;
/// let mut world = World::new();
/// let id = world.spawn(Health(2.0)).insert(Frozen).id();
/// let mut entity = world.entity_mut(id);
/// entity.get_mut::<Health>().unwrap().0 += 1.0;
/// entity.remove::<Frozen>();
/// assert!(!entity.contains::<Frozen>());
/// entity.despawn();
/// assert!(!world.contains(id));
/// ```
pub struct EntityWorldMut<'w> {
    world: &'w mut World,
    entity: Entity,
}

impl<'w> EntityWorldMut<'w> {
    #[inline]
    pub(crate) fn new(world: &'w mut World, entity: Entity) -> Self {
        Self { world, entity }
    }

    /// The entity's id.
    #[inline]
    pub fn id(&self) -> Entity {
        self.entity
    }

    /// The entity, to be read only.
    pub fn as_readonly(&self) -> EntityRef<'_> {
        EntityRef::new(self.world, self.entity)
    }

    /// The world the entity lives in.
    pub fn world(&self) -> &World {
        self.world
    }

    /// Whether the entity has a component.
    pub fn contains<C: AnyComponent>(&self) -> bool {
        self.as_readonly().contains::<C>()
    }

    /// Whether the entity has the component with this id.
    pub fn contains_id(&self, id: ComponentId) -> bool {
        self.as_readonly().contains_id(id)
    }

    /// Reads a component, or one field of one.
    #[inline]
    pub fn get<T: Queryable>(&self) -> Option<T::Ref<'_>> {
        self.world.get::<T>(self.entity)
    }

    /// Writes a component, or one field of one.
    #[inline]
    pub fn get_mut<T: Queryable>(&mut self) -> Option<T::Mut<'_>> {
        self.world.get_mut::<T>(self.entity)
    }

    /// Inserts a bundle; components that the entity has are replaced, in place.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or the entity's pool does not declare a component; see
    /// [`EntityWorldMut::try_insert`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orc = world.spawn_empty().insert((Health(10.0), Burning)).id();
    /// world.entity_mut(orc).insert(Health(5.0)); // replaces the value
    /// assert_eq!(world.get::<Health>(orc), Some(&Health(5.0)));
    /// ```
    #[track_caller]
    pub fn insert<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        let inserted = self.world.insert_with(self.entity, bundle, Existing::Replace);
        self.or_panic(inserted)
    }

    /// Inserts the parts of a bundle that the entity lacks; what it has stays.
    ///
    /// # Panics
    /// As for [`EntityWorldMut::insert`].
    #[track_caller]
    pub fn insert_if_new<B: Bundle>(&mut self, bundle: B) -> &mut Self {
        let inserted = self.world.insert_with(self.entity, bundle, Existing::Keep);
        self.or_panic(inserted)
    }

    /// As [`EntityWorldMut::insert`], with an error instead of a panic.
    ///
    /// # Errors
    /// When the entity's pool does not declare a component; the bundle is dropped.
    #[track_caller]
    pub fn try_insert<B: Bundle>(&mut self, bundle: B) -> Result<&mut Self, ChangeError> {
        self.world.insert(self.entity, bundle)?;
        Ok(self)
    }

    #[track_caller]
    fn or_panic<T>(&mut self, changed: Result<T, ChangeError>) -> &mut Self {
        match changed {
            Ok(_) => self,
            Err(error) => panic!("{error}"),
        }
    }

    /// Removes what the entity has of a bundle, and drops it.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or the entity's pool requires a component; see
    /// [`EntityWorldMut::try_remove`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orc = world.spawn((Health(10.0), Burning)).id();
    /// world.entity_mut(orc).remove::<Burning>();
    /// assert!(!world.entity(orc).contains::<Burning>());
    /// ```
    #[track_caller]
    pub fn remove<B: Bundle>(&mut self) -> &mut Self {
        let removed = self.world.remove::<B>(self.entity);
        self.or_panic(removed)
    }

    /// As [`EntityWorldMut::remove`], with an error instead of a panic.
    ///
    /// # Errors
    /// When the entity's pool requires a component of the bundle.
    #[track_caller]
    pub fn try_remove<B: Bundle>(&mut self) -> Result<&mut Self, ChangeError> {
        self.world.remove::<B>(self.entity)?;
        Ok(self)
    }

    /// Removes the component with this id, if the entity has it.
    ///
    /// # Panics
    /// When the entity's pool requires it.
    #[track_caller]
    pub fn remove_by_id(&mut self, id: ComponentId) -> &mut Self {
        let removed = self.world.remove_by_id(self.entity, id);
        self.or_panic(removed)
    }

    /// Removes a whole bundle and returns it; `None`, and nothing happens, when a part is missing, or the entity's
    /// pool requires one.
    ///
    /// # Panics
    /// When the bundle has a component twice, or a name is taken.
    #[track_caller]
    pub fn take<B: Bundle>(&mut self) -> Option<B> {
        self.world.take::<B>(self.entity)
    }

    /// Drops every component that is neither in the bundle nor required by a component of it.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or the entity's pool requires a component that is not
    /// kept.
    #[track_caller]
    pub fn retain<B: Bundle>(&mut self) -> &mut Self {
        let retained = self.world.retain::<B>(self.entity);
        self.or_panic(retained)
    }

    /// Drops all components; the entity lives on without a row.
    ///
    /// # Panics
    /// When the entity's pool requires a component.
    #[track_caller]
    pub fn clear(&mut self) -> &mut Self {
        self.retain::<()>()
    }

    /// Changes a component in place.
    ///
    /// # Errors
    /// When the entity lacks it.
    pub fn patch<C: AnyComponent>(
        &mut self,
        change: impl FnOnce(C::Mut<'_>),
    ) -> Result<&mut Self, ComponentMissing> {
        match self.world.get_mut::<C>(self.entity) {
            Some(value) => change(value),
            None => return Err(ComponentMissing::new::<C>(self.entity)),
        }
        Ok(self)
    }

    /// Despawns the entity and drops its components.
    pub fn despawn(self) {
        self.world.despawn(self.entity);
    }

    pub(crate) fn world_and_id(&mut self) -> (&mut World, Entity) {
        (self.world, self.entity)
    }
}

impl fmt::Debug for EntityWorldMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_readonly().fmt(f)
    }
}
