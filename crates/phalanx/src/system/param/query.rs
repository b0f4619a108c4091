//! `Query` as a parameter: a prepared state, and a lock on its columns.
//!
//! Access is declared per column, from the fetch itself, so that nothing a query can reach is left out. Filters
//! do not make two queries disjoint: flags are taken per column.

use phalanx_store::{Fetch, Locked, Tick};

use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use crate::query::{Context, FetchState, Query, QueryData, QueryFilter, prepare};
use crate::world::{SharedWorld, World};

type Columns<D, F> = (<F as QueryFilter>::Fetch, <D as QueryData>::Fetch);

/// The flags of a query.
pub struct QueryGuard<'w, D: QueryData, F: QueryFilter> {
    locked: Locked<'w, Columns<D, F>>,
    since: Tick,
    context: Context<'w>,
}

/// A query that a system keeps; without a state when it contradicts itself, and the system is refused.
pub struct Kept<C: Fetch>(Option<FetchState<C>>);

impl<C: Fetch> Kept<C> {
    fn state(&self) -> &FetchState<C> {
        match &self.0 {
            Some(state) => state,
            None => unreachable!("a system whose query contradicts itself is refused"),
        }
    }
}

impl<D: QueryData, F: QueryFilter> SystemParam for Query<'_, D, F> {
    type State = Kept<Columns<D, F>>;
    type Guard<'w> = QueryGuard<'w, D, F>;
    type Item<'g> = Query<'g, D, F>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State {
        match prepare::<D, F>(&world.store, &world.archetypes, &world.components) {
            Ok(state) => {
                meta.declare_columns(world, short_type::<Self>(), state.prepared.uses());
                Kept(Some(state))
            }
            Err(conflict) => {
                meta.refuse_query(conflict.first, conflict.second, short_type::<D>());
                Kept(None)
            }
        }
    }
    fn update(state: &mut Self::State, world: &World) {
        if let Some(state) = &mut state.0 {
            state.update(&world.store, &world.archetypes, &world.components);
        }
    }
    #[inline]
    fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
        let state = state.state();
        let locked = match world.store.lock_at(&state.prepared, run.now) {
            Ok(locked) => locked,
            Err(conflict) => run.busy_column(conflict),
        };
        let context = state.asked.context(world.archetypes, world.components);
        QueryGuard { locked, since: run.since, context }
    }
    #[inline]
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g> {
        Query::new(guard.locked.view(), guard.since, guard.context)
    }
}
