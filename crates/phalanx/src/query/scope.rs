//! Queries and pools: filters by pool, and which queries make sense within one.
//!
//! [`InPool`] and [`NotInPool`] decide per archetype, like `With`: a table belongs to one pool for its life.
//! [`QueryIn`] and [`FilterIn`] are true of queries that name only components which the pool declares, so that a
//! query for something no entity of the pool can have does not compile.

use std::marker::PhantomData;

use phalanx_store::{Entity, Fetch, HasCol, Tick};

use super::condition::Condition;
use super::data::{Has, QueryData};
use super::filter::{Added, ArchetypeFilter, Changed, Or, QueryFilter, With, Without};
use super::spawned::SpawnDetails;
use crate::component::{AnyComponent, Component, Queryable, RowTracked};
use crate::pool::{Declares, Pool, key};
use crate::tracking::{Mut, Ref};

/// Entities of the pool `P`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// #[derive(Pool)]
/// struct Orcs {
///     health: Health,
/// }
///
/// let mut world = World::new();
/// world.spawn_in(Orcs { health: Health(3) });
/// world.spawn(Health(1));
/// assert_eq!(world.view_filtered::<&Health, InPool<Orcs>>().count(), 1);
/// ```
pub struct InPool<P>(PhantomData<fn() -> P>);

/// Entities of all pools but `P`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Pool)] struct Orcs { health: Health }
/// let mut world = World::new();
/// world.spawn_in(Orcs { health: Health(3) });
/// world.spawn(Health(1));
/// assert_eq!(world.view_filtered::<&Health, NotInPool<Orcs>>().single().unwrap().0, 1);
/// ```
pub struct NotInPool<P>(PhantomData<fn() -> P>);

macro_rules! pool_filter {
    ($name:ident, $is_in:ident => $keeps:expr) => {
        impl<P: Pool> QueryFilter for $name<P> {
            type Fetch = ();
            type OrFetch = HasCol;
            const ARCHETYPAL: bool = true;

            fn ids() {}
            fn or_ids() -> <Self::OrFetch as Fetch>::Ids {
                key::<P>()
            }
            fn condition() -> Condition {
                Condition::$name(key::<P>(), P::name())
            }
            #[inline(always)]
            fn keep((): (), _: Tick) -> bool {
                true
            }
            #[inline(always)]
            fn keep_or(marked: bool, _: Tick) -> bool {
                // General's tables have no mark; all others have one that says so.
                let $is_in = marked != P::IS_GENERAL;
                $keeps
            }
        }
        impl<P: Pool> ArchetypeFilter for $name<P> {}
        impl<P: Pool, Q: Pool> FilterIn<P> for $name<Q> {}
    };
}
pool_filter!(InPool, is_in => is_in);
pool_filter!(NotInPool, is_in => !is_in);

/// Query data that name only components which the pool declares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` asks for components that `{P}` does not declare",
    label = "cannot be asked of `{P}`"
)]
pub trait QueryIn<P>: QueryData {}

/// A filter that names only components which the pool declares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names components that `{P}` does not declare",
    label = "cannot be asked of `{P}`"
)]
pub trait FilterIn<P>: QueryFilter {}

impl<P: Pool> QueryIn<P> for Entity {}
impl<P: Pool> QueryIn<P> for SpawnDetails {}
impl<P: Declares<T::Owner>, T: Queryable> QueryIn<P> for &T {}
impl<P: Declares<T::Owner>, T: Queryable> QueryIn<P> for &mut T {}
impl<P: Pool, D: QueryIn<P>> QueryIn<P> for Option<D> {}
impl<P: Declares<T>, T: AnyComponent> QueryIn<P> for Has<T> {}
impl<P: Declares<T>, T: RowTracked> QueryIn<P> for Ref<'_, T> {}
impl<P: Declares<T>, T: Component> QueryIn<P> for Mut<'_, T> {}

impl<P: Declares<T>, T: AnyComponent> FilterIn<P> for With<T> {}
impl<P: Declares<T>, T: AnyComponent> FilterIn<P> for Without<T> {}
impl<P: Declares<T>, T: RowTracked> FilterIn<P> for Changed<T> {}
impl<P: Declares<T>, T: RowTracked> FilterIn<P> for Added<T> {}

macro_rules! scope_tuple {
    ($(($name:ident $at:tt))*) => {
        impl<P_, $($name: QueryIn<P_>),*> QueryIn<P_> for ($($name,)*) {}
        impl<P_, $($name: FilterIn<P_>),*> FilterIn<P_> for ($($name,)*) {}
        impl<P_, $($name: FilterIn<P_>),*> FilterIn<P_> for Or<($($name,)*)> {}
    };
}
phalanx_store::for_each_tuple!(scope_tuple);

macro_rules! long_scope_tuple {
    ([$(($first:ident $at:tt))*] [$(($second:ident $then:tt))*]) => {
        impl<P_, $($first: QueryIn<P_>,)* $($second: QueryIn<P_>),*> QueryIn<P_> for ($($first,)* $($second,)*) {}
        impl<P_, $($first: FilterIn<P_>,)* $($second: FilterIn<P_>),*> FilterIn<P_> for ($($first,)* $($second,)*) {}
        impl<P_, $($first: FilterIn<P_>,)* $($second: FilterIn<P_>),*> FilterIn<P_>
            for Or<($($first,)* $($second,)*)>
        {
        }
    };
}
phalanx_store::for_each_long_tuple!(long_scope_tuple);
