//! One entity or several, for [`World::entity`] and its kin: an id, an array or a slice of ids.
//!
//! Several entities are read as so many [`EntityRef`]s. For writing, one entity is an [`EntityWorldMut`]; several are
//! [`EntityMut`]s, whose components can be written but do not come or go, and no entity may be named twice.

use phalanx_store::Entity;

use super::{EntityFetchError, EntityMut, EntityRef, EntityWorldMut, NoSuchEntity, World};

/// What [`World::entity`] and [`World::entity_mut`] take: an entity, an array, or a slice of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no entities",
    label = "expected an `Entity`, an array or a slice of them"
)]
pub trait WorldEntityFetch {
    /// What is read.
    type Ref<'w>;
    /// What is written.
    type Mut<'w>;

    /// Reads the entities.
    ///
    /// # Errors
    /// When one of them is dead.
    fn fetch_ref(self, world: &World) -> Result<Self::Ref<'_>, NoSuchEntity>;
    /// Reads and writes the entities.
    ///
    /// # Errors
    /// When one of them is dead, or named twice.
    fn fetch_mut(self, world: &mut World) -> Result<Self::Mut<'_>, EntityFetchError>;
}

impl WorldEntityFetch for Entity {
    type Ref<'w> = EntityRef<'w>;
    type Mut<'w> = EntityWorldMut<'w>;

    #[inline]
    fn fetch_ref(self, world: &World) -> Result<EntityRef<'_>, NoSuchEntity> {
        if world.contains(self) { Ok(EntityRef::new(world, self)) } else { Err(NoSuchEntity::new(self)) }
    }
    #[inline]
    fn fetch_mut(self, world: &mut World) -> Result<EntityWorldMut<'_>, EntityFetchError> {
        if world.contains(self) {
            Ok(EntityWorldMut::new(world, self))
        } else {
            Err(EntityFetchError::dead(self))
        }
    }
}

impl<const N: usize> WorldEntityFetch for [Entity; N] {
    type Ref<'w> = [EntityRef<'w>; N];
    type Mut<'w> = [EntityMut<'w>; N];

    fn fetch_ref(self, world: &World) -> Result<[EntityRef<'_>; N], NoSuchEntity> {
        match self.iter().find(|&&entity| !world.contains(entity)) {
            Some(&dead) => Err(NoSuchEntity::new(dead)),
            None => Ok(self.map(|entity| EntityRef::new(world, entity))),
        }
    }
    fn fetch_mut(self, world: &mut World) -> Result<[EntityMut<'_>; N], EntityFetchError> {
        let lent = world.lend_entities(&self)?;
        Ok(lent.try_into().unwrap_or_else(|_| unreachable!("as many are lent as are named")))
    }
}

impl<const N: usize> WorldEntityFetch for &[Entity; N] {
    type Ref<'w> = [EntityRef<'w>; N];
    type Mut<'w> = [EntityMut<'w>; N];

    fn fetch_ref(self, world: &World) -> Result<[EntityRef<'_>; N], NoSuchEntity> {
        (*self).fetch_ref(world)
    }
    fn fetch_mut(self, world: &mut World) -> Result<[EntityMut<'_>; N], EntityFetchError> {
        (*self).fetch_mut(world)
    }
}

impl WorldEntityFetch for &[Entity] {
    type Ref<'w> = Vec<EntityRef<'w>>;
    type Mut<'w> = Vec<EntityMut<'w>>;

    fn fetch_ref(self, world: &World) -> Result<Vec<EntityRef<'_>>, NoSuchEntity> {
        self.iter().map(|entity| entity.fetch_ref(world)).collect()
    }
    fn fetch_mut(self, world: &mut World) -> Result<Vec<EntityMut<'_>>, EntityFetchError> {
        world.lend_entities(self)
    }
}

impl World {
    /// Reads an entity, or each of several.
    ///
    /// # Panics
    /// When one is dead; see [`World::get_entity`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// let orc = world.spawn(Health(10.0)).id();
    /// let elf = world.spawn((Health(8.0), Burning)).id();
    /// assert!(!world.entity(orc).contains::<Burning>());
    /// let [a, b] = world.entity([orc, elf]); // several at once
    /// assert_ne!(a.get::<Health>(), b.get::<Health>());
    /// ```
    #[track_caller]
    pub fn entity<F: WorldEntityFetch>(&self, entities: F) -> F::Ref<'_> {
        match self.get_entity(entities) {
            Ok(entities) => entities,
            Err(error) => panic!("{error}"),
        }
    }

    /// Reads and changes an entity; or reads and writes the components of each of several.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// let mut world = World::new();
    /// let (a, b) = (world.spawn(Health(1)).id(), world.spawn(Health(2)).id());
    /// let [mut a, b] = world.entity_mut([a, b]);
    /// a.get_mut::<Health>().unwrap().0 += b.get::<Health>().unwrap().0;
    /// ```
    ///
    /// # Panics
    /// When one is dead, or named twice; see [`World::get_entity_mut`].
    #[track_caller]
    pub fn entity_mut<F: WorldEntityFetch>(&mut self, entities: F) -> F::Mut<'_> {
        match self.get_entity_mut(entities) {
            Ok(entities) => entities,
            Err(error) => panic!("{error}"),
        }
    }

    /// Reads an entity, or each of several.
    ///
    /// # Errors
    /// When one is dead.
    pub fn get_entity<F: WorldEntityFetch>(&self, entities: F) -> Result<F::Ref<'_>, NoSuchEntity> {
        entities.fetch_ref(self)
    }

    /// Reads and changes an entity; or reads and writes the components of each of several.
    ///
    /// # Errors
    /// When one is dead, or named twice.
    pub fn get_entity_mut<F: WorldEntityFetch>(
        &mut self,
        entities: F,
    ) -> Result<F::Mut<'_>, EntityFetchError> {
        entities.fetch_mut(self)
    }
}
