//! The order of a relation: what is above before what is below, kept until links change.
//!
//! The order is worked out from the lists of the targets when it is asked for, depth first, so that a row is visited soon
//! after the one above it. It is kept as long as no link of the relation comes or goes.

use std::marker::PhantomData;

use phalanx_store::{Descent, Entity};

use crate::query::{Everyone, Query, QueryData, QueryFilter, Without};
use crate::relation::{Relationship, RelationshipTarget};
use crate::world::World;

/// What a query yields to readers.
type ReadItem<'w, D> = <<D as QueryData>::ReadOnly as QueryData>::Item<'w>;

/// The entities of a world in the order of the relation `R`: each after the one it points at.
///
/// Systems get it as [`Cascade<R>`](crate::system::Cascade); it is brought up to date when links came or went.
/// [`Query::cascade`] follows it.
pub struct CascadeOrder<R> {
    tree: Descent,
    /// The state of the relation that this is the order of.
    version: Option<(u64, u64)>,
    relation: PhantomData<fn() -> R>,
}

impl<R> Default for CascadeOrder<R> {
    fn default() -> Self {
        Self { tree: Descent::new(), version: None, relation: PhantomData }
    }
}

impl<R: Relationship> CascadeOrder<R> {
    /// The order as it is now.
    pub fn new(world: &World) -> Self {
        let mut order = Self::default();
        order.update(world);
        order
    }

    /// Takes notice of links that came and went. Costs a comparison when none did.
    ///
    /// The order of a relation in which entities may point at themselves, or at each other in a cycle, does not compile.
    pub fn update(&mut self, world: &World) {
        const {
            assert!(
                !R::CYCLIC && !R::ALLOW_SELF_REFERENTIAL,
                "where links may form cycles, nothing comes before what is below it"
            );
        };
        let version = world.version_of_links::<R>();
        if self.version != Some(version) {
            self.tree = descent::<R>(world);
            self.version = Some(version);
        }
    }

    #[cfg(all(test, feature = "parallel"))]
    pub(crate) fn tree(&self) -> &Descent {
        &self.tree
    }

    /// How many levels there are below those that point at none.
    pub fn depth(&self) -> usize {
        self.tree.depth()
    }
}

/// Every target with its sources, each before those below it.
fn descent<R: Relationship>(world: &World) -> Descent {
    let mut tree = Descent::new();
    let roots = world.view_filtered::<(Entity, &R::RelationshipTarget), (Without<R>, Everyone)>();
    let lists = world.view_filtered::<&R::RelationshipTarget, Everyone>();
    let mut waiting: Vec<(Entity, &R::RelationshipTarget)> = Vec::new();
    for root in roots {
        waiting.push(root);
        while let Some((parent, list)) = waiting.pop() {
            tree.add_family(parent, list.iter());
            let before = waiting.len();
            let pointed_at = |source: Entity| Some((source, lists.get_inner(source).ok()?));
            waiting.extend(list.iter().filter_map(pointed_at));
            waiting[before..].reverse();
        }
    }
    tree
}

impl<D: QueryData, F: QueryFilter> Query<'_, '_, D, F> {
    /// Visits every match, each after the one that it points at: parents before children.
    ///
    /// The function gets the match, and beside it what the query would yield for the one above to a reader, if the query
    /// visits that one; a filter that looks at ticks does not hide it. Matches that point at none come first. So
    /// values that are handed down are complete when they are read.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Local(i32);
    /// #[derive(Component, Debug, PartialEq)]
    /// struct Global(i32);
    ///
    /// fn propagate(order: Cascade<ChildOf>, mut all: Query<(&Local, &mut Global)>) {
    ///     all.cascade(&order, |above, (local, mut global)| {
    ///         global.0 = local.0 + above.map_or(0, |(_, above)| above.0);
    ///     });
    /// }
    ///
    /// let mut world = World::new();
    /// let arm = world.spawn((Local(1), Global(0))).id();
    /// let hand = world.spawn((Local(2), Global(0), ChildOf(arm))).id();
    /// let finger = world.spawn((Local(4), Global(0), ChildOf(hand))).id();
    /// world.run_system_once(propagate).unwrap();
    /// assert_eq!(world.get::<Global>(finger), Some(&Global(7)));
    /// ```
    pub fn cascade<R: Relationship>(
        &mut self,
        order: &CascadeOrder<R>,
        each: impl FnMut(Option<ReadItem<'_, D>>, D::Item<'_>),
    ) {
        self.for_each_descending(&order.tree, each);
    }

    /// As [`Query::cascade`]: where that pays, the matches of one level on several threads, level after level. Matches that
    /// point at none come first, on one thread, and so does all else while the rows are light.
    #[cfg(feature = "parallel")]
    pub fn par_cascade<R: Relationship>(
        &mut self,
        order: &CascadeOrder<R>,
        each: impl Fn(Option<ReadItem<'_, D>>, D::Item<'_>) + Sync,
    ) {
        self.par_for_each_level(&order.tree, each);
    }
}
