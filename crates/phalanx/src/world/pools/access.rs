//! The typed access to the entities of one pool.
//!
//! [`PoolRef`] and [`PoolMut`] know at compile time what their entities can have: a component that the pool does
//! not declare, or the removal of one that it requires, does not compile. What is left to find out at run time
//! is whether an entity is alive, and in this pool.

use std::marker::PhantomData;

use phalanx_store::{CachedLocation, Entity};

use super::{PoolEntityError, PoolReader, PoolRow};
use crate::archetype::ArchetypeId;
use crate::component::{AnyComponent, Queryable};
use crate::pool::{BundleIn, Declares, Handle, Optional, Pool, PoolId, PoolKey};
use crate::query::{FilterIn, InPool, Query, QueryIn, ReadOnlyQueryData};
use crate::world::World;

/// The entities of one pool, to be read.
pub struct PoolRef<'w, P> {
    pub(super) world: &'w World,
    pool: PhantomData<fn() -> P>,
}

impl<P> Clone for PoolRef<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for PoolRef<'_, P> {}

impl<'w, P: Pool> PoolRef<'w, P> {
    pub(super) fn new(world: &'w World) -> Self {
        Self { world, pool: PhantomData }
    }

    /// The id of the pool, or [`PoolId::NONE`] when it is not registered. Not kept, because handles do not need it.
    #[inline]
    pub(super) fn id(&self) -> PoolId {
        self.world.archetypes.pools().id::<P>().unwrap_or(PoolId::NONE)
    }

    /// The archetypes of the pool, in order of creation.
    pub fn archetypes(&self) -> &'w [ArchetypeId] {
        self.world.archetypes.pools().get(self.id()).map_or(&[], |record| record.archetypes())
    }

    /// How many entities are in the pool.
    pub fn len(&self) -> usize {
        let tables = self.archetypes().iter().filter_map(|&id| self.world.archetypes.table(id));
        let rows: usize = tables.map(|table| self.world.store.table_len(table)).sum();
        rows + if P::IS_GENERAL { self.world.store.entities().rowless_len() } else { 0 }
    }

    /// Whether no entity is in the pool.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entities of the pool: archetypes in order of creation, rows by position, those without a row last.
    pub fn entities(&self) -> impl Iterator<Item = Entity> + use<'w, P> {
        let world = self.world;
        let tables = self.archetypes().iter().filter_map(|&id| world.archetypes.table(id));
        let rowless = P::IS_GENERAL.then(|| world.store.entities().rowless());
        let rows = tables.flat_map(|table| world.store.table_entities(table));
        rows.chain(rowless.into_iter().flatten()).copied()
    }

    /// Whether an entity is alive and in the pool.
    pub fn contains(&self, entity: Entity) -> bool {
        self.world.table_in::<P>(self.id(), entity).is_ok()
    }

    /// A handle to an entity of the pool, which remembers where it is.
    ///
    /// # Errors
    /// When the entity is dead, or in another pool.
    pub fn handle(&self, entity: Entity) -> Result<Handle<P>, PoolEntityError> {
        self.world.table_in::<P>(self.id(), entity)?;
        let cached_location = self.world.store.cached_location(entity);
        cached_location.map(Handle::new).ok_or(PoolEntityError::NoSuchEntity { entity })
    }

    /// Reads a component, or one field of one.
    ///
    /// # Errors
    /// When the entity is dead, in another pool, or lacks an optional component.
    #[inline]
    pub fn get<T: Queryable>(&self, mut key: impl PoolKey<P>) -> Result<T::Ref<'w>, PoolEntityError>
    where
        P: Declares<T::Owner>,
    {
        // Where the handle was right last time, the entity is in its pool: tables stay in theirs.
        if let Some(at) = key.cached_location() {
            return match self.world.store.get_at::<T::Read>(*at, T::ids()) {
                Some(item) => Ok(T::wrap_ref(item)),
                None => self.find::<T>(at).ok_or_else(|| self.why::<T>(at.entity())),
            };
        }
        let (entity, archetypes) = (key.entity(), &self.world.archetypes);
        let id = self.id();
        let in_pool = |table| archetypes.table_is_in(table, id);
        match self.world.store.get_where::<T::Read>(entity, T::ids(), in_pool) {
            Some(item) => Ok(T::wrap_ref(item)),
            None => Err(self.why::<T>(entity)),
        }
    }

    /// A component, or one field of one, of many entities to be read one by one, in any order.
    ///
    /// As [`PoolRef::get`], and cheaper: where the component is kept is found out once.
    #[inline]
    pub fn reader<T: Queryable>(&self) -> PoolReader<'w, P, T>
    where
        P: Declares<T::Owner>,
    {
        PoolReader::new(*self)
    }

    /// Why a component of an entity cannot be read.
    #[inline(always)]
    pub(super) fn why<T: Queryable>(&self, entity: Entity) -> PoolEntityError {
        // Not returned by the call as it is: see `Context::why` of queries.
        self.mismatch::<T>(entity).unwrap_or(PoolEntityError::NoSuchEntity { entity })
    }

    /// Why a component of a living entity cannot be read; `None` for a dead one.
    #[cold]
    #[inline(never)]
    fn mismatch<T: Queryable>(&self, entity: Entity) -> Option<PoolEntityError> {
        match self.world.table_in::<P>(self.id(), entity) {
            Err(PoolEntityError::NoSuchEntity { .. }) => None,
            Err(error) => Some(error),
            Ok(_) => Some(PoolEntityError::missing::<T>(entity)),
        }
    }

    /// Reads a component of an entity that has moved, or lacks it.
    #[cold]
    #[inline(never)]
    pub(super) fn find<T: Queryable>(&self, at: &mut CachedLocation) -> Option<T::Ref<'w>> {
        let entity = at.entity();
        self.world.table_in::<P>(self.id(), entity).ok()?;
        self.world.store.find_location(at);
        self.world.get::<T>(entity)
    }

    /// Reads all entities of the pool that have `D`.
    pub fn query<D: ReadOnlyQueryData + QueryIn<P> + 'static>(&self) -> Query<'w, 'w, D, InPool<P>> {
        self.world.view_filtered()
    }

    /// Reads all entities of the pool that have `D` and pass `F`.
    pub fn query_filtered<D, F>(&self) -> Query<'w, 'w, D, (InPool<P>, F)>
    where
        D: ReadOnlyQueryData + QueryIn<P> + 'static,
        F: FilterIn<P> + 'static,
    {
        self.world.view_filtered()
    }
}

/// The entities of one pool, to be read and changed.
pub struct PoolMut<'w, P: Pool> {
    world: &'w mut World,
    id: PoolId,
    pool: PhantomData<fn() -> P>,
}

impl<'w, P: Pool> PoolMut<'w, P> {
    pub(super) fn new(world: &'w mut World, id: PoolId) -> Self {
        Self { world, id, pool: PhantomData }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "a key is small, and one that is lent may be corrected")]
impl<P: Pool> PoolMut<'_, P> {
    /// The same pool, to be read.
    #[inline]
    pub fn as_ref(&self) -> PoolRef<'_, P> {
        PoolRef::new(self.world)
    }

    /// The archetypes of the pool, in order of creation.
    pub fn archetypes(&self) -> &[ArchetypeId] {
        self.as_ref().archetypes()
    }

    /// How many entities are in the pool.
    pub fn len(&self) -> usize {
        self.as_ref().len()
    }

    /// Whether no entity is in the pool.
    pub fn is_empty(&self) -> bool {
        self.as_ref().is_empty()
    }

    /// The entities of the pool; see [`PoolRef::entities`].
    pub fn entities(&self) -> impl Iterator<Item = Entity> + use<'_, P> {
        self.as_ref().entities()
    }

    /// Whether an entity is alive and in the pool.
    pub fn contains(&self, entity: Entity) -> bool {
        self.as_ref().contains(entity)
    }

    /// A handle to an entity of the pool, which remembers where it is.
    ///
    /// # Errors
    /// When the entity is dead, or in another pool.
    pub fn handle(&self, entity: Entity) -> Result<Handle<P>, PoolEntityError> {
        self.as_ref().handle(entity)
    }

    /// Reads a component, or one field of one.
    ///
    /// # Errors
    /// When the entity is dead, in another pool, or lacks an optional component.
    #[inline]
    pub fn get<T: Queryable>(&self, key: impl PoolKey<P>) -> Result<T::Ref<'_>, PoolEntityError>
    where
        P: Declares<T::Owner>,
    {
        self.as_ref().get::<T>(key)
    }

    /// Writes a component, or one field of one.
    ///
    /// # Errors
    /// When the entity is dead, in another pool, or lacks an optional component.
    #[inline]
    pub fn get_mut<T: Queryable>(&mut self, mut key: impl PoolKey<P>) -> Result<T::Mut<'_>, PoolEntityError>
    where
        P: Declares<T::Owner>,
    {
        let entity = key.entity();
        if let Some(at) = key.cached_location()
            && (self.world.store.is_current(*at) || self.find_location(at)?)
        {
            let since = self.world.last_tick;
            let item = self.world.store.get_at_mut::<T::Write>(*at, T::ids());
            return item
                .map(|item| T::wrap_mut(item, since))
                .ok_or_else(|| PoolEntityError::missing::<T>(entity));
        }
        self.world.table_in::<P>(self.id, entity)?;
        self.world.get_mut::<T>(entity).ok_or_else(|| PoolEntityError::missing::<T>(entity))
    }

    /// Brings a handle up to date, and tells whether its entity has a row.
    #[cold]
    #[inline(never)]
    fn find_location(&self, at: &mut CachedLocation) -> Result<bool, PoolEntityError> {
        self.world.table_in::<P>(self.id, at.entity())?;
        Ok(self.world.store.find_location(at) && self.world.store.is_current(*at))
    }

    /// Inserts components that the pool declares. Those that the entity has are replaced, in place.
    ///
    /// # Errors
    /// When the entity is dead, or in another pool; the bundle is dropped.
    #[track_caller]
    pub fn insert<B: BundleIn<P>>(&mut self, key: impl PoolKey<P>, bundle: B) -> Result<(), PoolEntityError> {
        let entity = key.entity();
        self.world.table_in::<P>(self.id, entity)?;
        self.world.insert(entity, bundle).expect("a pool declares what its bundles bring");
        Ok(())
    }

    /// Removes an optional component and drops it. False when the entity lacks it.
    ///
    /// # Errors
    /// When the entity is dead, or in another pool.
    #[track_caller]
    pub fn remove<C: AnyComponent>(&mut self, key: impl PoolKey<P>) -> Result<bool, PoolEntityError>
    where
        P: Optional<C>,
    {
        let entity = key.entity();
        self.world.table_in::<P>(self.id, entity)?;
        let had = self.world.entity(entity).contains::<C>();
        self.world.remove::<C>(entity).expect("optional components may go");
        Ok(had)
    }

    /// Removes an optional component and returns it; `None` when the entity lacks it.
    ///
    /// # Errors
    /// When the entity is dead, or in another pool.
    #[track_caller]
    pub fn take<C: AnyComponent>(&mut self, key: impl PoolKey<P>) -> Result<Option<C>, PoolEntityError>
    where
        P: Optional<C>,
    {
        let entity = key.entity();
        self.world.table_in::<P>(self.id, entity)?;
        Ok(self.world.take(entity))
    }

    /// Despawns an entity of the pool.
    ///
    /// # Errors
    /// When the entity is dead, or in another pool.
    #[inline]
    pub fn despawn(&mut self, key: impl PoolKey<P>) -> Result<(), PoolEntityError> {
        let entity = key.entity();
        if !self.world.is_end_heard(entity) && self.world.store.despawn_as::<P, PoolRow<P::Values>>(entity) {
            return Ok(());
        }
        self.world.table_in::<P>(self.id, entity)?;
        self.world.despawn(entity);
        Ok(())
    }

    /// Reads and writes all entities of the pool that have `D`.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn query<D: QueryIn<P> + 'static>(&mut self) -> Query<'_, '_, D, InPool<P>> {
        self.world.view_filtered_mut()
    }

    /// Reads and writes all entities of the pool that have `D` and pass `F`.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn query_filtered<D: QueryIn<P> + 'static, F: FilterIn<P> + 'static>(
        &mut self,
    ) -> Query<'_, '_, D, (InPool<P>, F)> {
        self.world.view_filtered_mut()
    }
}
