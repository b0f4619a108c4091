//! Rows in the order of a tree: what is above comes first, and can be read while what is below is written.
//!
//! The store lends rows beside those above them, depth first or level by level (`view/cascade`). This module makes items of
//! them, applies row filters, and shares wide levels between threads.

use phalanx_store::Descent;

#[cfg(feature = "parallel")]
use super::state::Both;
use super::{Query, QueryData, QueryFilter};

/// What a query yields to readers.
type ReadItem<'w, D> = <<D as QueryData>::ReadOnly as QueryData>::Item<'w>;

impl<D: QueryData, F: QueryFilter> Query<'_, '_, D, F> {
    /// Visits every match, each after the one above it, which is given to be read.
    pub(crate) fn for_each_descending(
        &mut self,
        tree: &Descent,
        mut each: impl FnMut(Option<ReadItem<'_, D>>, D::Item<'_>),
    ) {
        let since = self.since.tick;
        self.view.for_each_root(tree, |(ticks, row)| {
            if F::keep(ticks, since) {
                each(None, D::item(row, since.into()));
            }
        });
        self.view.for_each_below(tree, |above, (ticks, row)| {
            if F::keep(ticks, since) {
                let above = above.map(|(_, above)| <D::ReadOnly as QueryData>::item(above, since.into()));
                each(above, D::item(row, since.into()));
            }
        });
    }

    /// As [`Query::for_each_descending`]: level by level, matches of one level on several threads.
    #[cfg(feature = "parallel")]
    pub(crate) fn par_for_each_level(
        &mut self,
        tree: &Descent,
        each: impl Fn(Option<ReadItem<'_, D>>, D::Item<'_>) + Sync,
    ) {
        let since = self.since.tick;
        self.view.for_each_root(tree, |(ticks, row)| {
            if F::keep(ticks, since) {
                each(None, D::item(row, since.into()));
            }
        });
        let levels = tree.levels();
        for level in 0..levels.len() {
            split::<D, F>(self.view.level(levels, level), since, &each);
        }
    }
}

/// Parts with fewer rows are not split for other threads.
#[cfg(feature = "parallel")]
const FEW: usize = 1024;

#[cfg(feature = "parallel")]
fn split<D: QueryData, F: QueryFilter>(
    part: phalanx_store::LevelPart<'_, Both<D, F>>,
    since: phalanx_store::Tick,
    each: &(impl Fn(Option<ReadItem<'_, D>>, D::Item<'_>) + Sync),
) {
    if part.len() <= FEW {
        return visit::<D, F>(part, since, &mut |above, row| each(above, row));
    }
    let (one, other) = part.split();
    rayon_core::join(|| split::<D, F>(one, since, each), || split::<D, F>(other, since, each));
}

#[cfg(feature = "parallel")]
fn visit<D: QueryData, F: QueryFilter>(
    part: phalanx_store::LevelPart<'_, Both<D, F>>,
    since: phalanx_store::Tick,
    each: &mut impl FnMut(Option<ReadItem<'_, D>>, D::Item<'_>),
) {
    part.for_each(|above, (ticks, row)| {
        if F::keep(ticks, since) {
            let above = above.map(|(_, above)| <D::ReadOnly as QueryData>::item(above, since.into()));
            each(above, D::item(row, since.into()));
        }
    });
}
