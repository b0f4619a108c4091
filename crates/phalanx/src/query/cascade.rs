//! Rows in the order of a tree: what is above comes first, and can be read while what is below is written.
//!
//! The store lends rows beside those above them, depth first or level by level (`view/cascade`). This module makes items of
//! them, applies row filters, and decides when levels are shared between threads. Depth first, a row is in the cache
//! soon after the one above it, and level by level it is not; so the calling thread begins depth first, looks at the clock
//! now and then, and shares what is left, level by level, only where rows are heavy.

use std::ops::Range;
#[cfg(feature = "parallel")]
use std::time::{Duration, Instant};

use phalanx_store::Descent;

#[cfg(feature = "parallel")]
use super::parallel::{JOB, WORTH_WAKING};
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
        self.for_each_root(tree, &mut each);
        self.for_each_child(tree, 0..tree.len(), &mut each);
    }

    fn for_each_root(&mut self, tree: &Descent, each: &mut impl FnMut(Option<ReadItem<'_, D>>, D::Item<'_>)) {
        let since = self.since.tick;
        self.view.for_each_root(tree, |(ticks, row)| {
            if F::keep(ticks, since) {
                each(None, D::item(row, since.into()));
            }
        });
    }

    fn for_each_child(
        &mut self,
        tree: &Descent,
        children: Range<usize>,
        each: &mut impl FnMut(Option<ReadItem<'_, D>>, D::Item<'_>),
    ) {
        let since = self.since.tick;
        self.view.for_each_below(tree, children, |above, (ticks, row)| {
            if F::keep(ticks, since) {
                let above = above.map(|(_, above)| <D::ReadOnly as QueryData>::item(above, since.into()));
                each(above, D::item(row, since.into()));
            }
        });
    }

    /// As [`Query::for_each_descending`]: where rows are heavy, level by level, matches of one level on several threads.
    #[cfg(feature = "parallel")]
    pub(crate) fn par_for_each_level(
        &mut self,
        tree: &Descent,
        each: impl Fn(Option<ReadItem<'_, D>>, D::Item<'_>) + Sync,
    ) {
        self.for_each_root(tree, &mut |above, row| each(above, row));
        if rayon_core::current_num_threads() == 1 {
            return self.for_each_child(tree, 0..tree.len(), &mut |above, row| each(above, row));
        }
        let (mut visited, mut part) = (0, FIRST_ROWS);
        while visited < tree.len() {
            let end = tree.len().min(visited + part);
            let begun = Instant::now();
            self.for_each_child(tree, visited..end, &mut |above, row| each(above, row));
            let pace = Pace { rows: end - visited, took: begun.elapsed() };
            visited = end;
            if pace.is_worth_sharing(tree.len() - visited) {
                return self.share_levels(tree, visited, pace.rows_in(JOB), &each);
            }
            part = pace.rows_in(LOOK).max(part);
        }
    }

    /// Visits what comes after the first children, level by level: on several threads where a level has more rows than one
    /// job has.
    #[cfg(feature = "parallel")]
    fn share_levels(
        &mut self,
        tree: &Descent,
        visited: usize,
        job: usize,
        each: &(impl Fn(Option<ReadItem<'_, D>>, D::Item<'_>) + Sync),
    ) {
        let (since, levels) = (self.since.tick, tree.levels());
        for (level, visited) in tree.first_by_level(visited).into_iter().enumerate() {
            split::<D, F>(self.view.level(levels, level).without_first(visited), since, job, each);
        }
    }
}

/// The rows after which the clock is looked at first.
#[cfg(feature = "parallel")]
const FIRST_ROWS: usize = 64;
/// The time between two looks at the clock.
#[cfg(feature = "parallel")]
const LOOK: Duration = Duration::from_micros(50);
/// Rows that take less are light: fetching them anew, far from the one above, costs more than other threads save.
#[cfg(feature = "parallel")]
const HEAVY: Duration = Duration::from_nanos(100);

/// How long some rows took.
#[cfg(feature = "parallel")]
struct Pace {
    rows: usize,
    took: Duration,
}

#[cfg(feature = "parallel")]
impl Pace {
    fn is_worth_sharing(&self, left: usize) -> bool {
        let (rows, took) = (self.rows as f64, self.took.as_secs_f64());
        took >= HEAVY.as_secs_f64() * rows && took * left as f64 >= WORTH_WAKING.as_secs_f64() * rows
    }

    /// How many rows take so long; at least one.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is beyond all numbers of rows becomes the largest"
    )]
    fn rows_in(&self, time: Duration) -> usize {
        ((time.as_secs_f64() * self.rows as f64 / self.took.as_secs_f64().max(1e-9)) as usize).max(1)
    }
}

#[cfg(feature = "parallel")]
fn split<D: QueryData, F: QueryFilter>(
    part: phalanx_store::LevelPart<'_, Both<D, F>>,
    since: phalanx_store::Tick,
    job: usize,
    each: &(impl Fn(Option<ReadItem<'_, D>>, D::Item<'_>) + Sync),
) {
    if part.len() <= job {
        return visit::<D, F>(part, since, &mut |above, row| each(above, row));
    }
    let (one, other) = part.split();
    rayon_core::join(|| split::<D, F>(one, since, job, each), || split::<D, F>(other, since, job, each));
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

#[cfg(feature = "parallel")]
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{JOB, Pace};
    use crate::prelude::*;
    use crate::world::CascadeOrder;

    #[derive(Component)]
    struct Own(u64);
    #[derive(Component, PartialEq, Debug)]
    struct Sum(u64);

    fn add(above: Option<(&Own, &Sum)>, (own, mut sum): (&Own, Mut<'_, Sum>)) {
        assert_eq!(sum.0, 0, "each is visited once");
        sum.0 = own.0 + above.map_or(0, |(_, above)| above.0);
    }

    #[test]
    fn levels_are_shared_after_any_number_of_rows() {
        let mut world = World::new();
        let mut spawned: Vec<Entity> = Vec::new();
        for at in 0..60 {
            let mut entity = world.spawn((Own(at), Sum(0)));
            if at % 7 != 0 {
                entity.insert(ChildOf(spawned[(at / 3) as usize]));
            }
            spawned.push(entity.id());
        }
        let order = CascadeOrder::<ChildOf>::new(&world);
        world.view_mut::<(&Own, &mut Sum)>().cascade(&order, add);
        let sums = |world: &World| -> Vec<u64> {
            spawned.iter().map(|&entity| world.get::<Sum>(entity).map_or(0, |sum| sum.0)).collect()
        };
        let expected = sums(&world);
        for visited in 0..=order.tree().len() {
            for job in [1, 2, 100] {
                world.view_mut::<&mut Sum>().into_iter().for_each(|mut sum| sum.0 = 0);
                let mut query = world.view_mut::<(&Own, &mut Sum)>();
                query.for_each_root(order.tree(), &mut add);
                query.for_each_child(order.tree(), 0..visited, &mut add);
                query.share_levels(order.tree(), visited, job, &add);
                assert_eq!(sums(&world), expected, "{visited} first, jobs of {job}");
            }
        }
    }

    #[test]
    fn only_many_heavy_rows_are_shared() {
        let pace = |rows, nanos| Pace { rows, took: Duration::from_nanos(nanos) };
        assert!(!pace(64, 64 * 10).is_worth_sharing(1_000_000), "light");
        assert!(!pace(64, 64 * 1_000).is_worth_sharing(100), "few");
        assert!(pace(64, 64 * 1_000).is_worth_sharing(1_000));
        assert_eq!(pace(64, 64 * 1_000).rows_in(JOB), 12);
        assert_eq!((pace(1, 1_000_000).rows_in(JOB), pace(0, 0).rows_in(JOB)), (1, 1));
    }
}
