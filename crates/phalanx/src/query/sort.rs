//! Matches in the order of a key.
//!
//! The key is a lens: data that the query may read, named by type. Keys are read for all matches and sorted together
//! with the entities; then the matches are looked up in that order. Nothing of a match is lent while keys are.

use std::cmp::Ordering;
use std::iter::FusedIterator;
use std::vec;

use phalanx_store::{Entity, EntityIds, NotGranted, Unique, View};

use super::data::{QueryData, ReadOnlyQueryData, Term, written};
use super::filter::QueryFilter;
use super::iter::QueryIter;
use super::lens::lacking;
use super::moment::Moment;
use super::state::Both;

/// What is visited to find the keys: the query's rows, whose order counts, then the key and the entity.
type Keyed<D, F, L> = (
    <F as QueryFilter>::Fetch,
    (<<D as QueryData>::ReadOnly as QueryData>::Fetch, (<L as QueryData>::Fetch, EntityIds)),
);

/// The sorting methods, each with a lens `L` that the query's data cover, as `&T` is covered by `&mut T`.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, PartialEq, Eq, PartialOrd, Ord)]
/// struct Rank(u32);
/// #[derive(Component)]
/// struct Name(&'static str);
///
/// fn in_order(ranked: Query<(&Name, &Rank)>) {
///     let names: Vec<_> = ranked.iter().sort::<&Rank>().map(|(name, _)| name.0).collect();
///     assert_eq!(names, ["first", "second"]);
/// }
/// # let mut world = World::new();
/// # world.spawn((Name("second"), Rank(2)));
/// # world.spawn((Name("first"), Rank(1)));
/// # world.run_system_once(in_order).unwrap();
/// ```
impl<'w, D: QueryData, F: QueryFilter> QueryIter<'w, D, F> {
    /// The matches in ascending order of `L`; equal ones keep the query's order.
    ///
    /// # Panics
    /// When a match was taken already, or the query may not read `L`.
    #[track_caller]
    pub fn sort<L: ReadOnlyQueryData>(self) -> QuerySortedIter<'w, D, F>
    where
        for<'a> L::Item<'a>: Ord,
    {
        self.sorted::<L>(|keys| keys.sort_by(|(a, _), (b, _)| a.cmp(b)))
    }

    /// As [`QueryIter::sort`]; equal ones may come in any order.
    ///
    /// # Panics
    /// As for [`QueryIter::sort`].
    #[track_caller]
    pub fn sort_unstable<L: ReadOnlyQueryData>(self) -> QuerySortedIter<'w, D, F>
    where
        for<'a> L::Item<'a>: Ord,
    {
        self.sorted::<L>(|keys| keys.sort_unstable_by(|(a, _), (b, _)| a.cmp(b)))
    }

    /// The matches in the order of a comparison of `L`; equal ones keep the query's order.
    ///
    /// # Panics
    /// As for [`QueryIter::sort`].
    #[track_caller]
    pub fn sort_by<L: ReadOnlyQueryData>(
        self,
        mut compare: impl FnMut(&L::Item<'_>, &L::Item<'_>) -> Ordering,
    ) -> QuerySortedIter<'w, D, F> {
        self.sorted::<L>(|keys| keys.sort_by(|(a, _), (b, _)| compare(a, b)))
    }

    /// As [`QueryIter::sort_by`]; equal ones may come in any order.
    ///
    /// # Panics
    /// As for [`QueryIter::sort`].
    #[track_caller]
    pub fn sort_unstable_by<L: ReadOnlyQueryData>(
        self,
        mut compare: impl FnMut(&L::Item<'_>, &L::Item<'_>) -> Ordering,
    ) -> QuerySortedIter<'w, D, F> {
        self.sorted::<L>(|keys| keys.sort_unstable_by(|(a, _), (b, _)| compare(a, b)))
    }

    /// The matches in ascending order of a key that is made from `L`; equal ones keep the query's order.
    ///
    /// # Panics
    /// As for [`QueryIter::sort`].
    #[track_caller]
    pub fn sort_by_key<L: ReadOnlyQueryData, K: Ord>(
        self,
        mut key: impl FnMut(&L::Item<'_>) -> K,
    ) -> QuerySortedIter<'w, D, F> {
        self.sorted::<L>(|keys| keys.sort_by_key(|(item, _)| key(item)))
    }

    /// As [`QueryIter::sort_by_key`]; equal ones may come in any order.
    ///
    /// # Panics
    /// As for [`QueryIter::sort`].
    #[track_caller]
    pub fn sort_unstable_by_key<L: ReadOnlyQueryData, K: Ord>(
        self,
        mut key: impl FnMut(&L::Item<'_>) -> K,
    ) -> QuerySortedIter<'w, D, F> {
        self.sorted::<L>(|keys| keys.sort_unstable_by_key(|(item, _)| key(item)))
    }

    /// As [`QueryIter::sort_by_key`], with each key made once.
    ///
    /// # Panics
    /// As for [`QueryIter::sort`].
    #[track_caller]
    pub fn sort_by_cached_key<L: ReadOnlyQueryData, K: Ord>(
        self,
        mut key: impl FnMut(&L::Item<'_>) -> K,
    ) -> QuerySortedIter<'w, D, F> {
        self.sorted::<L>(|keys| keys.sort_by_cached_key(|(item, _)| key(item)))
    }

    #[track_caller]
    fn sorted<L: ReadOnlyQueryData>(
        self,
        sort: impl for<'a> FnOnce(&mut Vec<(L::Item<'a>, Entity)>),
    ) -> QuerySortedIter<'w, D, F> {
        let since = self.since();
        let Some(mut view) = self.into_view() else {
            panic!("a query is sorted before its first match is taken: call `sort` on a fresh `iter`")
        };
        let entities = keys::<D, F, L>(&mut view, since, sort);
        QuerySortedIter { rows: view.into_unique(entities.into_iter()), since }
    }
}

/// The entities of a view in the order of their keys.
#[track_caller]
fn keys<D: QueryData, F: QueryFilter, L: ReadOnlyQueryData>(
    view: &mut View<'_, Both<D, F>>,
    since: Moment<'_>,
    sort: impl for<'a> FnOnce(&mut Vec<(L::Item<'a>, Entity)>),
) -> Vec<Entity> {
    let ids = (F::ids(), (D::ids(), (L::ids(), ())));
    let mut grant = view.reborrow().into_grant();
    let prepared = match grant.prepare::<Keyed<D, F, L>>(ids, |_| true) {
        Ok(prepared) => prepared,
        Err(NotGranted::Column { position, .. }) => {
            let terms = |out: &mut Vec<Term>| {
                D::terms(out);
                L::terms(out);
            };
            let term = lacking::<F>(terms, position);
            panic!("a query for `{}` cannot be sorted by `{term}`: ask for it as well", written::<D>())
        }
        Err(_) => unreachable!("what only reads does not exclude itself"),
    };
    let rows = grant.view(&prepared).newer_than(since.tick).into_rows();
    let kept = rows.filter_map(|(ticks, (_, (key, entity)))| {
        F::keep(ticks, since.tick).then(|| (L::item(key, since), entity))
    });
    let mut keys: Vec<_> = kept.collect();
    sort(&mut keys);
    keys.into_iter().map(|(_, entity)| entity).collect()
}

/// The matches of a query in the order of a key, from both ends.
pub struct QuerySortedIter<'w, D: QueryData, F: QueryFilter = ()> {
    rows: Unique<'w, Both<D, F>, vec::IntoIter<Entity>>,
    since: Moment<'w>,
}

/// What was found when keys were read.
macro_rules! found {
    ($self:ident, $next:ident) => {{
        let (_, found) = $self.rows.$next()?;
        let (_, row) =
            found.ok().expect("nothing came or went since the keys were read, each of another entity");
        Some(D::item(row, $self.since))
    }};
}

impl<'w, D: QueryData, F: QueryFilter> Iterator for QuerySortedIter<'w, D, F> {
    type Item = D::Item<'w>;

    #[inline]
    fn next(&mut self) -> Option<D::Item<'w>> {
        found!(self, next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl<D: QueryData, F: QueryFilter> DoubleEndedIterator for QuerySortedIter<'_, D, F> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        found!(self, next_back)
    }
}

impl<D: QueryData, F: QueryFilter> ExactSizeIterator for QuerySortedIter<'_, D, F> {}
impl<D: QueryData, F: QueryFilter> FusedIterator for QuerySortedIter<'_, D, F> {}
