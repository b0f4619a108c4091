//! Entities of a list, each at most once, so that their rows may be written while all of them are kept.
//!
//! Which entities came before is kept in one bit per index, as far as indices were asked for.

use std::borrow::Borrow;
use std::iter::FusedIterator;

use super::View;
use crate::entities::Entities;
use crate::entity::Entity;
use crate::fetch::Fetch;

/// The rows of a list of different entities; from [`View::into_unique`].
pub struct Unique<'w, F: Fetch, I> {
    view: View<'w, F>,
    entities: I,
    /// One bit per index of an entity whose row was asked for.
    seen: Vec<u64>,
}

/// Why there is no row for an entity of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoRow {
    /// The view does not visit it.
    NotVisited,
    /// Its row was yielded before.
    Repeated,
}

impl<'w, F: Fetch> View<'w, F> {
    /// The rows of a list of entities, in the list's order, each once.
    #[inline]
    pub fn into_unique<I: Iterator<Item: Borrow<Entity>>>(self, entities: I) -> Unique<'w, F, I> {
        Unique { view: self, entities, seen: Vec::new() }
    }
}

impl<'w, F: Fetch, I> Unique<'w, F, I> {
    fn get(&mut self, entity: Entity) -> Result<F::Item<'w>, NoRow> {
        if Entities::find_in(self.view.base.slots, entity).is_none() {
            return Err(NoRow::NotVisited);
        }
        let (word, bit) = (entity.index() as usize / 64, 1 << (entity.index() % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            return Err(NoRow::Repeated);
        }
        let found = self.view.find(entity).ok_or(NoRow::NotVisited)?;
        self.seen[word] |= bit;
        // SAFETY: no entity with this index was found before, and others have other rows (I5, I10), so that no other item of
        // these rows is alive (I6).
        Ok(unsafe { self.view.lend(&found) })
    }
}

impl<'w, F: Fetch, I: Iterator<Item: Borrow<Entity>>> Iterator for Unique<'w, F, I> {
    type Item = (Entity, Result<F::Item<'w>, NoRow>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let entity = *self.entities.next()?.borrow();
        Some((entity, self.get(entity)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entities.size_hint()
    }
}

impl<F: Fetch, I: DoubleEndedIterator<Item: Borrow<Entity>>> DoubleEndedIterator for Unique<'_, F, I> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let entity = *self.entities.next_back()?.borrow();
        Some((entity, self.get(entity)))
    }
}

impl<F: Fetch, I: ExactSizeIterator<Item: Borrow<Entity>>> ExactSizeIterator for Unique<'_, F, I> {}
impl<F: Fetch, I: FusedIterator<Item: Borrow<Entity>>> FusedIterator for Unique<'_, F, I> {}
