//! Queries that the user keeps, asked of their world.
//!
//! A [`QueryState`] belongs to the world that made it, and brings itself up to date whenever it is asked. Each
//! method is the one of the same name of [`Query`], with the world to ask.

use std::borrow::Borrow;

use phalanx_store::{DenseFetch, Entity, Fetch, TableId, Tick};

use super::World;
use crate::archetype::ArchetypeId;
use crate::query::{
    ArchetypeFilter, Moment, Query, QueryChunks, QueryCombinationIter, QueryData, QueryEntityError,
    QueryFilter, QueryIter, QueryManyIter, QueryManyMatchedIter, QueryManyUniqueIter, QueryNotDenseError,
    QuerySingleError, QueryState,
};
#[cfg(feature = "parallel")]
use crate::query::{ParChunks, ParQuery};
use crate::registry::ComponentId;

/// What a query yields to readers.
type ReadItem<'w, D> = <<D as QueryData>::ReadOnly as QueryData>::Item<'w>;

/// Asked of another world than their own, all methods that take a world panic.
impl<D: QueryData, F: QueryFilter> QueryState<D, F> {
    /// A query to be kept by the caller; the same as [`World::query_filtered`].
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn new(world: &World) -> Self {
        world.query_filtered()
    }

    /// Takes note of the archetypes that came and went, as every other method does first.
    #[track_caller]
    pub fn update_archetypes(&mut self, world: &World) {
        if !self.fetch.asked.is_current(&world.archetypes) {
            self.expect_own(&world.archetypes);
            self.fetch.update(&world.store, &world.archetypes, &world.components);
        }
    }

    /// The query, for reading.
    #[track_caller]
    pub fn query<'w>(&'w mut self, world: &'w World) -> Query<'w, 'w, D::ReadOnly, F> {
        self.update_archetypes(world);
        let context = self.fetch.asked.context(&world.archetypes, &world.components);
        let view = world.store.view_read_only(&self.fetch.prepared).with_driver(self.fetch.asked.driver);
        Query::new(view, Moment::in_whole(world.last_tick, Some(world)), context)
    }

    /// The query, for reading and writing.
    #[track_caller]
    pub fn query_mut<'w>(&'w mut self, world: &'w mut World) -> Query<'w, 'w, D, F> {
        self.update_archetypes(world);
        let context = self.fetch.asked.context(&world.archetypes, &world.components);
        let view = world.store.view_mut(&self.fetch.prepared).with_driver(self.fetch.asked.driver);
        Query::new(view, world.last_tick, context)
    }

    /// As [`QueryState::new`], with `None` instead of a panic.
    pub fn try_new(world: &World) -> Option<Self> {
        world.try_query_filtered().ok()
    }

    /// The archetypes that the query visits, in order, as of its last use; the empty one stands for entities
    /// without a row.
    pub fn matched_archetypes(&self) -> impl Iterator<Item = ArchetypeId> + '_ {
        self.archetypes().iter().copied()
    }

    /// The tables of these archetypes, in the order in which they are visited, as of the state's last use.
    pub fn matched_tables(&self) -> impl Iterator<Item = TableId> + '_ {
        self.fetch.prepared.tables().iter().copied()
    }

    /// As [`QueryState::query`], for a state that is up to date and only borrowed.
    ///
    /// # Panics
    /// When archetypes came or went since the state was last used.
    #[track_caller]
    pub fn query_manual<'w>(&'w self, world: &'w World) -> Query<'w, 'w, D::ReadOnly, F> {
        self.expect_own(&world.archetypes);
        assert!(
            self.fetch.asked.is_current(&world.archetypes),
            "archetypes came or went since this `QueryState` was used: call `update_archetypes` first"
        );
        let context = self.fetch.asked.context(&world.archetypes, &world.components);
        let view = world.store.view_read_only(&self.fetch.prepared).with_driver(self.fetch.asked.driver);
        Query::new(view, Moment::in_whole(world.last_tick, Some(world)), context)
    }

    /// As [`QueryState::iter`], for a state that is up to date; see [`QueryState::query_manual`].
    #[track_caller]
    pub fn iter_manual<'w>(&'w self, world: &'w World) -> QueryIter<'w, D::ReadOnly, F> {
        self.query_manual(world).into_iter()
    }

    /// As [`QueryState::get`], for a state that is up to date; see [`QueryState::query_manual`].
    ///
    /// # Errors
    /// When the entity is dead or not in the query.
    #[track_caller]
    pub fn get_manual<'w>(
        &'w self,
        world: &'w World,
        entity: Entity,
    ) -> Result<ReadItem<'w, D>, QueryEntityError> {
        self.query_manual(world).get_inner(entity)
    }

    /// As [`QueryState::iter_many`], for a state that is up to date; see [`QueryState::query_manual`].
    #[track_caller]
    pub fn iter_many_manual<'w, I: IntoIterator<Item: Borrow<Entity>>>(
        &'w self,
        world: &'w World,
        entities: I,
    ) -> QueryManyMatchedIter<'w, D::ReadOnly, F, I::IntoIter> {
        self.query_manual(world).iter_many_inner(entities).matched()
    }

    /// As [`QueryState::iter_many_unique`], for a state that is up to date; see [`QueryState::query_manual`].
    #[track_caller]
    pub fn iter_many_unique_manual<'w, I: IntoIterator<Item: Borrow<Entity>>>(
        &'w self,
        world: &'w World,
        entities: I,
    ) -> QueryManyUniqueIter<'w, D::ReadOnly, F, I::IntoIter> {
        self.query_manual(world).iter_many_unique_inner(entities)
    }

    /// Checks that the state was made by this world, as every other method does.
    ///
    /// # Panics
    /// When another world made it.
    #[track_caller]
    pub fn validate_world(&self, world: &World) {
        self.expect_own(&world.archetypes);
    }

    /// Whether the query would visit entities with exactly these components, of tables.
    pub fn matches_component_set(&self, has: &dyn Fn(ComponentId) -> bool, world: &World) -> bool {
        let ids = world.components.iter().map(crate::registry::ComponentInfo::id).filter(|id| has(*id));
        self.filter().admits_set(&ids.collect())
    }

    /// Reads every table that matches, as slices of equal length; see [`Query::contiguous_iter`].
    ///
    /// # Errors
    /// Never: a query with a part that is not in tables does not compile here.
    #[track_caller]
    pub fn contiguous_iter<'w>(
        &'w mut self,
        world: &'w World,
    ) -> Result<QueryChunks<'w, D::ReadOnly, F>, QueryNotDenseError>
    where
        F: ArchetypeFilter,
        <D::Fetch as Fetch>::ReadOnly: DenseFetch,
    {
        self.query(world).contiguous_iter_inner()
    }

    /// As [`QueryState::contiguous_iter`], for writing.
    ///
    /// # Errors
    /// Never, as for [`QueryState::contiguous_iter`].
    #[track_caller]
    pub fn contiguous_iter_mut<'w>(
        &'w mut self,
        world: &'w mut World,
    ) -> Result<QueryChunks<'w, D, F>, QueryNotDenseError>
    where
        F: ArchetypeFilter,
        D::Fetch: DenseFetch,
    {
        self.query_mut(world).contiguous_iter_inner()
    }

    /// Reads every match.
    #[track_caller]
    pub fn iter<'w>(&'w mut self, world: &'w World) -> QueryIter<'w, D::ReadOnly, F> {
        self.query(world).into_iter()
    }

    /// Reads and writes every match.
    #[track_caller]
    pub fn iter_mut<'w>(&'w mut self, world: &'w mut World) -> QueryIter<'w, D, F> {
        self.query_mut(world).into_iter()
    }

    /// Reads one entity.
    ///
    /// # Errors
    /// When it is dead or does not match.
    #[track_caller]
    pub fn get<'w>(
        &'w mut self,
        world: &'w World,
        entity: Entity,
    ) -> Result<ReadItem<'w, D>, QueryEntityError> {
        self.query(world).get_inner(entity)
    }

    /// Reads and writes one entity.
    ///
    /// # Errors
    /// When it is dead or does not match.
    #[track_caller]
    pub fn get_mut<'w>(
        &'w mut self,
        world: &'w mut World,
        entity: Entity,
    ) -> Result<D::Item<'w>, QueryEntityError> {
        self.query_mut(world).get_inner(entity)
    }

    /// Reads several entities; the same one may occur twice.
    ///
    /// # Errors
    /// For the first entity that is dead or does not match.
    #[track_caller]
    pub fn get_many<'w, const N: usize>(
        &'w mut self,
        world: &'w World,
        entities: [Entity; N],
    ) -> Result<[ReadItem<'w, D>; N], QueryEntityError> {
        self.query(world).get_many_inner(entities)
    }

    /// Reads and writes several different entities.
    ///
    /// # Errors
    /// For the first entity that is dead, does not match, or occurs twice.
    #[track_caller]
    pub fn get_many_mut<'w, const N: usize>(
        &'w mut self,
        world: &'w mut World,
        entities: [Entity; N],
    ) -> Result<[D::Item<'w>; N], QueryEntityError> {
        self.query_mut(world).get_many_mut_inner(entities)
    }

    /// Reads several different entities.
    ///
    /// # Errors
    /// For the first entity that is dead, does not match, or occurs twice.
    #[track_caller]
    pub fn get_many_unique<'w, const N: usize>(
        &'w mut self,
        world: &'w World,
        entities: [Entity; N],
    ) -> Result<[ReadItem<'w, D>; N], QueryEntityError> {
        self.query(world).get_many_unique_inner(entities)
    }

    /// As [`QueryState::get_many_mut`].
    ///
    /// # Errors
    /// As for [`QueryState::get_many_mut`].
    #[track_caller]
    pub fn get_many_unique_mut<'w, const N: usize>(
        &'w mut self,
        world: &'w mut World,
        entities: [Entity; N],
    ) -> Result<[D::Item<'w>; N], QueryEntityError> {
        self.get_many_mut(world, entities)
    }

    /// Reads the entities of a list, in the list's order, as often as they occur; see [`Query::iter_many`].
    #[track_caller]
    pub fn iter_many<'w, I: IntoIterator<Item: Borrow<Entity>>>(
        &'w mut self,
        world: &'w World,
        entities: I,
    ) -> QueryManyIter<'w, D::ReadOnly, F, I::IntoIter> {
        self.query(world).iter_many_inner(entities)
    }

    /// Reads and writes the entities of a list, one after the other.
    #[track_caller]
    pub fn iter_many_mut<'w, I: IntoIterator<Item: Borrow<Entity>>>(
        &'w mut self,
        world: &'w mut World,
        entities: I,
    ) -> QueryManyIter<'w, D, F, I::IntoIter> {
        self.query_mut(world).iter_many_inner(entities)
    }

    /// Reads the entities of a list without repetitions; see [`Query::iter_many_unique`].
    #[track_caller]
    pub fn iter_many_unique<'w, I: IntoIterator<Item: Borrow<Entity>>>(
        &'w mut self,
        world: &'w World,
        entities: I,
    ) -> QueryManyUniqueIter<'w, D::ReadOnly, F, I::IntoIter> {
        self.query(world).iter_many_unique_inner(entities)
    }

    /// As [`QueryState::iter_many_unique`], to be read and written.
    #[track_caller]
    pub fn iter_many_unique_mut<'w, I: IntoIterator<Item: Borrow<Entity>>>(
        &'w mut self,
        world: &'w mut World,
        entities: I,
    ) -> QueryManyUniqueIter<'w, D, F, I::IntoIter> {
        self.query_mut(world).iter_many_unique_inner(entities)
    }

    /// Reads each unordered choice of `K` matches, in the query's order.
    #[track_caller]
    pub fn iter_combinations<'w, const K: usize>(
        &'w mut self,
        world: &'w World,
    ) -> QueryCombinationIter<'w, D::ReadOnly, F, K> {
        self.query(world).iter_combinations_inner()
    }

    /// Reads and writes each unordered choice of `K` matches, one after the other.
    #[track_caller]
    pub fn iter_combinations_mut<'w, const K: usize>(
        &'w mut self,
        world: &'w mut World,
    ) -> QueryCombinationIter<'w, D, F, K> {
        self.query_mut(world).iter_combinations_inner()
    }

    /// The only match, to be read.
    ///
    /// # Errors
    /// When there is none, or more than one.
    #[track_caller]
    pub fn single<'w>(&'w mut self, world: &'w World) -> Result<ReadItem<'w, D>, QuerySingleError> {
        self.query(world).single_inner()
    }

    /// The only match.
    ///
    /// # Errors
    /// When there is none, or more than one.
    #[track_caller]
    pub fn single_mut<'w>(&'w mut self, world: &'w mut World) -> Result<D::Item<'w>, QuerySingleError> {
        self.query_mut(world).single_inner()
    }

    /// Whether the query visits no entity. What came or changed after `last_run` is new; `_this_run` is accepted as
    /// in bevy, and not needed.
    #[track_caller]
    pub fn is_empty(&mut self, world: &World, last_run: Tick, _this_run: Tick) -> bool {
        self.query(world).since(last_run).is_empty()
    }

    /// Whether the query visits an entity. What came or changed after `last_run` is new; `_this_run` is accepted as
    /// in bevy, and not needed.
    #[track_caller]
    pub fn contains(&mut self, entity: Entity, world: &World, last_run: Tick, _this_run: Tick) -> bool {
        self.query(world).since(last_run).contains(entity)
    }

    /// Reads every match on several threads, as far as that is faster.
    #[cfg(feature = "parallel")]
    #[track_caller]
    pub fn par_iter<'w>(&'w mut self, world: &'w World) -> ParQuery<'w, D::ReadOnly, F> {
        ParQuery::new(self.query(world))
    }

    /// Reads and writes every match on several threads, as far as that is faster.
    #[cfg(feature = "parallel")]
    #[track_caller]
    pub fn par_iter_mut<'w>(&'w mut self, world: &'w mut World) -> ParQuery<'w, D, F> {
        ParQuery::new(self.query_mut(world))
    }

    /// Reads every table that matches on several threads, as slices of equal length.
    ///
    /// # Errors
    /// Never, as for [`QueryState::contiguous_iter`].
    #[cfg(feature = "parallel")]
    #[track_caller]
    pub fn contiguous_par_iter<'w>(
        &'w mut self,
        world: &'w World,
    ) -> Result<ParChunks<'w, D::ReadOnly, F>, QueryNotDenseError>
    where
        F: ArchetypeFilter,
        <D::Fetch as Fetch>::ReadOnly: DenseFetch,
    {
        self.query(world).contiguous_par_iter_inner()
    }

    /// As [`QueryState::contiguous_par_iter`], for writing.
    ///
    /// # Errors
    /// Never, as for [`QueryState::contiguous_iter`].
    #[cfg(feature = "parallel")]
    #[track_caller]
    pub fn contiguous_par_iter_mut<'w>(
        &'w mut self,
        world: &'w mut World,
    ) -> Result<ParChunks<'w, D, F>, QueryNotDenseError>
    where
        F: ArchetypeFilter,
        D::Fetch: DenseFetch,
    {
        self.query_mut(world).contiguous_par_iter_inner()
    }
}
