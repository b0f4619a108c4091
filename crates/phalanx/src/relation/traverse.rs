//! Walking along relations inside a query.
//!
//! A query for the pointing half walks upwards, one for the listing half downwards. No walk visits an entity twice:
//! where a relation allows cycles, it remembers where it was. No walk is recursive. Entities that the query does not
//! match end the walk there.

use std::collections::VecDeque;

use hashbrown::HashSet;
use phalanx_store::Entity;

use super::{Relationship, RelationshipTarget, SourceIter};
use crate::query::{Query, QueryData, QueryFilter};

/// Query data that reads `T` and nothing else.
pub trait Reads<T: 'static>: for<'x> QueryData<Item<'x> = &'x T> {}
impl<T: 'static, D: for<'x> QueryData<Item<'x> = &'x T>> Reads<T> for D {}

/// Query data that reads both halves of a relation where they are.
pub trait ReadsBoth<R: Relationship>:
    for<'x> QueryData<Item<'x> = (Option<&'x R>, Option<&'x R::RelationshipTarget>)>
{
}
impl<R: Relationship, D> ReadsBoth<R> for D where
    D: for<'x> QueryData<Item<'x> = (Option<&'x R>, Option<&'x R::RelationshipTarget>)>
{
}

impl<D: QueryData, F: QueryFilter> Query<'_, '_, D, F> {
    /// The target of an entity, if the query matches it.
    pub fn related<R: Relationship>(&self, entity: Entity) -> Option<Entity>
    where
        D::ReadOnly: Reads<R>,
    {
        self.get(entity).ok().map(R::get)
    }

    /// The entities that point at one, in order.
    pub fn relationship_sources<S: RelationshipTarget>(
        &self,
        entity: Entity,
    ) -> impl Iterator<Item = Entity> + '_
    where
        D::ReadOnly: Reads<S>,
    {
        self.get(entity).ok().into_iter().flat_map(S::iter)
    }

    /// The last entity on the way up from one: itself, if it points at none. Where links form a cycle, the entity
    /// that closes it.
    pub fn root_ancestor<R: Relationship>(&self, entity: Entity) -> Entity
    where
        D::ReadOnly: Reads<R>,
    {
        self.iter_ancestors::<R>(entity).last().unwrap_or(entity)
    }

    /// The entities on the way up: the target of this one, the target of that one, and so on.
    pub fn iter_ancestors<R: Relationship>(&self, entity: Entity) -> AncestorIter<'_, D, F, R>
    where
        D::ReadOnly: Reads<R>,
    {
        let seen = (R::CYCLIC || R::ALLOW_SELF_REFERENTIAL).then(|| HashSet::from([entity]));
        AncestorIter { query: self, next: Some(entity), seen, relation: std::marker::PhantomData }
    }

    /// All entities that point at this one over any number of links, nearest first.
    pub fn iter_descendants<S: RelationshipTarget>(&self, entity: Entity) -> DescendantIter<'_, D, F, S>
    where
        D::ReadOnly: Reads<S>,
    {
        let mut all = DescendantIter {
            query: self,
            waiting: VecDeque::new(),
            seen: seen_from::<S>(entity),
            relation: std::marker::PhantomData,
        };
        all.add_sources(entity);
        all
    }

    /// All entities that point at this one over any number of links, each followed by those below it.
    pub fn iter_descendants_depth_first<S: RelationshipTarget>(
        &self,
        entity: Entity,
    ) -> DescendantDepthFirstIter<'_, D, F, S>
    where
        D::ReadOnly: Reads<S>,
        for<'x> SourceIter<'x, S>: DoubleEndedIterator,
    {
        let mut all = DescendantDepthFirstIter {
            query: self,
            stack: Vec::new(),
            seen: seen_from::<S>(entity),
            relation: std::marker::PhantomData,
        };
        all.add_sources(entity);
        all
    }

    /// The entities below this one at which none points.
    pub fn iter_leaves<S: RelationshipTarget>(&self, entity: Entity) -> impl Iterator<Item = Entity> + '_
    where
        D::ReadOnly: Reads<S>,
        for<'x> SourceIter<'x, S>: DoubleEndedIterator,
    {
        self.iter_descendants_depth_first::<S>(entity)
            .filter(|&entity| self.get(entity).map_or(true, RelationshipTarget::is_empty))
    }

    /// The entities that point at the same target as this one, in order, without this one.
    pub fn iter_siblings<R: Relationship>(&self, entity: Entity) -> impl Iterator<Item = Entity> + '_
    where
        D::ReadOnly: ReadsBoth<R>,
    {
        let target = self.get(entity).ok().and_then(|(link, _)| link.map(R::get));
        let list = target.and_then(|target| self.get(target).ok()).and_then(|(_, list)| list);
        list.into_iter().flat_map(RelationshipTarget::iter).filter(move |&sibling| sibling != entity)
    }
}

/// Where a walk was, for relations in which it could come back.
type Seen = Option<HashSet<Entity>>;

fn seen_from<S: RelationshipTarget>(entity: Entity) -> Seen {
    let cyclic = S::Relationship::CYCLIC || S::Relationship::ALLOW_SELF_REFERENTIAL;
    cyclic.then(|| HashSet::from([entity]))
}

fn is_new(seen: &mut Seen, entity: Entity) -> bool {
    seen.as_mut().is_none_or(|seen| seen.insert(entity))
}

/// The entities on the way up from one.
pub struct AncestorIter<'q, D: QueryData, F: QueryFilter, R> {
    query: &'q Query<'q, 'q, D, F>,
    next: Option<Entity>,
    seen: Seen,
    relation: std::marker::PhantomData<fn() -> R>,
}

impl<D: QueryData<ReadOnly: Reads<R>>, F: QueryFilter, R: Relationship> Iterator
    for AncestorIter<'_, D, F, R>
{
    type Item = Entity;

    fn next(&mut self) -> Option<Entity> {
        let target = self.query.get(self.next?).ok().map(R::get);
        self.next = target.filter(|&target| is_new(&mut self.seen, target));
        self.next
    }
}

/// The entities below one, nearest first.
pub struct DescendantIter<'q, D: QueryData, F: QueryFilter, S> {
    query: &'q Query<'q, 'q, D, F>,
    waiting: VecDeque<Entity>,
    seen: Seen,
    relation: std::marker::PhantomData<fn() -> S>,
}

impl<D: QueryData<ReadOnly: Reads<S>>, F: QueryFilter, S: RelationshipTarget> DescendantIter<'_, D, F, S> {
    fn add_sources(&mut self, entity: Entity) {
        if let Ok(list) = self.query.get(entity) {
            let seen = &mut self.seen;
            self.waiting.extend(list.iter().filter(|&source| is_new(seen, source)));
        }
    }
}

impl<D: QueryData<ReadOnly: Reads<S>>, F: QueryFilter, S: RelationshipTarget> Iterator
    for DescendantIter<'_, D, F, S>
{
    type Item = Entity;

    fn next(&mut self) -> Option<Entity> {
        let entity = self.waiting.pop_front()?;
        self.add_sources(entity);
        Some(entity)
    }
}

/// The entities below one, each followed by those below it.
pub struct DescendantDepthFirstIter<'q, D: QueryData, F: QueryFilter, S> {
    query: &'q Query<'q, 'q, D, F>,
    stack: Vec<Entity>,
    seen: Seen,
    relation: std::marker::PhantomData<fn() -> S>,
}

impl<D: QueryData<ReadOnly: Reads<S>>, F: QueryFilter, S: RelationshipTarget>
    DescendantDepthFirstIter<'_, D, F, S>
where
    for<'x> SourceIter<'x, S>: DoubleEndedIterator,
{
    fn add_sources(&mut self, entity: Entity) {
        if let Ok(list) = self.query.get(entity) {
            let seen = &mut self.seen;
            self.stack.extend(list.iter().rev().filter(|&source| is_new(seen, source)));
        }
    }
}

impl<D: QueryData<ReadOnly: Reads<S>>, F: QueryFilter, S: RelationshipTarget> Iterator
    for DescendantDepthFirstIter<'_, D, F, S>
where
    for<'x> SourceIter<'x, S>: DoubleEndedIterator,
{
    type Item = Entity;

    fn next(&mut self) -> Option<Entity> {
        let entity = self.stack.pop()?;
        self.add_sources(entity);
        Some(entity)
    }
}
