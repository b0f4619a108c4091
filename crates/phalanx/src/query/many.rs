//! Several entities at once, by list or by array.
//!
//! Reading may yield the same entity as often as it is asked for. Writing may not: either each item is given back
//! before the next one is fetched, or the entities are checked to differ.

use std::borrow::Borrow;
use std::iter::FusedIterator;

use phalanx_store::{Entity, Fetch, Many, NoRow, Unique};

use super::data::{QueryData, ReadOnlyQueryData};
use super::error::QueryEntityError;
use super::filter::QueryFilter;
use super::moment::Moment;
use super::state::Both;
use super::{Context, Query};

impl<'w, D: QueryData, F: QueryFilter> Query<'w, '_, D, F> {
    /// Reads several entities; the same one may occur twice.
    ///
    /// # Errors
    /// For the first entity that is dead or does not match.
    pub fn get_many<const N: usize>(
        &self,
        entities: [Entity; N],
    ) -> Result<[<D::ReadOnly as QueryData>::Item<'_>; N], QueryEntityError> {
        self.as_readonly().get_many_inner(entities)
    }

    /// Reads several different entities.
    ///
    /// # Errors
    /// For the first entity that is dead, does not match, or occurs twice.
    pub fn get_many_unique<const N: usize>(
        &self,
        entities: [Entity; N],
    ) -> Result<[<D::ReadOnly as QueryData>::Item<'_>; N], QueryEntityError> {
        self.as_readonly().get_many_unique_inner(entities)
    }

    /// Reads and writes several different entities.
    ///
    /// # Errors
    /// For the first entity that is dead, does not match, or occurs twice.
    pub fn get_many_mut<const N: usize>(
        &mut self,
        entities: [Entity; N],
    ) -> Result<[D::Item<'_>; N], QueryEntityError> {
        self.reborrow().get_many_unique_inner(entities)
    }

    /// As [`Query::get_many_mut`].
    ///
    /// # Errors
    /// As for [`Query::get_many_mut`].
    pub fn get_many_unique_mut<const N: usize>(
        &mut self,
        entities: [Entity; N],
    ) -> Result<[D::Item<'_>; N], QueryEntityError> {
        self.get_many_mut(entities)
    }

    /// As [`Query::get_many`], for as long as the query would have lived.
    ///
    /// # Errors
    /// For the first entity that is dead or does not match.
    pub fn get_many_inner<const N: usize>(
        self,
        entities: [Entity; N],
    ) -> Result<[D::Item<'w>; N], QueryEntityError>
    where
        D: ReadOnlyQueryData,
    {
        for entity in entities {
            self.get_inner(entity)?;
        }
        Ok(entities
            .map(|entity| self.get_inner(entity).unwrap_or_else(|_| unreachable!("it was found before"))))
    }

    /// As [`Query::get_many_mut`], for as long as the query would have lived.
    ///
    /// # Errors
    /// As for [`Query::get_many_mut`].
    pub fn get_many_mut_inner<const N: usize>(
        self,
        entities: [Entity; N],
    ) -> Result<[D::Item<'w>; N], QueryEntityError> {
        self.get_many_unique_inner(entities)
    }

    /// As [`Query::get_many_mut`], for as long as the query would have lived.
    ///
    /// # Errors
    /// As for [`Query::get_many_mut`].
    pub fn get_many_unique_inner<const N: usize>(
        self,
        entities: [Entity; N],
    ) -> Result<[D::Item<'w>; N], QueryEntityError> {
        for (at, &entity) in entities.iter().enumerate() {
            if entities[..at].contains(&entity) {
                return Err(QueryEntityError::Repeated { entity });
            }
            self.get(entity)?;
        }
        let since = self.since;
        let rows = self.view.into_get_many(entities).expect("each entity was found, and found once");
        Ok(rows.map(|(_, row)| D::item(row, since)))
    }

    /// Reads the entities of a list, in the list's order, as often as they occur; an error stands for each that is
    /// dead or does not match.
    ///
    /// [`QueryManyIter::matched`] skips those, and is the fastest way to many entities in any order: what neighbours
    /// in the list have in common is looked up once.
    pub fn iter_many<I: IntoIterator<Item: Borrow<Entity>>>(
        &self,
        entities: I,
    ) -> QueryManyIter<'_, D::ReadOnly, F, I::IntoIter> {
        self.as_readonly().iter_many_inner(entities)
    }

    /// Reads and writes the entities of a list, one after the other.
    pub fn iter_many_mut<I: IntoIterator<Item: Borrow<Entity>>>(
        &mut self,
        entities: I,
    ) -> QueryManyIter<'_, D, F, I::IntoIter> {
        self.reborrow().iter_many_inner(entities)
    }

    /// As [`Query::iter_many_mut`], for as long as the query would have lived.
    pub fn iter_many_inner<I: IntoIterator<Item: Borrow<Entity>>>(
        self,
        entities: I,
    ) -> QueryManyIter<'w, D, F, I::IntoIter> {
        QueryManyIter { query: self.without_state(), entities: entities.into_iter() }
    }

    /// Reads the entities of a list without repetitions; an error stands for each that is dead, does not match, or came
    /// before.
    pub fn iter_many_unique<I: IntoIterator<Item: Borrow<Entity>>>(
        &self,
        entities: I,
    ) -> QueryManyUniqueIter<'_, D::ReadOnly, F, I::IntoIter> {
        self.as_readonly().iter_many_unique_inner(entities)
    }

    /// As [`Query::iter_many_unique`], to be read and written.
    pub fn iter_many_unique_mut<I: IntoIterator<Item: Borrow<Entity>>>(
        &mut self,
        entities: I,
    ) -> QueryManyUniqueIter<'_, D, F, I::IntoIter> {
        self.reborrow().iter_many_unique_inner(entities)
    }

    /// As [`Query::iter_many_unique_mut`], for as long as the query would have lived.
    pub fn iter_many_unique_inner<I: IntoIterator<Item: Borrow<Entity>>>(
        self,
        entities: I,
    ) -> QueryManyUniqueIter<'w, D, F, I::IntoIter> {
        let (since, context) = (self.since, self.context);
        let why = Why { entities: self.view.entities(), sets: self.view.sets(), context };
        QueryManyUniqueIter { rows: self.view.into_unique(entities.into_iter()), since, why }
    }
}

/// What tells why a query has nothing for an entity.
struct Why<'w> {
    entities: &'w phalanx_store::Entities,
    sets: phalanx_store::Sets<'w>,
    context: Context<'w>,
}

/// The entities of a list, as a query sees them.
///
/// To be read, it is an iterator. To be written, each match is fetched with [`QueryManyIter::fetch_next`] and given back
/// before the next one.
pub struct QueryManyIter<'w, D: QueryData, F: QueryFilter, I> {
    query: Query<'w, 'w, D, F>,
    entities: I,
}

impl<'w, D: QueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> QueryManyIter<'w, D, F, I> {
    /// What the query has for the next entity.
    pub fn fetch_next(&mut self) -> Option<Result<D::Item<'_>, QueryEntityError>> {
        let entity = *self.entities.next()?.borrow();
        Some(self.query.get_mut(entity))
    }

    /// Those that match, without the errors.
    pub fn matched(self) -> QueryManyMatchedIter<'w, D, F, I> {
        QueryManyMatchedIter { rows: self.query.view.into_many(self.entities), since: self.query.since }
    }

    /// Panics for the first entity that does not match.
    pub fn unwrapped(self) -> QueryManyUnwrappedIter<'w, D, F, I> {
        QueryManyUnwrappedIter(self)
    }
}

impl<'w, D: ReadOnlyQueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> Iterator
    for QueryManyIter<'w, D, F, I>
{
    type Item = Result<D::Item<'w>, QueryEntityError>;

    fn next(&mut self) -> Option<Self::Item> {
        let entity = *self.entities.next()?.borrow();
        Some(self.query.get_inner(entity))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entities.size_hint()
    }
}

impl<D: ReadOnlyQueryData, F: QueryFilter, I: DoubleEndedIterator<Item: Borrow<Entity>>> DoubleEndedIterator
    for QueryManyIter<'_, D, F, I>
{
    fn next_back(&mut self) -> Option<Self::Item> {
        let entity = *self.entities.next_back()?.borrow();
        Some(self.query.get_inner(entity))
    }
}

/// The matches of a list of entities; from [`QueryManyIter::matched`].
pub struct QueryManyMatchedIter<'w, D: QueryData, F: QueryFilter, I> {
    rows: Many<'w, Both<D, F>, I>,
    since: Moment<'w>,
}

impl<D: QueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> QueryManyMatchedIter<'_, D, F, I> {
    /// The next match.
    pub fn fetch_next(&mut self) -> Option<D::Item<'_>> {
        let since = self.since;
        let keep =
            |(ticks, _): <<Both<D, F> as Fetch>::ReadOnly as Fetch>::Item<'_>| F::keep(ticks, since.tick);
        self.rows.lend_next(keep).map(|(_, row)| D::item(row, since))
    }
}

impl<'w, D: ReadOnlyQueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> Iterator
    for QueryManyMatchedIter<'w, D, F, I>
{
    type Item = D::Item<'w>;

    #[inline]
    fn next(&mut self) -> Option<D::Item<'w>> {
        let since = self.since;
        self.rows.find_map(|(ticks, row)| F::keep(ticks, since.tick).then(|| D::item(row, since)))
    }

    #[inline]
    fn fold<B, G: FnMut(B, D::Item<'w>) -> B>(self, first: B, mut then: G) -> B {
        let since = self.since;
        self.rows.fold(
            first,
            |sum, (ticks, row)| {
                if F::keep(ticks, since.tick) { then(sum, D::item(row, since)) } else { sum }
            },
        )
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

/// The entities of a list, each of which must match; from [`QueryManyIter::unwrapped`].
pub struct QueryManyUnwrappedIter<'w, D: QueryData, F: QueryFilter, I>(QueryManyIter<'w, D, F, I>);

impl<D: QueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> QueryManyUnwrappedIter<'_, D, F, I> {
    /// What the query has for the next entity.
    ///
    /// # Panics
    /// When that is nothing.
    #[track_caller]
    pub fn fetch_next(&mut self) -> Option<D::Item<'_>> {
        self.0.fetch_next().map(or_panic)
    }
}

impl<'w, D: ReadOnlyQueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> Iterator
    for QueryManyUnwrappedIter<'w, D, F, I>
{
    type Item = D::Item<'w>;

    #[track_caller]
    fn next(&mut self) -> Option<D::Item<'w>> {
        self.0.next().map(or_panic)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

#[track_caller]
fn or_panic<T>(found: Result<T, QueryEntityError>) -> T {
    match found {
        Ok(item) => item,
        Err(error) => panic!("{error}"),
    }
}

/// The different entities of a list, as a query sees them; from [`Query::iter_many_unique`].
pub struct QueryManyUniqueIter<'w, D: QueryData, F: QueryFilter, I> {
    rows: Unique<'w, Both<D, F>, I>,
    since: Moment<'w>,
    why: Why<'w>,
}

impl<'w, D: QueryData, F: QueryFilter, I> QueryManyUniqueIter<'w, D, F, I> {
    fn item(
        &self,
        entity: Entity,
        found: Result<super::Row<'w, D, F>, NoRow>,
    ) -> Result<D::Item<'w>, QueryEntityError> {
        match found {
            Ok((ticks, row)) => {
                if F::keep(ticks, self.since.tick) {
                    return Ok(D::item(row, self.since));
                }
            }
            Err(NoRow::Repeated) => return Err(QueryEntityError::Repeated { entity }),
            Err(_) => {}
        }
        Err(self.why.context.why(entity, self.why.entities, self.why.sets))
    }
}

impl<'w, D: QueryData, F: QueryFilter, I: Iterator<Item: Borrow<Entity>>> Iterator
    for QueryManyUniqueIter<'w, D, F, I>
{
    type Item = Result<D::Item<'w>, QueryEntityError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (entity, found) = self.rows.next()?;
        Some(self.item(entity, found))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl<D: QueryData, F: QueryFilter, I: FusedIterator<Item: Borrow<Entity>>> FusedIterator
    for QueryManyUniqueIter<'_, D, F, I>
{
}
