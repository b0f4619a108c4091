//! Lists that are shared by several threads: chosen entities, and unread messages.
//!
//! Rows of chosen entities are not in runs, so they are found first, on the calling thread, and shared then.

use std::borrow::Borrow;

use phalanx_store::Entity;

use crate::query::{Query, QueryData, QueryFilter};

/// Items that several threads visit.
#[must_use = "nothing is visited before `for_each`"]
pub struct ParItems<T> {
    items: Vec<T>,
}

impl<T: Send> ParItems<T> {
    pub(crate) fn new(items: impl Iterator<Item = T>) -> Self {
        Self { items: items.collect() }
    }

    /// Calls a function with each.
    pub fn for_each(self, f: impl Fn(T) + Send + Sync) {
        self.for_each_init(|| (), |(), item| f(item));
    }

    /// As [`ParItems::for_each`], with a value that each job makes for itself.
    pub fn for_each_init<S>(self, init: impl Fn() -> S + Send + Sync, f: impl Fn(&mut S, T) + Send + Sync) {
        // Several jobs per thread, so that one with heavy items does not keep the others waiting.
        let most = self.items.len().div_ceil(4 * rayon_core::current_num_threads()).max(1);
        share(self.items, most, &|items| {
            let mut own = init();
            items.into_iter().for_each(|item| f(&mut own, item));
        });
    }
}

/// Runs jobs over parts of a list that are no longer than `most`.
fn share<T: Send>(mut items: Vec<T>, most: usize, run: &(impl Fn(Vec<T>) + Sync)) {
    if items.len() <= most {
        if !items.is_empty() {
            run(items);
        }
        return;
    }
    let others = items.split_off(items.len() / 2);
    rayon_core::join(|| share(items, most, run), || share(others, most, run));
}

impl<D: QueryData, F: QueryFilter> Query<'_, '_, D, F> {
    /// Reads the entities of a list on several threads; those that do not match are skipped.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// let mut world = World::new();
    /// let ids: Vec<Entity> = world.spawn_batch((0..9).map(Health)).collect();
    /// world.view::<&Health>().par_iter_many(&ids[3..]).for_each(|health| assert!(health.0 >= 3));
    /// ```
    pub fn par_iter_many<'q, I: IntoIterator<Item: Borrow<Entity>>>(
        &'q self,
        entities: I,
    ) -> ParItems<<D::ReadOnly as QueryData>::Item<'q>>
    where
        <D::ReadOnly as QueryData>::Item<'q>: Send,
    {
        ParItems::new(self.iter_many(entities).matched())
    }

    /// As [`Query::par_iter_many`]; an entity that is named twice is visited once.
    pub fn par_iter_many_unique<'q, I: IntoIterator<Item: Borrow<Entity>>>(
        &'q self,
        entities: I,
    ) -> ParItems<<D::ReadOnly as QueryData>::Item<'q>>
    where
        <D::ReadOnly as QueryData>::Item<'q>: Send,
    {
        ParItems::new(self.iter_many_unique(entities).filter_map(Result::ok))
    }

    /// Reads and writes the entities of a list on several threads; an entity that is named twice is visited once.
    pub fn par_iter_many_unique_mut<'q, I: IntoIterator<Item: Borrow<Entity>>>(
        &'q mut self,
        entities: I,
    ) -> ParItems<D::Item<'q>>
    where
        D::Item<'q>: Send,
    {
        ParItems::new(self.iter_many_unique_mut(entities).filter_map(Result::ok))
    }
}
