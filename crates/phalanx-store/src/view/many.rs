//! Single entities of a list, one after the other.
//!
//! Neighbours in a list are often in the same table, so where its columns are is kept from one to the next: what is left
//! is to look at the place of each.

use std::borrow::Borrow;
use std::mem::MaybeUninit;

use super::View;
use crate::entities::Entities;
use crate::entity::Entity;
use crate::fetch::{Fetch, ReadFetch};
use crate::place::{Place, TableId};

/// The rows of a list of entities, to be read; from [`View::into_many`].
pub struct Many<'w, F: Fetch, I> {
    view: View<'w, F>,
    entities: I,
    /// The table in which an entity was last found, or nowhere. It is one that the view visits.
    table: TableId,
    /// Of that table, if there is one.
    ptrs: MaybeUninit<F::Ptrs>,
}

// SAFETY: beside the list there is a view, and pointers that are the view's as well (I1).
unsafe impl<F: Fetch, I: Send> Send for Many<'_, F, I> {}
// SAFETY: as above.
unsafe impl<F: Fetch, I: Sync> Sync for Many<'_, F, I> {}

impl<'w, F: ReadFetch> View<'w, F> {
    /// The rows of those entities of a list that the view visits, in the list's order.
    #[inline]
    pub fn into_many<I: Iterator<Item: Borrow<Entity>>>(self, entities: I) -> Many<'w, F, I> {
        Many { view: self, entities, table: TableId::NOWHERE, ptrs: MaybeUninit::uninit() }
    }
}

impl<'w, F: ReadFetch, I> Many<'w, F, I> {
    #[inline(always)]
    fn get(&mut self, entity: Entity) -> Option<F::Item<'w>> {
        let place = Entities::find_in(self.view.slots, entity)?;
        if place.table != self.table && !self.turn_to(place) {
            // SAFETY: the fetch only reads (I6).
            return if F::ROWED { None } else { unsafe { self.view.item_of(entity) } };
        }
        // SAFETY: the pointers are those of the table, which the view visits (I6), and the directory's row is in range (I5).
        // The fetch only reads.
        unsafe {
            let ptrs = self.ptrs.assume_init();
            let spots = F::spots(ptrs, entity)?;
            Some(F::single(ptrs, place.row.index(), spots))
        }
    }

    /// Keeps where the columns of a table are, if it is a table that the view visits.
    #[inline]
    fn turn_to(&mut self, place: Place) -> bool {
        let at = place.table.index();
        let visited = place.table.has_rows() && self.view.member.get(at) == Some(&true);
        if visited {
            // SAFETY: a table that is visited exists in the store the lanes are of (I6).
            self.ptrs = MaybeUninit::new(unsafe { F::ptrs(self.view.lanes, at) });
            self.table = place.table;
        }
        visited
    }
}

impl<'w, F: ReadFetch, I: Iterator<Item: Borrow<Entity>>> Iterator for Many<'w, F, I> {
    type Item = F::Item<'w>;

    #[inline]
    fn next(&mut self) -> Option<F::Item<'w>> {
        loop {
            let entity = *self.entities.next()?.borrow();
            if let Some(item) = self.get(entity) {
                return Some(item);
            }
        }
    }

    #[inline]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(self, first: B, mut then: G) -> B {
        let Self { view, entities, table, ptrs } = self;
        let mut many = Many { view, entities: (), table, ptrs };
        entities.fold(first, |sum, entity| match many.get(*entity.borrow()) {
            Some(item) => then(sum, item),
            None => sum,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.entities.size_hint().1)
    }
}
