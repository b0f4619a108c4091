//! `Query` as a parameter: a prepared state, and a lock on its columns.
//!
//! Access is declared per column, from the fetch itself, so that nothing a query can reach is left out, and with what
//! the query's terms say about tables. A column that the system also uses elsewhere, in other tables, is split: the
//! lock then compares tables (ADR 0046).

use std::any::type_name;
use std::sync::Arc;

use phalanx_store::{Access, Admission, Alias, Fetch, Locked, Prepared, Preparing, Tick};

use super::super::meta::{Run, SystemMeta};
use super::super::reach::SplitColumns;
use super::SystemParam;
use crate::names::short_type_name;
use crate::query::{Asked, Extent, Moment, Query, QueryData, QueryFilter, Written, reads_whole};
use crate::world::{SharedWorld, World};

type Columns<D, F> = (<F as QueryFilter>::Fetch, <D as QueryData>::Fetch);

/// The flags of a query.
pub struct QueryGuard<'w, D: QueryData, F: QueryFilter> {
    locked: Locked<'w, Columns<D, F>>,
    asked: &'w Asked,
    world: &'w SharedWorld<'w>,
    since: Tick,
}

/// A query that a system keeps; without columns when it contradicts itself, and the system is refused.
pub struct Kept<C: Fetch> {
    prepared: Option<Prepared<C>>,
    any: Box<AnyKept>,
}

/// What is kept of a query whatever its type.
struct AnyKept {
    asked: Option<Box<Asked>>,
    /// The columns that the system shares with others.
    split: Arc<SplitColumns>,
    /// How many of them the query knows.
    known: usize,
}

impl AnyKept {
    /// Brings the query up to date.
    fn update(&mut self, mut prepared: Admission<'_>, world: &World) {
        let Some(asked) = &mut self.asked else { return };
        asked.update(&mut prepared, &world.store, &world.archetypes, &world.components);
        if self.split.count() != self.known {
            let columns = self.split.all();
            prepared.split(&columns);
            self.known = columns.len();
        }
    }
}

/// The query of a system in the making; it is declared under the name of the parameter that it belongs to.
struct Declaring<'a> {
    written: Written,
    world: &'a World,
    meta: &'a mut SystemMeta,
    name: &'static str,
    kept: Box<AnyKept>,
}

impl<'a> Declaring<'a> {
    fn new(written: Written, world: &'a World, meta: &'a mut SystemMeta, name: &'static str) -> Self {
        let kept = Box::new(AnyKept { asked: None, split: Arc::default(), known: 0 });
        Self { written, world, meta, name, kept }
    }
}

impl Preparing for Declaring<'_> {
    fn checked(&mut self, columns: Result<Admission<'_>, Alias>) {
        let World { store, archetypes, components, .. } = self.world;
        let name = short_type_name(self.name);
        // Kept beyond the check, which takes the columns.
        let uses: Vec<Access> =
            columns.as_ref().map_or_else(|_| Vec::new(), |columns| columns.uses().to_vec());
        match self.written.checked(columns, store, archetypes, components) {
            Ok(asked) => {
                let (whole, extent) = (reads_whole(self.written.terms), Extent::of(&asked.written()));
                self.kept.split = self.meta.declare_query(self.world, name, &uses, whole, extent);
                self.kept.asked = Some(asked);
            }
            Err(conflict) => self.meta.refuse_query(conflict.first, conflict.second, name),
        }
    }
}

/// Makes the state of a query, and declares what it uses for a parameter of this type.
pub(super) fn init_query<D: QueryData, F: QueryFilter>(
    world: &World,
    meta: &mut SystemMeta,
    name: &'static str,
) -> Kept<Columns<D, F>> {
    let mut declaring = Declaring::new(Written::of::<D, F>(), world, meta, name);
    let prepared = world.store.prepare_with::<Columns<D, F>>((F::ids(), D::ids()), &mut declaring);
    Kept { prepared, any: declaring.kept }
}

#[cold]
#[inline(never)]
fn refused() -> ! {
    unreachable!("a system whose query contradicts itself is refused")
}

impl<D: QueryData, F: QueryFilter> SystemParam for Query<'_, '_, D, F> {
    type State = Kept<Columns<D, F>>;
    type Guard<'w> = QueryGuard<'w, D, F>;
    type Item<'g> = Query<'g, 'g, D, F>;

    const ACTIVE: bool = false;

    fn init(world: &mut World, meta: &mut SystemMeta) -> Self::State {
        init_query::<D, F>(world, meta, type_name::<Self>())
    }
    fn update(state: &mut Self::State, world: &World) {
        if let Some(prepared) = &mut state.prepared {
            state.any.update(prepared.admission(), world);
        }
    }
    #[inline]
    fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
        let (Some(prepared), Some(asked)) = (&state.prepared, &state.any.asked) else { refused() };
        let locked = world.store.expect_lock_at(prepared, run.now, &run);
        QueryGuard { locked, asked, world, since: run.since }
    }
    #[inline]
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Self::Item<'g> {
        let world = guard.world;
        let context = guard.asked.context(world.archetypes, world.components);
        Query::new(guard.locked.view(), Moment::in_whole(guard.since, world.whole), context)
    }
}
