//! Several entities at once: by list, by array, and in combinations.
//!
//! Reading may yield the same entity as often as it is asked for. Writing may not, so the writing forms are
//! not iterators: each item must be given back before the next one is fetched.

use std::borrow::Borrow;

use phalanx_store::{Entity, Many, Tick};

use super::Query;
use super::data::QueryData;
use super::error::QueryEntityError;
use super::filter::QueryFilter;
use super::state::Both;

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// Reads several entities; the same one may occur twice.
    ///
    /// # Errors
    /// For the first entity that is dead or does not match.
    pub fn get_many<const N: usize>(
        &self,
        entities: [Entity; N],
    ) -> Result<[<D::ReadOnly as QueryData>::Item<'_>; N], QueryEntityError> {
        for entity in entities {
            self.get(entity)?;
        }
        Ok(entities
            .map(|entity| self.get(entity).unwrap_or_else(|_| unreachable!("each entity was found before"))))
    }

    /// Reads and writes several different entities.
    ///
    /// # Errors
    /// For the first entity that is dead, does not match, or occurs twice.
    pub fn get_many_mut<const N: usize>(
        &mut self,
        entities: [Entity; N],
    ) -> Result<[D::Item<'_>; N], QueryEntityError> {
        for (at, &entity) in entities.iter().enumerate() {
            if entities[..at].contains(&entity) {
                return Err(QueryEntityError::Repeated { entity });
            }
            self.get(entity)?;
        }
        let since = self.since;
        let rows = self.view.get_many_mut(entities).expect("each entity was found, and found once");
        Ok(rows.map(|(_, row)| D::item(row, since)))
    }

    /// Reads the entities of a list that match, in the list's order, as often as they occur.
    ///
    /// The fastest way to many entities in any order: what neighbours in the list have in common is looked up once.
    pub fn iter_many<I: IntoIterator<Item: Borrow<Entity>>>(
        &self,
        entities: I,
    ) -> QueryMany<'_, D::ReadOnly, F, I::IntoIter> {
        QueryMany { rows: self.view.read_only().into_many(entities.into_iter()), since: self.since }
    }

    /// Reads and writes the entities of a list that match, one after the other.
    pub fn iter_many_mut<I: IntoIterator<Item: Borrow<Entity>>>(
        &mut self,
        entities: I,
    ) -> ManyMut<'_, D, F, I::IntoIter> {
        ManyMut { query: self.reborrow(), entities: entities.into_iter() }
    }

    /// Reads each unordered choice of `K` matches, in the query's order.
    pub fn iter_combinations<const K: usize>(
        &self,
    ) -> impl Iterator<Item = [<D::ReadOnly as QueryData>::Item<'_>; K]>
    where
        for<'a> <D::ReadOnly as QueryData>::Item<'a>: Clone,
    {
        let items: Vec<_> = self.iter().collect();
        let mut choice = Choice::<K>::new(items.len());
        std::iter::from_fn(move || Some(choice.next()?.map(|at| items[at].clone())))
    }

    /// Reads and writes each unordered choice of `K` matches, one after the other.
    pub fn iter_combinations_mut<const K: usize>(&mut self) -> CombinationsMut<'_, D, F, K> {
        let mut entities = Vec::new();
        match self.view.leader() {
            Some((_, led)) => entities.extend_from_slice(led),
            None => {
                for table in self.view.read_only().newer_than(self.since).into_chunks() {
                    entities.extend_from_slice(table.entities());
                }
            }
        }
        if !Self::EXACT {
            entities.retain(|&entity| self.contains(entity));
        }
        CombinationsMut { choice: Choice::new(entities.len()), entities, query: self.reborrow() }
    }
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

    fn next(&mut self) -> Option<[usize; K]> {
        let now = self.next?;
        let movable = (0..K).rev().find(|&at| now[at] + K < self.n + at);
        self.next = movable.map(|at| {
            let first = now[at] + 1;
            std::array::from_fn(|other| if other < at { now[other] } else { first + other - at })
        });
        Some(now)
    }
}

/// The matches of a list of entities, to be read.
pub struct QueryMany<'w, D: QueryData, F: QueryFilter, I> {
    rows: Many<'w, Both<D, F>, I>,
    since: Tick,
}

impl<'w, D: super::ReadOnlyQueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> Iterator
    for QueryMany<'w, D, F, I>
{
    type Item = D::Item<'w>;

    #[inline]
    fn next(&mut self) -> Option<D::Item<'w>> {
        let since = self.since;
        self.rows.find_map(|(ticks, row)| F::keep(ticks, since).then(|| D::item(row, since)))
    }

    #[inline]
    fn fold<B, G: FnMut(B, D::Item<'w>) -> B>(self, first: B, mut then: G) -> B {
        let since = self.since;
        self.rows.fold(
            first,
            |sum, (ticks, row)| {
                if F::keep(ticks, since) { then(sum, D::item(row, since)) } else { sum }
            },
        )
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

/// The matches of a list of entities, to be written.
pub struct ManyMut<'w, D: QueryData, F: QueryFilter, I> {
    query: Query<'w, D, F>,
    entities: I,
}

impl<D: QueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> ManyMut<'_, D, F, I> {
    /// The next match.
    pub fn fetch_next(&mut self) -> Option<D::Item<'_>> {
        let query = &self.query;
        let entity = self.entities.find(|entity| query.contains(*entity.borrow()))?;
        self.query.get_mut(*entity.borrow()).ok()
    }
}

/// Choices of `K` matches, to be written.
pub struct CombinationsMut<'w, D: QueryData, F: QueryFilter, const K: usize> {
    query: Query<'w, D, F>,
    entities: Vec<Entity>,
    choice: Choice<K>,
}

impl<D: QueryData, F: QueryFilter, const K: usize> CombinationsMut<'_, D, F, K> {
    /// The next choice.
    pub fn fetch_next(&mut self) -> Option<[D::Item<'_>; K]> {
        let chosen = self.choice.next()?.map(|at| self.entities[at]);
        self.query.get_many_mut(chosen).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Choice;

    #[test]
    fn choices_are_lexicographic_and_complete() {
        let mut choice = Choice::<2>::new(4);
        let all: Vec<_> = std::iter::from_fn(|| choice.next()).collect();
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert!(Choice::<3>::new(2).next().is_none());
        let mut nothing = Choice::<0>::new(3);
        assert_eq!((nothing.next(), nothing.next()), (Some([]), None));
    }
}
