//! The places of all rows of a view, kept to be visited in any combination.
//!
//! A place is where one entity's parts are, found once. What the view yields for it is made anew whenever it is asked
//! for, so items need not be copied; of a writing view, several are lent together only if their places differ.

use super::View;
use super::single::Found;
use crate::entity::Entity;
use crate::fetch::{Fetch, ReadFetch};

/// All rows of a view, by number; from [`View::into_places`].
pub struct Places<'w, F: Fetch> {
    view: View<'w, F>,
    places: Vec<Found<F>>,
}

// SAFETY: beside the view, which is `Send` and `Sync`, there are pointers that it could find again (I1), which may be
// used on any thread (I14).
unsafe impl<F: Fetch> Send for Places<'_, F> {}
// SAFETY: through a shared one, items are lent only to be read (`get` of a `ReadFetch`).
unsafe impl<F: Fetch> Sync for Places<'_, F> {}

impl<'w, F: Fetch> View<'w, F> {
    /// The places of all rows that the view visits, in its order, as far as they are kept.
    pub fn into_places(
        self,
        mut keep: impl FnMut(<F::ReadOnly as Fetch>::Item<'_>) -> bool,
    ) -> Places<'w, F> {
        let mut places = Vec::new();
        let reader = self.read_only();
        let mut add = |entity: &Entity| {
            if reader.into_get(*entity).is_some_and(&mut keep) {
                places.extend(self.find(*entity));
            }
        };
        if let Some((_, entities)) = self.driver_set() {
            // Each entity is in the set once (I10), and nothing is found for the placeholder of a hole (I11).
            entities.iter().for_each(&mut add);
        } else {
            for chunk in reader.newer_than(self.base.since).into_chunks() {
                chunk.entities().iter().for_each(&mut add);
            }
        }
        Places { view: self, places }
    }
}

impl<'w, F: Fetch> Places<'w, F> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What the view yields for several places.
    ///
    /// # Panics
    /// When the numbers do not ascend, or one is too large.
    pub fn get_many_mut<const N: usize>(&mut self, numbers: [usize; N]) -> [F::Item<'_>; N] {
        assert!(numbers.is_sorted_by(|a, b| a < b), "places are lent once each, in ascending order");
        numbers.map(|number| {
            // SAFETY: each entity has one place in the list, since it is in one row of one table (I5), or in the set that
            // drives once (I10). The numbers differ, so no other item of it is alive while the places are borrowed (I6).
            unsafe { self.view.lend(&self.places[number]) }
        })
    }

    /// What the view yields for one place.
    ///
    /// # Panics
    /// When the number is too large.
    #[inline]
    pub fn get(&self, number: usize) -> F::Item<'w>
    where
        F: ReadFetch,
    {
        // SAFETY: the fetch only reads, and the view has found the place (I6).
        unsafe { self.view.lend(&self.places[number]) }
    }
}
