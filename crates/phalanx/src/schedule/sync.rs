//! Sync points: where commands are applied between systems.
//!
//! An order from a system with commands to another one is also a promise that the second sees what the first did.
//! So each system has a *level*, the number of sync points before it:
//!
//! ```text
//!   spawn -> count          level   0        1        2
//!   spawn -> tag -> draw            spawn  | count  | draw
//!   look (no order)                 look   | tag    |
//! ```
//!
//! A level is as low as the order allows, so there are as few sync points as the longest line of systems with
//! commands demands. Systems run level by level; at the end of each, all commands recorded so far are applied, system
//! by system. This file does not know stages or threads.

use std::any::TypeId;

use phalanx_store::Tick;

use super::graph::{Graph, Hop, Node};
use super::label::{IntoSystemSet, SetId};
use crate::system::{Access, Mode, ParamConflict, ParamError, System};
use crate::world::{SharedWorld, World};

/// When commands of systems are applied.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.configure(AppConfig { sync: SyncPoints::PhaseEnd, ..Default::default() }); // commands wait for the end of the phase
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncPoints {
    /// Before each system that is ordered after one with commands, and at the end of the phase.
    #[default]
    Ordered,
    /// At the end of the phase, and where [`ApplyDeferred`] stands.
    PhaseEnd,
}

/// A system that applies the commands of all systems that ran before it.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Unit;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn(Unit);
/// }
/// fn count(units: Query<&Unit>) {
///     assert_eq!(units.count(), 1);
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, (spawn, ApplyDeferred, count).chain_ignore_deferred());
/// app.step(0.1);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyDeferred;

impl ApplyDeferred {
    pub(crate) const NAME: &'static str = "ApplyDeferred";

    pub(crate) fn is(key: TypeId) -> bool {
        key == TypeId::of::<Self>()
    }
}

/// Marks [`ApplyDeferred`] where a set is asked for.
#[doc(hidden)]
pub struct IsApplyDeferred;

impl IntoSystemSet<IsApplyDeferred> for ApplyDeferred {
    fn into_set(self) -> SetId {
        SetId::of_systems(TypeId::of::<Self>(), Self::NAME)
    }
}

impl System for ApplyDeferred {
    type In = ();
    type Out = ();

    fn name(&self) -> &str {
        Self::NAME
    }
    fn key(&self) -> TypeId {
        TypeId::of::<Self>()
    }
    fn mode(&self) -> Mode {
        Mode::Exclusive
    }
    fn access(&self) -> &Access {
        static EVERYTHING: Access = Access::exclusive();
        &EVERYTHING
    }
    fn defers(&self) -> bool {
        false
    }
    fn initialize(&mut self, _: &mut World) -> Result<(), ParamConflict> {
        Ok(())
    }
    fn update(&mut self, _: &World) {}
    fn run(&mut self, (): (), _: &SharedWorld<'_>, _: Tick) -> Result<(), ParamError> {
        unreachable!("an exclusive system runs alone")
    }
    // In a schedule the executor does it, which has the commands.
    fn run_alone(&mut self, (): (), world: &mut World) -> Result<(), ParamError> {
        world.flush();
        Ok(())
    }
    fn apply(&mut self, _: &mut World) {}
    fn discard(&mut self) {}
}

/// What reaches a node from those before it.
#[derive(Clone, Copy, Default)]
struct Front {
    /// One more than the highest level before; 0 when nothing comes before.
    behind: u32,
    /// The level from which on commands are visible, of systems whose order demands it.
    must: u32,
    /// The same, of systems whose order ignores commands.
    ignored: u32,
    /// The same, of members of a set on their way to its end: no order so far.
    within: u32,
}

impl Front {
    fn meet(&mut self, from: Self, hop: Hop) {
        self.behind = self.behind.max(from.behind);
        self.must = self.must.max(from.must);
        match hop {
            Hop::Within => {
                self.ignored = self.ignored.max(from.ignored);
                self.within = self.within.max(from.within);
            }
            // Through an empty set there are two orders: one that demands is enough.
            Hop::After | Hop::Weak => self.must = self.must.max(from.ignored).max(from.within),
            Hop::AfterUnsynced => self.ignored = self.ignored.max(from.ignored).max(from.within),
        }
    }
}

/// For each system its level; `always` are sync points that no condition can skip.
pub(crate) fn levels(
    graph: &Graph,
    sorted: &[usize],
    nodes: &[Node],
    always: &[bool],
    points: SyncPoints,
) -> Vec<u32> {
    let mut fronts = vec![Front::default(); graph.edges.len()];
    let mut levels = vec![0; graph.systems];
    for &at in sorted {
        let mut front = fronts[at];
        if at < graph.systems {
            let task = &nodes[at].task;
            let mut level = front.behind.saturating_sub(1);
            if always[at] {
                level = front.behind.max(front.must).max(front.ignored);
            } else if ApplyDeferred::is(task.key()) {
                // Its condition decides; what is still not applied then is for those after it.
                front.ignored = front.ignored.max(front.must);
            } else if task.access.is_exclusive() {
                level = level.max(front.must).max(front.ignored);
            } else {
                level = level.max(front.must);
            }
            levels[at] = level;
            let own = if task.defers() && points == SyncPoints::Ordered { level + 1 } else { 0 };
            // What an order ignored is still to be applied before the next order that does not.
            let left = if front.ignored > level { front.ignored } else { 0 };
            front = Front { behind: level + 1, within: own.max(left), ..Front::default() };
        }
        for &(to, hop) in &graph.edges[at] {
            fronts[to].meet(front, hop);
        }
    }
    levels
}
