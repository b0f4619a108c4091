//! Queries asked of a world.
//!
//! Nothing is checked per run: `&World` lends reading views, `&mut World` writing ones. Their states live in the
//! world's cache; those that a user keeps are in `kept_queries`.

use super::World;
use crate::query::{
    Asked, Context, Moment, Query, QueryConflict, QueryData, QueryFilter, QueryState, ReadOnlyQueryData,
};

impl World {
    /// Reads all entities that have `D`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0), Health(2.0)]);
    /// let all: f32 = world.view::<&Health>().iter().map(|health| health.0).sum();
    /// assert_eq!(all, 3.0);
    /// ```
    pub fn view<D: ReadOnlyQueryData + 'static>(&self) -> Query<'_, '_, D> {
        self.view_filtered::<D, ()>()
    }

    /// Reads all entities that have `D` and pass `F`.
    pub fn view_filtered<D: ReadOnlyQueryData + 'static, F: QueryFilter + 'static>(
        &self,
    ) -> Query<'_, '_, D, F> {
        let state = self.queries.get::<D, F>(&self.store, &self.archetypes, &self.components);
        let state = state.unwrap_or_else(|_| unreachable!("queries that only read have no conflicts"));
        let context = state.fetch.asked.context(&self.archetypes, &self.components);
        let since = Moment::in_whole(self.last_tick, Some(self));
        Query::new(self.store.view(&state.fetch.prepared), since, context)
    }

    /// Reads and writes all entities that have `D`.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component, Debug, PartialEq)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Burning;
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0), Health(2.0)]);
    /// for mut health in world.view_mut::<&mut Health>() {
    ///     health.0 *= 10.0;
    /// }
    /// ```
    #[track_caller]
    pub fn view_mut<D: QueryData + 'static>(&mut self) -> Query<'_, '_, D> {
        self.view_filtered_mut::<D, ()>()
    }

    /// Reads and writes all entities that have `D` and pass `F`.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; both are named.
    #[track_caller]
    pub fn view_filtered_mut<D: QueryData + 'static, F: QueryFilter + 'static>(
        &mut self,
    ) -> Query<'_, '_, D, F> {
        let state = match self.queries.get::<D, F>(&self.store, &self.archetypes, &self.components) {
            Ok(state) => state,
            Err(conflict) => panic!("{conflict}"),
        };
        let context = state.fetch.asked.context(&self.archetypes, &self.components);
        Query::new(self.store.view_mut(&state.fetch.prepared), self.last_tick, context)
    }

    /// A query to be kept by the caller and asked again and again.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)] struct Health(f32);
    /// # let mut world = World::new();
    /// # world.spawn(Health(3.0));
    /// let mut wounded = world.query::<&mut Health>();
    /// for mut health in wounded.iter_mut(&mut world) {
    ///     health.0 += 1.0;
    /// }
    /// ```
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; see [`World::try_query`].
    #[track_caller]
    pub fn query<D: QueryData>(&self) -> QueryState<D> {
        self.query_filtered::<D, ()>()
    }

    /// As [`World::query`], with a filter.
    ///
    /// # Panics
    /// When two parts of `D` use the same data and one of them writes; see [`World::try_query_filtered`].
    #[track_caller]
    pub fn query_filtered<D: QueryData, F: QueryFilter>(&self) -> QueryState<D, F> {
        match self.try_query_filtered() {
            Ok(state) => state,
            Err(conflict) => panic!("{conflict}"),
        }
    }

    /// As [`World::query`], with an error instead of a panic.
    ///
    /// # Errors
    /// When two parts of `D` use the same data and one of them writes; both are named.
    pub fn try_query<D: QueryData>(&self) -> Result<QueryState<D>, QueryConflict> {
        self.try_query_filtered()
    }

    /// As [`World::query_filtered`], with an error instead of a panic.
    ///
    /// # Errors
    /// When two parts of `D` use the same data and one of them writes; both are named.
    pub fn try_query_filtered<D: QueryData, F: QueryFilter>(
        &self,
    ) -> Result<QueryState<D, F>, QueryConflict> {
        QueryState::prepared(&self.store, &self.archetypes, &self.components)
    }

    /// Ends an interval of change detection: what `Changed`, `Added` and `Ref` call new from now on is what
    /// comes after this call, and so are the entities of [`World::removed`].
    pub fn clear_trackers(&mut self) {
        self.last_tick = self.store.tick();
        self.store.advance_tick();
        self.pass_removals();
    }

    /// Brings kept queries up to date after archetypes or components came or went.
    pub(crate) fn update_queries(&mut self) {
        self.queries.update(&self.store, &self.archetypes, &self.components);
    }
}

impl Asked {
    pub(crate) fn context<'w>(
        &'w self,
        archetypes: &'w crate::archetype::Archetypes,
        components: &'w crate::registry::Components,
    ) -> Context<'w> {
        Context { asked: self, archetypes, components }
    }
}
