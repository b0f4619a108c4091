//! Queries: all entities that have what you ask for.
//!
//! `Query<D, F>` asks for data `D` of the entities that pass filter `F`. Data are `Entity`, `&T`, `&mut T`, `Option<..>`,
//! [`Has`], [`Ref`](crate::tracking::Ref), [`AnyOf`], fields such as `&position::x`, tuples and `#[derive(QueryData)]` structs;
//! filters are [`With`], [`Without`], [`Or`], [`Changed`], [`Added`], [`InPool`] and tuples.
//!
//! ```
//! # use phalanx::prelude::*;
//! # #[derive(Component)] struct Position(f32);
//! # #[derive(Component)] struct Velocity(f32);
//! # #[derive(Component)] struct Frozen;
//! fn movement(mut movers: Query<(&mut Position, &Velocity), Without<Frozen>>) {
//!     for (mut position, velocity) in &mut movers {
//!         position.0 += velocity.0;
//!     }
//! }
//! ```
//!
//! **Order.** A query goes by tables: pools in order of registration, General first, archetypes in order of creation, rows by
//! position, and last, by index, General's entities without any table component. Where every match must have a sparse
//! component, and the shortest such set has fewer rows than those tables, or no table component is asked for, that set
//! drives the walk in its dense order; holes of a stable set are skipped. [`Query::driven_by`] and
//! [`Query::driven_by_tables`] decide it, [`Query::explain`] tells. Tables, chunks and parallel jobs always go by tables.
//! Either way the order depends only on the world's history.
//!
//! **Speed.** `for_each`, `sum`, `count` and all else built on `fold` run a plain loop per table, which the compiler
//! vectorises; so do chunks, and nested loops over [`Query::tables_mut`]. A plain `for` over rows cannot, in any library,
//! because it must be able to stop anywhere.

// This module knows archetypes and the store, not the world; `world/queries` joins them.

use std::marker::PhantomData;

use phalanx_store::{DriverChoice, Entity, Fetch, Tick, View};

use crate::archetype::Archetypes;
use crate::component::AnyComponent;
use crate::registry::Components;

pub use phalanx_derive::{QueryData, QueryFilter};

pub use allow::Allow;
pub(crate) use allow::Everyone;
pub use any_of::AnyOf;
pub use batching::BatchingStrategy;
pub use chunks::{QueryChunks, QueryTable, QueryTables};
pub use combinations::QueryCombinationIter;
pub use condition::{Condition, Filter};
pub use data::{Has, QueryData, ReadOnlyQueryData, Term};
pub(crate) use data::{columns_of, short_name, written};
pub(crate) use dynamic::find_column;
pub use dynamic::{ColumnError, DynamicQuery, DynamicTable, DynamicTableMut, QueryBuilder};
pub use error::{QueryEntityError, QuerySingleError};
pub(crate) use extent::Extent;
pub use filter::{Added, ArchetypeFilter, Changed, Or, QueryFilter, With, Without};
pub use inner::QueryNotDenseError;
pub use iter::QueryIter;
pub use lens::QueryLens;
pub(crate) use lens::forgotten;
pub use many::{QueryManyIter, QueryManyMatchedIter, QueryManyUniqueIter, QueryManyUnwrappedIter};
pub use moment::Moment;
pub use of_archetype::{Archetype, ArchetypeView};
#[cfg(feature = "parallel")]
pub use parallel::{ParChunks, ParItems, ParQuery};
pub use phalanx_store::DenseFetch;
pub use scope::{FilterIn, InPool, NotInPool, QueryIn};
pub use sort::QuerySortedIter;
pub use spawned::{SpawnDetails, Spawned};
pub(crate) use state::{Asked, FetchState, Written, reads_whole};
pub use state::{QueryConflict, QueryState};

mod allow;
mod any_of;
mod batching;
pub(crate) mod cache;
mod cascade;
mod chunks;
mod combinations;
mod condition;
mod data;
mod dynamic;
mod error;
mod explain;
mod extent;
mod filter;
mod inner;
mod iter;
mod lens;
mod many;
mod matches;
mod moment;
mod of_archetype;
#[cfg(feature = "parallel")]
mod parallel;
mod scope;
mod sort;
mod spawned;
mod state;

use state::Both;

/// Access to all entities that have `D` and pass `F`.
///
/// From [`World::view`](crate::World::view) and its siblings. `Query` itself iterates, and so do `&query` and
/// `&mut query`.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
/// #[derive(Component)]
/// struct Poisoned;
///
/// fn poison(mut victims: Query<(Entity, &mut Health), With<Poisoned>>) {
///     for (entity, mut health) in &mut victims {
///         health.0 -= 1.0;
///         println!("{entity} has {} left", health.0);
///     }
/// }
///
/// let mut world = World::new();
/// let ill = world.spawn((Health(3.0), Poisoned)).id();
/// world.run_system_once(poison).unwrap();
/// let healths = world.view::<&Health>(); // the same outside systems
/// assert_eq!(healths.get(ill).unwrap().0, 2.0);
/// assert_eq!(healths.count(), 1);
/// ```
pub struct Query<'w, 's, D: QueryData, F: QueryFilter = ()> {
    view: View<'w, Both<D, F>>,
    since: Moment<'w>,
    context: Context<'w>,
    /// Bevy's second lifetime, that of the query's state; all that is kept here lives as long as the first.
    of: PhantomData<&'s ()>,
}

/// What a query needs to explain itself.
#[derive(Clone, Copy)]
pub(crate) struct Context<'w> {
    pub(crate) asked: &'w Asked,
    pub(crate) archetypes: &'w Archetypes,
    pub(crate) components: &'w Components,
}

impl<'w, 's, D: QueryData, F: QueryFilter> Query<'w, 's, D, F> {
    /// Whether every row of a matching table is a match.
    const EXACT: bool = F::ARCHETYPAL && <Both<D, F> as Fetch>::DENSE;
    /// Whether the query visits every row that has its columns, so that a single one need not be looked up.
    const EVERYWHERE: bool = F::ANY_TABLE
        && if <Both<D, F> as Fetch>::DENSE {
            <Both<D, F> as Fetch>::ROWED
        } else {
            <Both<D, F> as Fetch>::TABLELESS && <Both<D, F> as Fetch>::IN_SETS
        };

    #[inline]
    pub(crate) fn new(
        view: View<'w, Both<D, F>>,
        since: impl Into<Moment<'w>>,
        context: Context<'w>,
    ) -> Self {
        let since = since.into().among(context.archetypes, context.components);
        Self { view, since, context, of: PhantomData }
    }

    /// The same query, its second lifetime given up.
    #[inline]
    fn without_state(self) -> Query<'w, 'w, D, F> {
        Query::new(self.view, self.since, self.context)
    }

    /// The same query with another moment for [`Changed`], [`Added`] and `Ref`: what came or changed after `tick`
    /// is new.
    #[must_use]
    pub fn since(mut self, tick: Tick) -> Self {
        self.since.tick = tick;
        self
    }

    /// The same query, driven by the set of `T`: it walks that set, in its order, whatever is shorter. Single entities,
    /// tables, chunks and parallel jobs are not affected.
    ///
    /// # Panics
    /// When `T` is not a sparse component that every match must have.
    #[must_use]
    #[track_caller]
    pub fn driven_by<T: AnyComponent>(mut self) -> Self {
        self.view = self.view.with_driver(driver_of::<T>(&self.context.asked.condition));
        self
    }

    /// The same query, driven by tables, whatever is shorter.
    #[must_use]
    pub fn driven_by_tables(mut self) -> Self {
        self.view = self.view.with_driver(DriverChoice::Tables);
        self
    }

    /// The same query for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> Query<'_, 's, D, F> {
        Query::new(self.view.reborrow(), self.since, self.context)
    }

    /// The same query without write access.
    #[inline]
    pub fn as_readonly(&self) -> Query<'_, 's, D::ReadOnly, F> {
        Query::new(self.view.read_only(), self.since, self.context)
    }

    /// Reads every match.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Player;
    /// fn total(all: Query<&Health>) {
    ///     let sum: f32 = all.iter().map(|health| health.0).sum();
    ///     println!("{sum}");
    /// }
    /// ```
    #[inline]
    pub fn iter(&self) -> QueryIter<'_, D::ReadOnly, F> {
        self.as_readonly().into_iter()
    }

    /// Reads and writes every match.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Player;
    /// fn heal(mut all: Query<&mut Health>) {
    ///     for mut health in all.iter_mut() { // or: in &mut all
    ///         health.0 += 1.0;
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn iter_mut(&mut self) -> QueryIter<'_, D, F> {
        self.reborrow().into_iter()
    }

    /// Reads one entity.
    ///
    /// # Errors
    /// When it is dead or does not match.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Player;
    /// #[derive(Component)]
    /// struct Target(Entity);
    ///
    /// fn aim(shooters: Query<&Target>, all: Query<&Health>) {
    ///     for target in &shooters {
    ///         if let Ok(health) = all.get(target.0) {
    ///             println!("it has {}", health.0);
    ///         } // else it is dead, or has no health
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn get(&self, entity: Entity) -> Result<<D::ReadOnly as QueryData>::Item<'_>, QueryEntityError> {
        // Not through `as_readonly`: a copy of the query would be made for the sake of the error alone.
        let view: View<'_, Both<D::ReadOnly, F>> = self.view.read_only();
        let found = if Self::EVERYWHERE { view.into_get_anywhere(entity) } else { view.into_get(entity) };
        if let Some((ticks, row)) = found
            && F::keep(ticks, self.since.tick)
        {
            return Ok(D::ReadOnly::item(row, self.since));
        }
        Err(self.context.why(entity, self.view.entities(), self.view.sets()))
    }

    /// Reads and writes one entity.
    ///
    /// # Errors
    /// When it is dead or does not match.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Player;
    /// fn hit(mut all: Query<&mut Health>, players: Query<Entity, With<Player>>) {
    ///     for player in &players {
    ///         if let Ok(mut health) = all.get_mut(player) {
    ///             health.0 -= 1.0;
    ///         }
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn get_mut(&mut self, entity: Entity) -> Result<D::Item<'_>, QueryEntityError> {
        let (since, context) = (self.since, &self.context);
        let (entities, sets) = (self.view.entities(), self.view.sets());
        let view = self.view.reborrow();
        let found = if Self::EVERYWHERE { view.into_get_anywhere(entity) } else { view.into_get(entity) };
        if let Some((ticks, row)) = found
            && F::keep(ticks, since.tick)
        {
            return Ok(D::item(row, since));
        }
        Err(context.why(entity, entities, sets))
    }

    /// One entity, for as long as the query would have lived.
    ///
    /// # Errors
    /// When it is dead or does not match.
    #[inline]
    pub fn get_inner(self, entity: Entity) -> Result<D::Item<'w>, QueryEntityError> {
        let (since, context, entities) = (self.since, self.context, self.view.entities());
        let sets = self.view.sets();
        if let Some((ticks, row)) = self.view.into_get(entity)
            && F::keep(ticks, since.tick)
        {
            return Ok(D::item(row, since));
        }
        Err(context.why(entity, entities, sets))
    }

    /// Whether the query visits this entity.
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        if F::ARCHETYPAL {
            return self.view.contains(entity);
        }
        self.as_readonly().get_inner(entity).is_ok()
    }

    /// How many entities the query visits.
    pub fn count(&self) -> usize {
        if Self::EXACT { self.view.most() } else { self.iter().fold(0, |count, _| count + 1) }
    }

    /// Whether the query visits no entity.
    pub fn is_empty(&self) -> bool {
        if Self::EXACT { self.view.most() == 0 } else { self.iter().next().is_none() }
    }

    /// The only match, to be read.
    ///
    /// # Errors
    /// When there is none, or more than one.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Component)]
    /// # struct Health(f32);
    /// # #[derive(Component)]
    /// # struct Player;
    /// fn show(player: Query<&Health, With<Player>>) -> Result {
    ///     let health = player.single()?; // an error if there are none, or several
    ///     println!("{}", health.0);
    ///     Ok(())
    /// }
    /// ```
    pub fn single(&self) -> Result<<D::ReadOnly as QueryData>::Item<'_>, QuerySingleError> {
        only::<Self, _>(self.iter())
    }

    /// The only match.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn single_mut(&mut self) -> Result<D::Item<'_>, QuerySingleError> {
        only::<Self, _>(self.iter_mut())
    }

    /// The only match, for as long as the query would have lived.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn single_inner(self) -> Result<D::Item<'w>, QuerySingleError> {
        only::<Self, _>(self.into_iter())
    }

    /// Reads every match in ascending order of a key; equal keys keep the query's order.
    pub fn sort_by_key<K: Ord>(
        &self,
        mut key: impl FnMut(&<D::ReadOnly as QueryData>::Item<'_>) -> K,
    ) -> std::vec::IntoIter<<D::ReadOnly as QueryData>::Item<'_>> {
        let mut items: Vec<_> = self.iter().collect();
        items.sort_by_key(|item| key(item));
        items.into_iter()
    }

    /// Every match in ascending order of a key; equal keys keep the query's order.
    pub fn sort_by_key_mut<K: Ord>(
        &mut self,
        mut key: impl FnMut(&D::Item<'_>) -> K,
    ) -> std::vec::IntoIter<D::Item<'_>> {
        let mut items: Vec<_> = self.iter_mut().collect();
        items.sort_by_key(|item| key(item));
        items.into_iter()
    }
}

/// How the set of `T` drives a query with this condition.
#[track_caller]
fn driver_of<T: AnyComponent>(condition: &Condition) -> DriverChoice {
    let drivers = condition.drivers();
    if drivers.iter().any(|(key, _)| *key == T::key()) {
        return DriverChoice::Set(T::key());
    }
    let names: Vec<&str> = drivers.into_iter().map(|(_, name)| name).collect();
    let could = if names.is_empty() { "nothing else".to_owned() } else { names.join(", ") };
    let name = short_name::<T>();
    panic!(
        "`{name}` cannot drive this query: it is no sparse component that every match must have; tables can, and {could}"
    )
}

fn only<Q, T>(mut matches: impl Iterator<Item = T>) -> Result<T, QuerySingleError> {
    let Some(first) = matches.next() else {
        return Err(QuerySingleError::NoEntities(std::any::type_name::<Q>()));
    };
    match matches.next() {
        None => Ok(first),
        Some(_) => Err(QuerySingleError::MultipleEntities(std::any::type_name::<Q>())),
    }
}

impl<'w, D: QueryData, F: QueryFilter> IntoIterator for Query<'w, '_, D, F> {
    type Item = D::Item<'w>;
    type IntoIter = QueryIter<'w, D, F>;

    #[inline]
    fn into_iter(self) -> QueryIter<'w, D, F> {
        let view = self.view.newer_than(self.since.tick);
        let rows = if Self::EVERYWHERE { view.into_rows_anywhere() } else { view.into_rows() };
        QueryIter::new(rows, self.since)
    }
}

impl<'a, D: QueryData, F: QueryFilter> IntoIterator for &'a Query<'_, '_, D, F> {
    type Item = <D::ReadOnly as QueryData>::Item<'a>;
    type IntoIter = QueryIter<'a, D::ReadOnly, F>;

    #[inline]
    fn into_iter(self) -> QueryIter<'a, D::ReadOnly, F> {
        self.as_readonly().into_iter()
    }
}

impl<'a, D: QueryData, F: QueryFilter> IntoIterator for &'a mut Query<'_, '_, D, F> {
    type Item = D::Item<'a>;
    type IntoIter = QueryIter<'a, D, F>;

    #[inline]
    fn into_iter(self) -> QueryIter<'a, D, F> {
        self.reborrow().into_iter()
    }
}

/// The row type of a query's view, for the files beside this one.
type Row<'w, D, F> = <Both<D, F> as Fetch>::Item<'w>;
