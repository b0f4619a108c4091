//! Every choice of several matches.
//!
//! Where the matches are is found once; each choice makes what it yields anew, so that items need not be copied.

use std::iter::FusedIterator;

use phalanx_store::{Fetch, Places};

use super::Query;
use super::data::{QueryData, ReadOnlyQueryData};
use super::filter::QueryFilter;
use super::moment::Moment;
use super::state::Both;

impl<'w, D: QueryData, F: QueryFilter> Query<'w, '_, D, F> {
    /// Reads each unordered choice of `K` matches, in the query's order.
    pub fn iter_combinations<const K: usize>(&self) -> QueryCombinationIter<'_, D::ReadOnly, F, K> {
        self.as_readonly().iter_combinations_inner()
    }

    /// Reads and writes each unordered choice of `K` matches, one after the other.
    pub fn iter_combinations_mut<const K: usize>(&mut self) -> QueryCombinationIter<'_, D, F, K> {
        self.reborrow().iter_combinations_inner()
    }

    /// As [`Query::iter_combinations_mut`], for as long as the query would have lived.
    pub fn iter_combinations_inner<const K: usize>(self) -> QueryCombinationIter<'w, D, F, K> {
        let since = self.since;
        let keep = |(ticks, _): <<Both<D, F> as Fetch>::ReadOnly as Fetch>::Item<'_>| {
            F::ARCHETYPAL || F::keep(ticks, since.tick)
        };
        let places = self.view.newer_than(since.tick).into_places(keep);
        QueryCombinationIter { choice: Choice::new(places.len()), places, since }
    }
}

/// Choices of `K` matches.
///
/// To be read, it is an iterator. To be written, each choice is fetched with [`QueryCombinationIter::fetch_next`] and
/// given back before the next one.
pub struct QueryCombinationIter<'w, D: QueryData, F: QueryFilter, const K: usize> {
    places: Places<'w, Both<D, F>>,
    choice: Choice<K>,
    since: Moment<'w>,
}

impl<D: QueryData, F: QueryFilter, const K: usize> QueryCombinationIter<'_, D, F, K> {
    /// The next choice.
    pub fn fetch_next(&mut self) -> Option<[D::Item<'_>; K]> {
        let since = self.since;
        let chosen = self.choice.next()?;
        Some(self.places.get_many_mut(chosen).map(|(_, row)| D::item(row, since)))
    }
}

impl<'w, D: ReadOnlyQueryData, F: QueryFilter, const K: usize> Iterator
    for QueryCombinationIter<'w, D, F, K>
{
    type Item = [D::Item<'w>; K];

    #[inline]
    fn next(&mut self) -> Option<[D::Item<'w>; K]> {
        let chosen = self.choice.next()?;
        Some(chosen.map(|at| D::item(self.places.get(at).1, self.since)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.choice.left();
        (left.unwrap_or(usize::MAX), left)
    }
}

impl<D: ReadOnlyQueryData, F: QueryFilter, const K: usize> ExactSizeIterator
    for QueryCombinationIter<'_, D, F, K>
{
}
impl<D: ReadOnlyQueryData, F: QueryFilter, const K: usize> FusedIterator
    for QueryCombinationIter<'_, D, F, K>
{
}

/// The positions of `K` of `n` things, in lexicographic order.
struct Choice<const K: usize> {
    next: Option<[usize; K]>,
    n: usize,
}

impl<const K: usize> Choice<K> {
    fn new(n: usize) -> Self {
        Self { next: (K <= n).then(|| std::array::from_fn(|at| at)), n }
    }

    #[inline]
    fn next(&mut self) -> Option<[usize; K]> {
        let now = self.next?;
        let movable = (0..K).rev().find(|&at| now[at] + K < self.n + at);
        self.next = movable.map(|at| {
            let first = now[at] + 1;
            std::array::from_fn(|other| if other < at { now[other] } else { first + other - at })
        });
        Some(now)
    }

    /// How many choices are left; `None` when that is beyond all numbers.
    fn left(&self) -> Option<usize> {
        let Some(next) = self.next else { return Some(0) };
        // The choices from the next one on: those that agree with it in the first positions and are larger in the one
        // after, for each number of first positions, and itself.
        let larger = |at: usize| choose(self.n - next[at] - 1, K - at);
        (0..K).try_fold(1_usize, |sum, at| sum.checked_add(larger(at)?))
    }
}

/// How many ways there are to choose `k` of `n` things.
fn choose(n: usize, k: usize) -> Option<usize> {
    if k > n {
        return Some(0);
    }
    let ways = (0..k.min(n - k))
        .try_fold(1_u128, |ways, at| Some(ways.checked_mul(n as u128 - at as u128)? / (at as u128 + 1)))?;
    usize::try_from(ways).ok()
}

#[cfg(test)]
mod tests {
    use super::{Choice, choose};

    #[test]
    fn choices_are_lexicographic_and_complete() {
        let mut choice = Choice::<2>::new(4);
        let all: Vec<_> = std::iter::from_fn(|| choice.next()).collect();
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert!(Choice::<3>::new(2).next().is_none());
        let mut nothing = Choice::<0>::new(3);
        assert_eq!((nothing.next(), nothing.next()), (Some([]), None));
    }

    #[test]
    fn what_is_left_is_counted_at_every_step() {
        fn counts<const K: usize>(n: usize) {
            let mut choice = Choice::<K>::new(n);
            let mut left = choose(n, K).expect("a small number");
            assert_eq!(choice.left(), Some(left));
            while choice.next().is_some() {
                left -= 1;
                assert_eq!(choice.left(), Some(left), "{K} of {n}");
            }
            assert_eq!(left, 0);
        }
        for n in 0..8 {
            counts::<0>(n);
            counts::<1>(n);
            counts::<2>(n);
            counts::<3>(n);
            counts::<5>(n);
        }
    }

    #[test]
    fn more_choices_than_numbers_have_no_upper_bound() {
        assert_eq!(choose(200, 100), None);
        assert_eq!(Choice::<100>::new(200).left(), None);
    }
}
