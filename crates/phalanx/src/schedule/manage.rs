//! Managing a schedule from outside: its systems, their removal, and what runs them.
//!
//! The names are bevy's. The executor decides about threads only: the result is the same.

use super::graph::{Members, Node};
use super::label::IntoSystemSet;
use super::{BuildError, Schedule, SystemKey, Threads, Waiting, sort};
use crate::system::{Access, ParamConflict};
use crate::world::World;

/// Runs systems: on the calling thread, or on several.
pub trait SystemExecutor {
    /// The threads on which systems run.
    fn threads(&self) -> Threads;
}

/// Runs systems one after the other on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleThreadedExecutor;

impl SingleThreadedExecutor {
    /// The executor.
    pub const fn new() -> Self {
        Self
    }
}

impl SystemExecutor for SingleThreadedExecutor {
    fn threads(&self) -> Threads {
        Threads::Serial
    }
}

/// Runs systems that do not conflict on several threads, with the same result.
#[derive(Clone, Copy, Debug, Default)]
pub struct MultiThreadedExecutor;

impl MultiThreadedExecutor {
    /// The executor.
    pub const fn new() -> Self {
        Self
    }
}

impl SystemExecutor for MultiThreadedExecutor {
    fn threads(&self) -> Threads {
        Threads::Auto
    }
}

/// The systems of a schedule have no order yet: call [`Schedule::initialize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleNotInitialized;

impl std::fmt::Display for ScheduleNotInitialized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the systems have no order yet: call `initialize`, or run the schedule")
    }
}

impl std::error::Error for ScheduleNotInitialized {}

/// A system of a schedule, to be looked at.
#[derive(Clone, Copy)]
pub struct ScheduledSystem<'a>(&'a Node);

impl<'a> ScheduledSystem<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.0.task.name
    }

    /// What it and its conditions read and write.
    pub fn access(&self) -> &'a Access {
        &self.0.task.access
    }

    /// Whether it keeps commands to be applied later.
    pub fn has_deferred(&self) -> bool {
        self.0.task.defers()
    }

    /// Whether it has the world to itself.
    pub fn is_exclusive(&self) -> bool {
        self.0.task.access.is_exclusive()
    }
}

/// What goes when the systems of a set are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScheduleCleanupPolicy {
    /// The systems, and the configuration of the set.
    #[default]
    RemoveSetAndSystems,
    /// The systems.
    RemoveSystemsOnly,
}

impl Schedule {
    /// Sets the executor of the systems.
    ///
    /// # Panics
    /// When threads cannot be started.
    #[allow(clippy::needless_pass_by_value, reason = "executors are written as values")]
    pub fn set_executor(&mut self, executor: impl SystemExecutor) -> &mut Self {
        self.set_threads(executor.threads());
        self
    }

    /// Whether systems or sets changed since the order was last worked out.
    pub fn is_changed(&self) -> bool {
        self.plan.is_none() || !self.waiting.is_empty()
    }

    /// Makes ready what was added without a world.
    pub(crate) fn settle(&mut self, world: &mut World) -> Result<(), ParamConflict> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut all = std::mem::take(&mut self.waiting).into_iter();
        while let Some(waiting) = all.next() {
            let added = match waiting {
                Waiting::Systems(config) => self.add_config(world, config).map(drop),
                Waiting::Sets(tree) => self.add_tree(world, tree),
            };
            if added.is_err() {
                // What comes after it is added when the schedule is used next.
                self.waiting = all.collect();
                return added;
            }
        }
        Ok(())
    }

    /// Whether something was added without a world, and is not ready.
    pub(crate) fn is_unready(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many systems there are, those included that were added without a world.
    pub fn systems_len(&self) -> usize {
        let waiting = self.waiting.iter().map(|waiting| match waiting {
            Waiting::Systems(config) => config.len(),
            Waiting::Sets(_) => 0,
        });
        self.nodes.len() + waiting.sum::<usize>()
    }

    /// As [`Schedule::systems`], without their keys: each tells what it uses.
    ///
    /// # Errors
    /// When the schedule was neither run nor initialised.
    pub fn systems_with_access(
        &self,
    ) -> Result<impl Iterator<Item = ScheduledSystem<'_>>, ScheduleNotInitialized> {
        Ok(self.systems()?.map(|(_, system)| system))
    }

    /// The systems in the order in which they run.
    ///
    /// # Errors
    /// When the order is not worked out yet.
    pub fn systems(
        &self,
    ) -> Result<impl Iterator<Item = (SystemKey, ScheduledSystem<'_>)>, ScheduleNotInitialized> {
        let plan = self.plan.as_ref().ok_or(ScheduleNotInitialized)?;
        let nodes = plan.order.iter().filter_map(|&at| self.nodes.get(at));
        Ok(nodes.map(|node| (node.id, ScheduledSystem(node))))
    }

    /// Whether a run ends with a sync point, which is so unless it is set. Without it, what systems queued after the last
    /// sync point waits in them for [`apply_deferred`](Self::apply_deferred), or for a sync point that comes after
    /// them in a later run; checkpoints do not know of it.
    pub fn set_apply_final_deferred(&mut self, apply: bool) -> &mut Self {
        self.executor.leaves_last = !apply;
        self
    }

    /// Applies what systems kept by commands and other deferred parameters. A run leaves nothing behind, unless
    /// [`set_apply_final_deferred`](Self::set_apply_final_deferred) said so; this is also for systems that were run in
    /// another way.
    pub fn apply_deferred(&mut self, world: &mut World) {
        self.nodes.iter_mut().for_each(|node| node.task.apply(world));
        world.flush();
    }

    /// Removes the systems of a set, of sets inside it, or of a function; `on_removed` of each runs. Returns how many there
    /// were. Orders by way of them go, too.
    ///
    /// # Errors
    /// When the schedule cannot be made ready, so that it is not known which systems are in the set.
    pub fn remove_systems_in_set<M>(
        &mut self,
        set: impl IntoSystemSet<M>,
        world: &mut World,
        policy: ScheduleCleanupPolicy,
    ) -> Result<usize, BuildError> {
        let set = set.into_set();
        self.settle(world)?;
        let is_own = |node: &Node| set.is_function() && node.task.key() == set.key();
        let graph = sort::order(self.constraints(), self.sync)?.graph;
        let labelled = graph.systems_of(&set);
        let in_set = |at: &usize| is_own(&self.nodes[*at]) || labelled.binary_search(at).is_ok();
        let keys: Vec<SystemKey> = (0..self.nodes.len()).filter(in_set).map(|at| self.nodes[at].id).collect();
        for key in &keys {
            self.remove_system(world, *key).expect("it was found just now");
        }
        if policy == ScheduleCleanupPolicy::RemoveSetAndSystems {
            self.sets.retain(|config| config.set != set);
            self.gates.retain_mut(|gate| match &mut gate.members {
                Members::Sets(sets) => {
                    sets.retain(|known| *known != set);
                    !sets.is_empty()
                }
                Members::Systems(_) => true,
            });
            self.plan = None;
        }
        Ok(keys.len())
    }
}
