//! Which ambiguities matter: both orders of each pair are tried, and the worlds that come of it compared.
//!
//! ```text
//!   order       x  a  y  z  b        a and b conflict, and are in no declared order; b comes after z
//!   first run   x     z  a  b        the same systems run before the two
//!   second run  x     z  b  a        and nothing but their order differs
//! ```
//!
//! Each run begins from a checkpoint of the world and of what systems keep, which is restored at the end. A pair that
//! commutes today may not do so in another world: the answer is about the one that was given.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicBool;

use super::ambiguity::Ambiguity;
use super::error::BuildError;
use super::sort::{self, Sorted};
use super::task::Task;
use super::{LogLevel, Schedule};
use crate::capture::Digest;
use crate::system::kept::{self, Exchanging, Kept, LocalCopies, Taking};
use crate::world::{Checkpoint, Difference, Listing, NotCaptured, NotDigestible, World};

/// Two systems in no declared order that give another world when they change places.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderMatters {
    /// The systems, and what both use.
    pub pair: Ambiguity,
    /// What differs first: on the left if they run in the order in which they were added, on the right if not. `None`
    /// when a system did not do the same again.
    pub difference: Option<Box<Difference>>,
}

impl fmt::Display for OrderMatters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; the other order gives another world", self.pair)?;
        match &self.difference {
            Some(difference) => write!(f, ": {difference}"),
            None => Ok(()),
        }
    }
}

/// Why the orders of a schedule cannot be compared.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompareOrdersError {
    /// The schedule cannot be built.
    Build(BuildError),
    /// Values cannot be copied, so that no run can begin from the same world.
    NotCaptured(NotCaptured),
    /// Values cannot be hashed, so that worlds cannot be compared.
    NotDigestible(NotDigestible),
}

impl fmt::Display for CompareOrdersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::NotCaptured(error) => error.fmt(f),
            Self::NotDigestible(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompareOrdersError {}

/// Where each run begins.
struct Start {
    world: Checkpoint,
    systems: Vec<Kept>,
    copies: LocalCopies,
}

impl Schedule {
    /// The ambiguous pairs of systems whose order matters in this world: each pair runs in both orders, from the same
    /// state and after the same systems, and the digests are compared. The world is as it was afterwards.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Resource, Default)]
    /// struct Score(u32);
    ///
    /// fn add(mut score: ResMut<Score>) {
    ///     score.0 += 1;
    /// }
    /// fn add_two(mut score: ResMut<Score>) {
    ///     score.0 += 2;
    /// }
    /// fn double(mut score: ResMut<Score>) {
    ///     score.0 *= 2;
    /// }
    ///
    /// let mut world = World::new();
    /// world.init_resource::<Score>();
    /// let mut schedule = Schedule::default();
    /// schedule.add_systems((add, add_two, double.after(add)));
    /// let found = schedule.ambiguities_that_matter(&mut world).unwrap();
    /// // `add` and `add_two` conflict as well, but give the same in either order.
    /// assert_eq!(found.len(), 1);
    /// assert_eq!((&*found[0].pair.first, &*found[0].pair.second), ("add_two", "double"));
    /// assert_eq!(world.resource::<Score>().0, 0);
    /// ```
    ///
    /// # Errors
    /// When the schedule cannot be built, or something can be neither copied nor hashed; it is named.
    ///
    /// # Panics
    /// When a system does; the world is as it was then.
    pub fn ambiguities_that_matter(
        &mut self,
        world: &mut World,
    ) -> Result<Vec<OrderMatters>, CompareOrdersError> {
        self.initialize_quietly(world).map_err(CompareOrdersError::Build)?;
        self.bind(world);
        world.flush();
        let sorted = sort::order(self.constraints(), self.sync);
        let sorted = sorted.map_err(|cycle| CompareOrdersError::Build(cycle.into()))?;
        let start = self.start(world)?;
        world.try_digest().map_err(CompareOrdersError::NotDigestible)?;
        let mut found = Vec::new();
        for (first, second, pair) in self.ambiguous_pairs(world, &sorted) {
            let before = tasks_before(&sorted, first, second);
            let orders = [[first, second], [second, first]];
            let digests = orders.map(|order| self.try_order(world, &start, &before, order, World::digest));
            let digests: [Digest; 2] = digests;
            if digests[0] != digests[1] {
                let listings =
                    orders.map(|order| self.try_order(world, &start, &before, order, World::listing));
                let [one, other]: [Listing; 2] = listings;
                let difference = one.first_difference(&other).map(Box::new);
                found.push(OrderMatters { pair, difference });
            }
        }
        Ok(found)
    }

    /// Builds the schedule, whatever is to happen about ambiguities.
    fn initialize_quietly(&mut self, world: &mut World) -> Result<(), BuildError> {
        let level = std::mem::replace(&mut self.exceptions.level, LogLevel::Ignore);
        if level != LogLevel::Ignore {
            // What was built is reported once more when the schedule runs.
            self.plan = None;
        }
        let built = self.initialize(world);
        self.exceptions.level = level;
        built
    }

    fn start(&mut self, world: &mut World) -> Result<Start, CompareOrdersError> {
        let copies = LocalCopies::default();
        let mut taking = Taking { copies: &copies, kept: Vec::new(), unknown: Vec::new() };
        self.visit_state(&mut taking);
        let Taking { kept: systems, unknown, .. } = taking;
        if !unknown.is_empty() {
            let types = unknown.into_iter().map(|name| format!("value `{name}` of a `Local`")).collect();
            return Err(CompareOrdersError::NotCaptured(NotCaptured { types }));
        }
        let world = world.try_checkpoint().map_err(CompareOrdersError::NotCaptured)?;
        Ok(Start { world, systems, copies })
    }

    /// Runs tasks and then a pair, looks at the world, and goes back.
    fn try_order<T>(
        &mut self,
        world: &mut World,
        start: &Start,
        before: &[(usize, u32)],
        pair: [usize; 2],
        look: impl FnOnce(&World) -> T,
    ) -> T {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.run_in_order(world, before, pair);
            look(world)
        }));
        self.nodes.iter_mut().for_each(|node| node.task.discard());
        self.gates.iter_mut().for_each(|gate| gate.task.discard());
        world.restore(&start.world).expect("a checkpoint of this world");
        let mut again = kept::again(&start.systems, &start.copies).expect("they were copied before");
        self.visit_state(&mut Exchanging { copies: &start.copies, kept: again.iter_mut() });
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn run_in_order(&mut self, world: &mut World, before: &[(usize, u32)], pair: [usize; 2]) {
        let open: Vec<AtomicBool> = self.gates.iter().map(|_| AtomicBool::new(false)).collect();
        let mut unapplied = Vec::new();
        let mut level = before.first().map_or(0, |(_, level)| *level);
        for &(node, at) in before {
            if std::mem::replace(&mut level, at) != at {
                self.apply_all(&mut unapplied, world);
            }
            self.run_one(node, world, &open, &mut unapplied);
        }
        self.apply_all(&mut unapplied, world);
        // No sync point stands between the two.
        pair.into_iter().for_each(|node| self.run_one(node, world, &open, &mut unapplied));
        self.apply_all(&mut unapplied, world);
    }

    fn run_one(&mut self, node: usize, world: &mut World, open: &[AtomicBool], unapplied: &mut Vec<usize>) {
        let task = self.task_mut(node);
        task.update(world);
        task.run_alone(world, open);
        task.error = None;
        let applies = std::mem::take(&mut task.applies);
        unapplied.push(node);
        if applies {
            self.apply_all(unapplied, world);
        }
    }

    fn apply_all(&mut self, unapplied: &mut Vec<usize>, world: &mut World) {
        unapplied.drain(..).for_each(|node| self.task_mut(node).apply(world));
        world.flush();
    }

    /// A system, or from `nodes.len()` on a gate.
    fn task_mut(&mut self, node: usize) -> &mut Task {
        match node.checked_sub(self.nodes.len()) {
            Some(gate) => &mut self.gates[gate].task,
            None => &mut self.nodes[node].task,
        }
    }
}

/// What runs before a pair in both orders: all that comes before the first of them, then what must come before the
/// second, and the conditions up to there. With the number of sync points before each.
fn tasks_before(sorted: &Sorted, first: usize, second: usize) -> Vec<(usize, u32)> {
    let mut tasks = Vec::new();
    let mut passed = false;
    for (&node, &level) in sorted.order.iter().zip(&sorted.levels) {
        if node == second {
            break;
        }
        if node == first {
            passed = true;
            continue;
        }
        let is_gate = node >= sorted.graph.systems;
        if !passed || is_gate || sorted.graph.all_followers(node)[second] {
            tasks.push((node, level));
        }
    }
    tasks
}
