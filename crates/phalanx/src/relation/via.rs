//! Data and filters that look at another entity, along a relation: a parent, or the nearest of all above.
//!
//! The other entity may be anywhere, so what is read of it counts as read everywhere: beside such a part, nothing may write
//! the same component, not even the query itself ([`Query::cascade`](crate::query::Query::cascade) is for that). Rows whose
//! other entity is not there, or lacks something, are not visited; `Option` around the part visits them.

use std::marker::PhantomData;

use phalanx_store::{Entity, Fetch, Link, ReadFetch, Tick, Via};

use super::Relationship;
use crate::component::Queryable;
use crate::query::{
    Condition, Moment, QueryData, QueryFilter, ReadOnlyQueryData, Term, columns_of, short_name,
};

/// Yields what `D` would yield for the target of the relation `R`: `Parent<ChildOf, &Transform>`.
///
/// An entity without a target, or whose target lacks a part of `D`, is not visited. Whether the target is disabled does
/// not matter.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Speed(f32);
///
/// let mut world = World::new();
/// let ship = world.spawn(Speed(3.0)).id();
/// let sailor = world.spawn(ChildOf(ship)).id();
/// let (entity, speed) = world.view::<(Entity, Parent<ChildOf, &Speed>)>().single_inner().unwrap();
/// assert_eq!((entity, speed.0), (sailor, 3.0));
/// ```
pub struct Parent<R, D>(PhantomData<fn() -> (R, D)>);

/// Yields what `D` would yield for the nearest entity above along the relation `R` which has all of it.
///
/// The entity itself is not asked; ask for `(Option<D>, Option<Up<R, D>>)` where it comes first. Where links form a
/// cycle, the walk ends when it comes back.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Faction(u8);
///
/// let mut world = World::new();
/// let army = world.spawn(Faction(3)).id();
/// let troop = world.spawn(ChildOf(army)).id();
/// let soldier = world.spawn(ChildOf(troop)).id();
/// assert_eq!(world.view::<Up<ChildOf, &Faction>>().get(soldier).unwrap().0, 3);
/// ```
pub struct Up<R, D>(PhantomData<fn() -> (R, D)>);

/// Entities whose target along the relation `R` passes the filter `F`: `WithParent<ChildOf, With<Ship>>`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Ship;
/// let mut world = World::new();
/// let ship = world.spawn(Ship).id();
/// let sailor = world.spawn(ChildOf(ship)).id();
/// assert_eq!(world.view_filtered::<Entity, WithParent<ChildOf, With<Ship>>>().single().unwrap(), sailor);
/// ```
pub struct WithParent<R, F>(PhantomData<fn() -> (R, F)>);

/// The link of a relation, of which the first target counts, or the nearest with what is asked for.
pub struct Along<R, const NEAREST: bool>(PhantomData<fn() -> R>);

impl<R: Relationship, const NEAREST: bool> Link for Along<R, NEAREST>
where
    <R as Queryable>::Read: ReadFetch,
{
    type Fetch = <R as Queryable>::Read;
    const NEAREST: bool = NEAREST;

    #[inline(always)]
    fn target(link: <Self::Fetch as Fetch>::Item<'_>) -> Entity {
        R::wrap_ref(link).get()
    }
}

macro_rules! data_of_another {
    ($name:ident, $nearest:literal) => {
        impl<R: Relationship, D: ReadOnlyQueryData> QueryData for $name<R, D> {
            type Fetch = Via<Along<R, $nearest>, D::Fetch>;
            type ReadOnly = Self;
            type Item<'w> = D::Item<'w>;
            type Chunk<'w> = D::Chunk<'w>;

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                (R::ids(), D::ids())
            }
            fn condition() -> Condition {
                <&R as QueryData>::condition()
            }
            fn terms(out: &mut Vec<Term>) {
                let mut inner = Vec::new();
                D::terms(&mut inner);
                let inner: Vec<String> = inner.into_iter().map(|term| term.text).collect();
                out.push(Term {
                    text: format!("{}<{}, {}>", stringify!($name), short_name::<R>(), inner.join(", ")),
                    columns: columns_of::<Self::Fetch>(Self::ids()),
                    whole: false,
                });
            }
            #[inline(always)]
            fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
                D::item(row, since)
            }
            #[inline(always)]
            fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
                D::chunk(rows)
            }
        }
        impl<R: Relationship, D: ReadOnlyQueryData> ReadOnlyQueryData for $name<R, D> {}
    };
}
data_of_another!(Parent, false);
data_of_another!(Up, true);

impl<R: Relationship, F: QueryFilter> QueryFilter for WithParent<R, F> {
    type Fetch = Via<Along<R, false>, F::OrFetch>;
    type OrFetch = phalanx_store::Opt<Self::Fetch>;
    const ARCHETYPAL: bool = false;
    const ANY_TABLE: bool = true;

    fn ids() -> <Self::Fetch as Fetch>::Ids {
        (R::ids(), F::or_ids())
    }
    fn or_ids() -> <Self::OrFetch as Fetch>::Ids {
        Self::ids()
    }
    fn condition() -> Condition {
        <&R as QueryData>::condition()
    }
    #[inline(always)]
    fn keep(row: <Self::Fetch as Fetch>::Item<'_>, since: Tick) -> bool {
        F::keep_or(row, since)
    }
    #[inline(always)]
    fn keep_or(row: <Self::OrFetch as Fetch>::Item<'_>, since: Tick) -> bool {
        row.is_some_and(|row| F::keep_or(row, since))
    }
}
