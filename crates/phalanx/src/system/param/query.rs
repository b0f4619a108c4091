//! `Query` as a parameter: a prepared state, and a lock on its columns.
//!
//! Access is declared per column, from the fetch itself, so that nothing a query can reach is left out, and with what
//! the query's terms say about tables. A column that the system also uses elsewhere, in other tables, is split: the
//! lock then compares tables (ADR 0046).

use std::sync::Arc;

use phalanx_store::{Access, Admission, Fetch, Locked};

use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::super::reach::SplitColumns;
use super::SystemParam;
use crate::query::{
    Asked, Context, Extent, FetchState, Moment, Query, QueryData, QueryFilter, Term, prepare, reads_whole,
};
use crate::world::{SharedWorld, World};

type Columns<D, F> = (<F as QueryFilter>::Fetch, <D as QueryData>::Fetch);

/// The flags of a query.
pub struct QueryGuard<'w, D: QueryData, F: QueryFilter> {
    locked: Locked<'w, Columns<D, F>>,
    since: Moment<'w>,
    context: Context<'w>,
}

/// A query that a system keeps; without a state when it contradicts itself, and the system is refused.
pub struct Kept<C: Fetch> {
    state: Option<FetchState<C>>,
    /// The columns that the system shares with others.
    split: Arc<SplitColumns>,
    /// How many of them the state knows.
    known: usize,
}

impl<C: Fetch> Kept<C> {
    fn state(&self) -> &FetchState<C> {
        match &self.state {
            Some(state) => state,
            None => unreachable!("a system whose query contradicts itself is refused"),
        }
    }
}

/// Makes the state of a query, and declares what it uses under the name of the parameter that it belongs to.
pub(super) fn init_query<D: QueryData, F: QueryFilter>(
    world: &mut World,
    meta: &mut SystemMeta,
    name: String,
) -> Kept<Columns<D, F>> {
    match prepare::<D, F>(&world.store, &world.archetypes, &world.components) {
        Ok(state) => {
            let split = declare((state.prepared.uses(), &state.asked), D::terms, world, meta, name);
            Kept { state: Some(state), split, known: 0 }
        }
        Err(conflict) => {
            meta.refuse_query(conflict.first, conflict.second, name);
            Kept { state: None, split: Arc::default(), known: 0 }
        }
    }
}

/// Declares what a query of any type uses.
fn declare(
    (uses, asked): (&[Access], &Asked),
    terms_of: fn(&mut Vec<Term>),
    world: &World,
    meta: &mut SystemMeta,
    name: String,
) -> Arc<SplitColumns> {
    let extent = Extent::of(&asked.written());
    meta.declare_query(world, name, uses, reads_whole(terms_of), extent)
}

/// Brings a query of any type up to date.
fn update(
    (mut prepared, asked): (Admission<'_>, &mut Asked),
    split: &SplitColumns,
    known: &mut usize,
    world: &World,
) {
    asked.update(&mut prepared, &world.store, &world.archetypes, &world.components);
    if split.count() != *known {
        let columns = split.all();
        prepared.split(&columns);
        *known = columns.len();
    }
}

impl<D: QueryData, F: QueryFilter> SystemParam for Query<'_, '_, D, F> {
    type State = Kept<Columns<D, F>>;
    type Guard<'w> = QueryGuard<'w, D, F>;
    type Item<'g> = Query<'g, 'g, D, F>;

    const ACTIVE: bool = false;

    fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State {
        init_query::<D, F>(world, meta, short_type::<Self>())
    }
    fn update(state: &mut Self::State, world: &World) {
        if let Kept { state: Some(state), split, known } = state {
            update((state.prepared.admission(), &mut state.asked), split, known, world);
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
        QueryGuard { locked, since: Moment::in_whole(run.since, world.whole), context }
    }
    #[inline]
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g> {
        Query::new(guard.locked.view(), guard.since, guard.context)
    }
}
