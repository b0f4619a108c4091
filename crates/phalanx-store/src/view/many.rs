//! Single entities of a list, one after the other.
//!
//! A reading view yields them as an iterator; a writing one lends one row at a time. Neighbours in a list are often in
//! the same table, so where its columns are is kept from one to the next: what is left is to look at the location of
//! each.

use std::borrow::Borrow;
use std::mem::MaybeUninit;

use super::View;
use super::single::Found;
use crate::entities::Entities;
use crate::entity::Entity;
use crate::fetch::{Fetch, Known, ReadFetch};
use crate::location::TableId;

/// The rows of a list of entities; from [`View::into_many`].
pub struct Many<'w, F: Fetch, I> {
    view: View<'w, F>,
    entities: I,
    /// The table in which an entity was last found, or nowhere. It is one that the view visits.
    table: TableId,
    /// Of that table, if there is one.
    ptrs: MaybeUninit<F::Ptrs>,
}

// SAFETY: beside the list there is a view, which is `Send` and `Sync`, and pointers that it could find again (I1),
// which may be used on any thread (I14).
unsafe impl<F: Fetch, I: Send> Send for Many<'_, F, I> {}
// SAFETY: beside the list, a shared one gives nothing; what `F` keeps may be used on any thread (I14).
unsafe impl<F: Fetch, I: Sync> Sync for Many<'_, F, I> {}

impl<'w, F: Fetch> View<'w, F> {
    /// The rows of those entities of a list that the view visits, in the list's order.
    #[inline]
    pub fn into_many<I: Iterator<Item: Borrow<Entity>>>(self, entities: I) -> Many<'w, F, I> {
        Many { view: self, entities, table: TableId::NOWHERE, ptrs: MaybeUninit::uninit() }
    }
}

impl<'w, F: Fetch, I> Many<'w, F, I> {
    /// # Safety
    /// No other item of the same entity is alive, unless the fetch only reads.
    #[inline(always)]
    unsafe fn get<'a>(&mut self, entity: Entity) -> Option<F::Item<'a>>
    where
        'w: 'a,
    {
        let location = Entities::find_in(self.view.base.slots, entity)?;
        // SAFETY: where a table is noted, the pointers are set, and those of that table, which the view visits (I6); the
        // directory names the entity's row there (I5). Access is the caller's.
        unsafe {
            if location.table != self.table {
                let found = self.view.find(entity)?;
                if location.table.has_rows() {
                    self.ptrs = MaybeUninit::new(found.ptrs);
                    self.table = location.table;
                }
                return Some(self.view.lend(&found));
            }
            let found = Found::in_row(self.ptrs.assume_init(), location, entity, Known::Alive)?;
            Some(self.view.lend(&found))
        }
    }
}

impl<F: Fetch, I: Iterator<Item: Borrow<Entity>>> Many<'_, F, I> {
    /// The next entity's row for which `keep` holds of what a reading fetch would yield.
    #[inline]
    pub fn lend_next(
        &mut self,
        mut keep: impl FnMut(<F::ReadOnly as Fetch>::Item<'_>) -> bool,
    ) -> Option<F::Item<'_>> {
        loop {
            let entity = *self.entities.next()?.borrow();
            if self.view.read_only().into_get(entity).is_some_and(&mut keep) {
                // SAFETY: the item borrows the list exclusively, and the one that was only read is gone, so that no other item
                // of the view is alive (I6).
                return unsafe { self.get(entity) };
            }
        }
    }
}

impl<'w, F: ReadFetch, I: Iterator<Item: Borrow<Entity>>> Iterator for Many<'w, F, I> {
    type Item = F::Item<'w>;

    #[inline]
    fn next(&mut self) -> Option<F::Item<'w>> {
        loop {
            let entity = *self.entities.next()?.borrow();
            // SAFETY: the fetch only reads (I6).
            if let Some(item) = unsafe { self.get(entity) } {
                return Some(item);
            }
        }
    }

    #[inline]
    fn fold<B, G: FnMut(B, F::Item<'w>) -> B>(self, first: B, mut then: G) -> B {
        let Self { view, entities, table, ptrs } = self;
        let mut many = Many { view, entities: (), table, ptrs };
        // SAFETY: the fetch only reads (I6).
        entities.fold(first, |sum, entity| match unsafe { many.get(*entity.borrow()) } {
            Some(item) => then(sum, item),
            None => sum,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.entities.size_hint().1)
    }
}
