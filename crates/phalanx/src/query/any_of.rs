//! Data of which at least one part is there.
//!
//! [`AnyOf`] is a tuple of options without the row in which all of them are none. Archetypes decide where all parts are
//! in tables; with a sparse part, rows are asked.

use std::marker::PhantomData;

use phalanx_store::{Fetch, OneOf, Opt};

use super::condition::Condition;
use super::data::{QueryData, ReadOnlyQueryData, Term};
use super::moment::Moment;
use super::scope::QueryIn;

/// Yields a tuple of options, for entities that have at least one of its parts.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Sword(u32);
/// #[derive(Component)]
/// struct Bow(u32);
///
/// let mut world = World::new();
/// world.spawn(Sword(3));
/// world.spawn((Sword(1), Bow(2)));
/// world.spawn_empty();
/// let mut armed = world.query::<AnyOf<(&Sword, &Bow)>>();
/// let strength = |(sword, bow): (Option<&Sword>, Option<&Bow>)| {
///     sword.map_or(0, |sword| sword.0) + bow.map_or(0, |bow| bow.0)
/// };
/// assert_eq!(armed.iter(&world).map(strength).collect::<Vec<_>>(), [3, 3]);
/// ```
///
/// To ask for entities without asking for data, write `Or<(With<A>, With<B>)>` as a filter.
pub struct AnyOf<T>(PhantomData<fn() -> T>);

macro_rules! any_of_tuple {
    () => {};
    ($(($name:ident $at:tt))+) => {
        impl<$($name: QueryData),+> QueryData for AnyOf<($($name,)+)> {
            type Fetch = OneOf<($(Opt<$name::Fetch>,)+)>;
            type ReadOnly = AnyOf<($($name::ReadOnly,)+)>;
            type Item<'w> = ($(Option<$name::Item<'w>>,)+);
            type Chunk<'w> = ($(Option<$name::Chunk<'w>>,)+);

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                ($($name::ids(),)+)
            }
            fn condition() -> Condition {
                Condition::Any(vec![$($name::condition()),+])
            }
            fn terms(out: &mut Vec<Term>) {
                let before = out.len();
                $($name::terms(out);)+
                for term in &mut out[before..] {
                    term.text = format!("AnyOf<({}, ..)>", term.text);
                }
            }
            #[inline(always)]
            fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
                ($(row.$at.map(|part| $name::item(part, since)),)+)
            }
            #[inline(always)]
            fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
                ($(rows.$at.map($name::chunk),)+)
            }
        }
        impl<$($name: ReadOnlyQueryData),+> ReadOnlyQueryData for AnyOf<($($name,)+)> {}
        impl<P_, $($name: QueryIn<P_>),+> QueryIn<P_> for AnyOf<($($name,)+)> {}
    };
}
phalanx_store::for_each_tuple!(any_of_tuple);

macro_rules! long_any_of_tuple {
    ([$(($first:ident $at:tt))*] [$(($second:ident $then:tt))*]) => {
        impl<$($first: QueryData,)* $($second: QueryData),*> QueryData for AnyOf<($($first,)* $($second,)*)> {
            type Fetch = OneOf<(($(Opt<$first::Fetch>,)*), ($(Opt<$second::Fetch>,)*))>;
            type ReadOnly = AnyOf<($($first::ReadOnly,)* $($second::ReadOnly,)*)>;
            type Item<'w> = ($(Option<$first::Item<'w>>,)* $(Option<$second::Item<'w>>,)*);
            type Chunk<'w> = ($(Option<$first::Chunk<'w>>,)* $(Option<$second::Chunk<'w>>,)*);

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                (AnyOf::<($($first,)*)>::ids(), AnyOf::<($($second,)*)>::ids())
            }
            fn condition() -> Condition {
                Condition::Any(vec![$($first::condition(),)* $($second::condition()),*])
            }
            fn terms(out: &mut Vec<Term>) {
                AnyOf::<($($first,)*)>::terms(out);
                AnyOf::<($($second,)*)>::terms(out);
            }
            #[inline(always)]
            fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
                let (first, second) = row;
                (
                    $(first.$at.map(|part| $first::item(part, since)),)*
                    $(second.$then.map(|part| $second::item(part, since)),)*
                )
            }
            #[inline(always)]
            fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
                let (first, second) = rows;
                ($(first.$at.map($first::chunk),)* $(second.$then.map($second::chunk),)*)
            }
        }
        impl<$($first: ReadOnlyQueryData,)* $($second: ReadOnlyQueryData),*> ReadOnlyQueryData
            for AnyOf<($($first,)* $($second,)*)>
        {
        }
        impl<P_, $($first: QueryIn<P_>,)* $($second: QueryIn<P_>),*> QueryIn<P_>
            for AnyOf<($($first,)* $($second,)*)>
        {
        }
    };
}
phalanx_store::for_each_long_tuple!(long_any_of_tuple);
