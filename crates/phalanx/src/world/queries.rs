//! Queries asked of a world.
//!
//! Nothing is checked per run: `&World` lends reading queries, `&mut World` writing ones. States live in the
//! world's cache, or with the user as a [`QueryState`].

use phalanx_store::Tick;

use super::World;
use crate::query::{
    Asked, Context, Query, QueryConflict, QueryData, QueryFilter, QueryIter, QueryState, ReadOnlyQueryData,
};

impl World {
    /// Reads all entities that have `D`.
    pub fn query<D: ReadOnlyQueryData + 'static>(&self) -> Query<'_, D> {
        self.query_filtered::<D, ()>()
    }

    /// Reads all entities that have `D` and pass `F`.
    pub fn query_filtered<D: ReadOnlyQueryData + 'static, F: QueryFilter + 'static>(
        &self,
    ) -> Query<'_, D, F> {
        let state = self.queries.get::<D, F>(&self.store, &self.archetypes, &self.components);
        let state = state.unwrap_or_else(|_| unreachable!("queries that only read have no conflicts"));
        let context = state.fetch.asked.context(&self.archetypes, &self.components);
        Query::new(self.store.view(&state.fetch.prepared), self.last_tick, context)
    }

    /// Reads and writes all entities that have `D`.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn query_mut<D: QueryData + 'static>(&mut self) -> Query<'_, D> {
        self.query_filtered_mut::<D, ()>()
    }

    /// Reads and writes all entities that have `D` and pass `F`.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn query_filtered_mut<D: QueryData + 'static, F: QueryFilter + 'static>(
        &mut self,
    ) -> Query<'_, D, F> {
        let state = match self.queries.get::<D, F>(&self.store, &self.archetypes, &self.components) {
            Ok(state) => state,
            Err(conflict) => panic!("{conflict}"),
        };
        let context = state.fetch.asked.context(&self.archetypes, &self.components);
        Query::new(self.store.view_mut(&state.fetch.prepared), self.last_tick, context)
    }

    /// A query state to be kept by the caller.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; see [`World::try_query_state`].
    #[track_caller]
    pub fn query_state<D: QueryData>(&self) -> QueryState<D> {
        self.query_state_filtered::<D, ()>()
    }

    /// As [`World::query_state`], with a filter.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; see [`World::try_query_state`].
    #[track_caller]
    pub fn query_state_filtered<D: QueryData, F: QueryFilter>(&self) -> QueryState<D, F> {
        match self.try_query_state() {
            Ok(state) => state,
            Err(conflict) => panic!("{conflict}"),
        }
    }

    /// As [`World::query_state_filtered`], with an error instead of a panic.
    ///
    /// # Errors
    /// When two parts of `D` use the same data and one of them writes; both are named.
    pub fn try_query_state<D: QueryData, F: QueryFilter>(&self) -> Result<QueryState<D, F>, QueryConflict> {
        QueryState::try_new(&self.store, &self.archetypes, &self.components)
    }

    /// How many queries the world keeps prepared, and how many different filters they have.
    pub fn prepared_queries(&self) -> (usize, usize) {
        self.queries.count()
    }

    /// Ends an interval of change detection: what `Changed`, `Added` and `Ref` call new from now on is what
    /// comes after this call.
    pub fn clear_trackers(&mut self) {
        self.last_tick = self.store.tick();
        self.store.advance_tick();
    }

    /// The moment after which changes count as new.
    pub fn last_tick(&self) -> Tick {
        self.last_tick
    }

    /// Brings kept queries up to date after archetypes or components came or went.
    pub(crate) fn update_queries(&mut self) {
        self.queries.update(&self.store, &self.archetypes, &self.components);
    }
}

impl<D: QueryData, F: QueryFilter> QueryState<D, F> {
    /// The query on a world, for reading.
    ///
    /// A state serves any world. It starts afresh when the world is another one than last time.
    pub fn query<'w>(&'w mut self, world: &'w World) -> Query<'w, D, F>
    where
        D: ReadOnlyQueryData,
    {
        self.fetch.update(&world.store, &world.archetypes, &world.components);
        let context = self.fetch.asked.context(&world.archetypes, &world.components);
        let view = world.store.view(&self.fetch.prepared).led_by(self.fetch.asked.lead);
        Query::new(view, world.last_tick, context)
    }

    /// The query on a world, for reading and writing.
    pub fn query_mut<'w>(&'w mut self, world: &'w mut World) -> Query<'w, D, F> {
        self.fetch.update(&world.store, &world.archetypes, &world.components);
        let context = self.fetch.asked.context(&world.archetypes, &world.components);
        let view = world.store.view_mut(&self.fetch.prepared).led_by(self.fetch.asked.lead);
        Query::new(view, world.last_tick, context)
    }

    /// Reads every match.
    pub fn iter<'w>(&'w mut self, world: &'w World) -> QueryIter<'w, D, F>
    where
        D: ReadOnlyQueryData,
    {
        self.query(world).into_iter()
    }

    /// Reads and writes every match.
    pub fn iter_mut<'w>(&'w mut self, world: &'w mut World) -> QueryIter<'w, D, F> {
        self.query_mut(world).into_iter()
    }
}

impl Asked {
    pub(crate) fn context<'w>(
        &'w self,
        archetypes: &'w crate::archetype::Archetypes,
        components: &'w crate::registry::Components,
    ) -> Context<'w> {
        Context { condition: &self.condition, filter: self.filter(), archetypes, components }
    }
}
