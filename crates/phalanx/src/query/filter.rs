//! Which entities a query visits beyond those that have its data: the filter half of `Query<D, F>`.
//!
//! Most filters only look at which components an entity has; they decide per archetype and cost nothing
//! per row. [`Changed`] and [`Added`] look at row ticks and decide per row.

use std::marker::PhantomData;

use phalanx_store::{DenseFetch, Fetch, Opt, ReadFetch, Tick};

use super::condition::Condition;
use super::data::{QueryData, short_name};
use crate::component::{AnyComponent, RowTracked};
use crate::storage::{Storage, TableStorage};

/// A condition on entities.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Player;
/// #[derive(Component)]
/// struct Dead;
///
/// #[derive(QueryFilter)]
/// struct Playing {
///     player: With<Player>,
///     dead: Without<Dead>,
/// }
///
/// let mut world = World::new();
/// world.spawn(Player);
/// world.spawn((Player, Dead));
/// assert_eq!(world.view_filtered::<Entity, Playing>().count(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query filter",
    label = "expected a filter",
    note = "filters are `With<T>`, `Without<T>`, `Or<(..)>`, `Changed<T>`, `Added<T>`, `Spawned`, `InPool<P>`, `NotInPool<P>`, tuples of them and `#[derive(QueryFilter)]` structs",
    note = "`AnyOf<(&A, &B)>` is data; as a filter write `Or<(With<A>, With<B>)>`",
    note = "a tuple has at most 15 parts: nest tuples for more"
)]
pub trait QueryFilter {
    /// What is read per row when all of the filter must hold and the archetype matches.
    type Fetch: ReadFetch;
    /// What is read per row when the archetype may not match, inside [`Or`].
    type OrFetch: ReadFetch;
    /// Whether the archetype alone decides.
    const ARCHETYPAL: bool;
    /// Whether entities pass whatever their table is.
    const ANY_TABLE: bool = false;

    /// The column ids of [`QueryFilter::Fetch`].
    fn ids() -> <Self::Fetch as Fetch>::Ids;
    /// The column ids of [`QueryFilter::OrFetch`].
    fn or_ids() -> <Self::OrFetch as Fetch>::Ids;
    /// What an entity must have, or lack, for the filter to hold.
    fn condition() -> Condition;
    /// Whether a row of a matching archetype passes.
    fn keep(row: <Self::Fetch as Fetch>::Item<'_>, since: Tick) -> bool;
    /// Whether a row of any archetype passes.
    fn keep_or(row: <Self::OrFetch as Fetch>::Item<'_>, since: Tick) -> bool;
}

/// A filter that the archetype alone decides, so that whole chunks pass or not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` decides row by row",
    label = "chunks and exact counts need a filter that decides per archetype",
    note = "iterate rows with `iter` or `iter_mut` when filtering by `Changed` or `Added`"
)]
pub trait ArchetypeFilter: QueryFilter<Fetch: DenseFetch, OrFetch: DenseFetch> {}

/// Entities that have `T`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(f32);
/// # #[derive(Component)] struct Player;
/// fn heal_players(mut players: Query<&mut Health, With<Player>>) {
///     players.iter_mut().for_each(|mut health| health.0 += 1.0);
/// }
/// # World::new().run_system_once(heal_players).unwrap();
/// ```
pub struct With<T>(PhantomData<fn() -> T>);

/// Entities that lack `T`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(f32);
/// # #[derive(Component)] struct Player;
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0), Health(2.0)]);
/// world.spawn((Health(3.0), Player));
/// assert_eq!(world.view_filtered::<&Health, Without<Player>>().count(), 2);
/// ```
pub struct Without<T>(PhantomData<fn() -> T>);

/// Entities for which at least one of a tuple of filters holds.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Cat;
/// # #[derive(Component)] struct Dog;
/// let mut world = World::new();
/// world.spawn(Cat);
/// world.spawn(Dog);
/// assert_eq!(world.view_filtered::<Entity, Or<(With<Cat>, With<Dog>)>>().count(), 2);
/// ```
pub struct Or<T>(PhantomData<fn() -> T>);

/// Entities whose `T` was written, or came, after the query's moment.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// #[component(track = "row")] // needed: remembers for each row when it changed
/// struct Health(f32);
///
/// fn show(changed: Query<(Entity, &Health), Changed<Health>>) -> usize {
///     changed.iter().count()
/// }
///
/// let mut world = World::new();
/// let all: Vec<Entity> = world.spawn_batch([Health(1.0), Health(2.0)]).collect();
/// let show = world.register_system(show);
/// assert_eq!(world.run_system(show).unwrap(), 2); // the first run sees everything
/// assert_eq!(world.run_system(show).unwrap(), 0);
/// world.get_mut::<Health>(all[1]).unwrap().0 = 9.0;
/// assert_eq!(world.run_system(show).unwrap(), 1);
/// ```
pub struct Changed<T>(PhantomData<fn() -> T>);

/// Entities whose `T` came after the query's moment.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Component)]
/// #[component(track = "row")]
/// struct Enemy;
///
/// fn greet(new: Query<Entity, Added<Enemy>>) {
///     new.iter().for_each(|entity| println!("{entity} appears"));
/// }
/// # let mut world = World::new();
/// # world.spawn(Enemy);
/// # world.run_system_once(greet).unwrap();
/// ```
pub struct Added<T>(PhantomData<fn() -> T>);

macro_rules! presence_filter {
    ($name:ident, $sparse:ident, $fetch:ident, $ids:ident, $row:ident => $keeps:expr) => {
        impl<T: AnyComponent> QueryFilter for $name<T> {
            type Fetch = <T::Storage as Storage>::$fetch;
            type OrFetch = <T::Storage as Storage>::Has;
            const ARCHETYPAL: bool = !T::Storage::SPARSE;
            const ANY_TABLE: bool = T::Storage::SPARSE;

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                T::Storage::$ids(T::key())
            }
            fn or_ids() -> <Self::OrFetch as Fetch>::Ids {
                T::key()
            }
            fn condition() -> Condition {
                if T::Storage::SPARSE {
                    return Condition::$sparse(T::key(), short_name::<T>());
                }
                Condition::$name(T::key(), short_name::<T>())
            }
            #[inline(always)]
            fn keep(_: <Self::Fetch as Fetch>::Item<'_>, _: Tick) -> bool {
                true
            }
            #[inline(always)]
            fn keep_or($row: <Self::OrFetch as Fetch>::Item<'_>, _: Tick) -> bool {
                $keeps
            }
        }
        impl<T: AnyComponent<Storage = TableStorage>> ArchetypeFilter for $name<T> {}
    };
}
presence_filter!(With, InSet, With, with_ids, has => has);
presence_filter!(Without, NotInSet, Without, without_ids, has => !has);

macro_rules! tick_filter {
    ($name:ident, $column:ident) => {
        impl<T: RowTracked> QueryFilter for $name<T> {
            type Fetch = <T::Storage as Storage>::Tick;
            type OrFetch = Opt<<T::Storage as Storage>::Tick>;
            const ARCHETYPAL: bool = false;

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                T::$column()
            }
            fn or_ids() -> <Self::OrFetch as Fetch>::Ids {
                T::$column()
            }
            fn condition() -> Condition {
                <&T as QueryData>::condition()
            }
            #[inline(always)]
            fn keep(row: <Self::Fetch as Fetch>::Item<'_>, since: Tick) -> bool {
                row.is_after(since)
            }
            #[inline(always)]
            fn keep_or(row: <Self::OrFetch as Fetch>::Item<'_>, since: Tick) -> bool {
                row.is_some_and(|tick| tick.is_after(since))
            }
        }
    };
}
tick_filter!(Changed, changed_id);
tick_filter!(Added, added_id);

macro_rules! filter_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: QueryFilter),*> QueryFilter for ($($name,)*) {
            type Fetch = ($($name::Fetch,)*);
            type OrFetch = ($($name::OrFetch,)*);
            const ARCHETYPAL: bool = true $(&& $name::ARCHETYPAL)*;
            const ANY_TABLE: bool = true $(&& $name::ANY_TABLE)*;

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                ($($name::ids(),)*)
            }
            fn or_ids() -> <Self::OrFetch as Fetch>::Ids {
                ($($name::or_ids(),)*)
            }
            fn condition() -> Condition {
                Condition::all_of(&[$($name::condition),*])
            }
            #[inline(always)]
            fn keep(row: <Self::Fetch as Fetch>::Item<'_>, since: Tick) -> bool {
                true $(&& $name::keep(row.$at, since))*
            }
            #[inline(always)]
            fn keep_or(row: <Self::OrFetch as Fetch>::Item<'_>, since: Tick) -> bool {
                true $(&& $name::keep_or(row.$at, since))*
            }
        }
        impl<$($name: ArchetypeFilter),*> ArchetypeFilter for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: QueryFilter),*> QueryFilter for Or<($($name,)*)> {
            type Fetch = ($($name::OrFetch,)*);
            type OrFetch = ($($name::OrFetch,)*);
            const ARCHETYPAL: bool = true $(&& $name::ARCHETYPAL)*;

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                ($($name::or_ids(),)*)
            }
            fn or_ids() -> <Self::OrFetch as Fetch>::Ids {
                ($($name::or_ids(),)*)
            }
            fn condition() -> Condition {
                Condition::Any(vec![$($name::condition()),*])
            }
            #[inline(always)]
            fn keep(row: <Self::Fetch as Fetch>::Item<'_>, since: Tick) -> bool {
                Self::ARCHETYPAL || Self::keep_or(row, since)
            }
            #[inline(always)]
            fn keep_or(row: <Self::OrFetch as Fetch>::Item<'_>, since: Tick) -> bool {
                false $(|| $name::keep_or(row.$at, since))*
            }
        }
        impl<$($name: ArchetypeFilter),*> ArchetypeFilter for Or<($($name,)*)> {}
    };
}
phalanx_store::for_each_tuple!(filter_tuple);

/// A filter that is another one by a longer name.
macro_rules! same_filter {
    ([$($part:ident)*] $long:ty = $short:ty) => {
        impl<$($part: QueryFilter),*> QueryFilter for $long {
            type Fetch = <$short as QueryFilter>::Fetch;
            type OrFetch = <$short as QueryFilter>::OrFetch;
            const ARCHETYPAL: bool = <$short as QueryFilter>::ARCHETYPAL;
            const ANY_TABLE: bool = <$short as QueryFilter>::ANY_TABLE;

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                <$short>::ids()
            }
            fn or_ids() -> <Self::OrFetch as Fetch>::Ids {
                <$short>::or_ids()
            }
            fn condition() -> Condition {
                <$short>::condition()
            }
            #[inline(always)]
            fn keep(row: <Self::Fetch as Fetch>::Item<'_>, since: Tick) -> bool {
                <$short>::keep(row, since)
            }
            #[inline(always)]
            fn keep_or(row: <Self::OrFetch as Fetch>::Item<'_>, since: Tick) -> bool {
                <$short>::keep_or(row, since)
            }
        }
        impl<$($part: ArchetypeFilter),*> ArchetypeFilter for $long {}
    };
}

macro_rules! long_filter_tuple {
    ([$(($first:ident $at:tt))*] [$(($second:ident $then:tt))*]) => {
        same_filter!([$($first)* $($second)*] ($($first,)* $($second,)*) = (($($first,)*), ($($second,)*)));
        same_filter!(
            [$($first)* $($second)*]
            Or<($($first,)* $($second,)*)> = Or<(Or<($($first,)*)>, Or<($($second,)*)>)>
        );
    };
}
phalanx_store::for_each_long_tuple!(long_filter_tuple);
