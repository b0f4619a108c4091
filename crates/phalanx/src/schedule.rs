//! Schedules: which systems run, in which order, and what may run at the same time.
//!
//! ```text
//!   configs   (input, movement.after(input), (collide, reap).chain())     what the user writes
//!   graph     nodes and edges; a set is two nodes
//!   sync      levels: how many sync points come before a system
//!   sort      Kahn's algorithm, level by level, insertion order breaks ties
//!   plan      the order, cut into stages: exclusive systems stand alone, the others share a session
//!   executor  one stage after the other; inside a stage serial, or several threads
//! ```
//!
//! **Order is visibility.** What a system did by commands is applied before the systems that are ordered after it
//! run; what the others did is there at the end at the latest (ADR 0040).
//!
//! **Deterministic by construction.** Two systems that conflict and have no declared order run in the order they
//! were added, unless a sync point comes between them. Only systems that do not conflict overlap, and commands are
//! applied in the order of the plan, between stages: the same world, whatever the number of threads.
//!
//! **Panics.** A panic in a system is passed on with the system's name; of several, the first in the order. The
//! others that run at that moment finish, none is started any more. Commands of systems that finished are applied,
//! those of the one that panicked are forgotten; entities that it spawned are there without components.

use phalanx_store::Tick;

use crate::system::ParamConflict;
use crate::world::World;

pub use condition::{
    any_match_filter, any_with_component, on_message, resource_added, resource_changed, resource_equals,
    resource_exists, run_once,
};
pub use config::{IntoSystemConfigs, SystemConfigs};
pub use error::{BuildError, NoSuchSystem, OrderCycle, SystemPanic, UnknownConstraint};
pub use executor::Threads;
pub use label::{IntoSystemSet, Label, ScheduleLabel, SetId, SystemSet};
pub use sets::{IntoSetConfigs, SetConfigs};
pub use sync::{ApplyDeferred, SyncPoints};
pub use timing::Timing;
pub use view::{ConflictPair, ScheduleView};

pub use crate::world::SystemError;

pub(crate) use executor::Executor;

mod condition;
mod config;
mod error;
mod executor;
mod graph;
mod label;
#[cfg(feature = "parallel")]
mod parallel;
mod picture;
mod plan;
mod sets;
mod sort;
mod sync;
mod task;
#[cfg(test)]
mod tests;
mod timing;
mod view;
mod waits;

use config::{Config, NodeConfig};
use graph::{Chain, Constraints, Gate, Item, Members, Node};
use plan::Plan;
use sets::{SetConfig, Tree};
use task::Task;

/// The number of a system, never given twice in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemKey(u64);

impl SystemKey {
    fn next() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// Systems with an order.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::schedule::Schedule;
///
/// #[derive(Resource, Default)]
/// struct Log(Vec<&'static str>);
///
/// fn first(mut log: ResMut<Log>) {
///     log.0.push("first");
/// }
/// fn second(mut log: ResMut<Log>) {
///     log.0.push("second");
/// }
///
/// let mut world = World::new();
/// world.init_resource::<Log>();
/// let mut schedule = Schedule::new();
/// schedule.add_systems(&mut world, (second.after(first), first));
/// schedule.run(&mut world);
/// assert_eq!(world.resource::<Log>().0, ["first", "second"]);
/// ```
#[derive(Default)]
pub struct Schedule {
    nodes: Vec<Node>,
    gates: Vec<Gate>,
    sets: Vec<SetConfig>,
    chains: Vec<Chain>,
    sync: SyncPoints,
    plan: Option<Plan>,
    executor: Executor,
    strict: bool,
    warnings: Vec<UnknownConstraint>,
    /// How often the order was worked out.
    sorted: u64,
    world: Option<u64>,
}

impl Schedule {
    /// A schedule without systems, which runs them on the calling thread.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many systems there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no system.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds systems, and returns their numbers in the order they were written.
    ///
    /// # Panics
    /// When parameters of a system conflict; see [`Schedule::try_add_systems`].
    #[track_caller]
    pub fn add_systems<M>(
        &mut self,
        world: &mut World,
        systems: impl IntoSystemConfigs<M>,
    ) -> Vec<SystemKey> {
        // No closure: the panic is to point at the caller.
        match self.try_add_systems(world, systems) {
            Ok(added) => added,
            Err(conflict) => panic!("{conflict}"),
        }
    }

    /// As [`Schedule::add_systems`], with an error instead of a panic.
    ///
    /// # Errors
    /// When two parameters of a system conflict; both are named, and no system is added.
    pub fn try_add_systems<M>(
        &mut self,
        world: &mut World,
        systems: impl IntoSystemConfigs<M>,
    ) -> Result<Vec<SystemKey>, ParamConflict> {
        let mut config = systems.into_configs().0;
        self.bind(world);
        config.initialize(world)?;
        let mut added = Vec::new();
        self.take(config, &mut added);
        self.plan = None;
        for id in &added {
            let at = self.position(*id).expect("it was added just now");
            if let Some(hook) = self.nodes[at].hooks.added.take() {
                hook(world);
            }
        }
        Ok(added)
    }

    /// Adds a config's systems, gates and inner order.
    fn take(&mut self, config: Config, added: &mut Vec<SystemKey>) {
        match config {
            Config::One(node) => {
                let id = SystemKey::next();
                let NodeConfig { system, name, sets, before, after, conditions, hooks } = *node;
                let task = Task::new(system, name, conditions);
                // Keys ascend, so that a system is found by its key.
                self.nodes.push(Node { id, task, sets, before, after, hooks });
                added.push(id);
            }
            Config::Many { parts, chained, conditions } => {
                let start = added.len();
                let mut chain = Vec::new();
                for part in parts {
                    let from = added.len();
                    self.take(part, added);
                    if chained.is_some() {
                        chain.push(added[from..].iter().copied().map(Item::System).collect());
                    }
                }
                self.chains.extend(chained.map(|hop| Chain { parts: chain, hop }));
                for condition in conditions {
                    let members = Members::Systems(added[start..].to_vec());
                    self.gates.push(Gate { task: Task::gate(condition), members });
                }
            }
        }
    }

    /// Says how sets of systems are ordered, and when they run.
    ///
    /// # Panics
    /// When parameters of a condition conflict.
    #[track_caller]
    pub fn configure_sets<M>(&mut self, world: &mut World, sets: impl IntoSetConfigs<M>) {
        self.bind(world);
        self.take_sets(world, sets.into_set_configs().0, &mut Vec::new());
        self.plan = None;
    }

    #[track_caller]
    fn take_sets(&mut self, world: &mut World, tree: Tree, taken: &mut Vec<SetId>) {
        let start = taken.len();
        let conditions = match tree {
            Tree::One { config, conditions } => {
                taken.push(config.set.clone());
                self.sets.push(*config);
                conditions
            }
            Tree::Many { parts, chained, conditions } => {
                let mut chain = Vec::new();
                for part in parts {
                    let from = taken.len();
                    self.take_sets(world, part, taken);
                    chain.push(taken[from..].iter().cloned().map(Item::Set).collect());
                }
                self.chains.extend(chained.map(|hop| Chain { parts: chain, hop }));
                conditions
            }
        };
        for mut condition in conditions {
            if let Err(conflict) = condition.initialize(world) {
                panic!("{conflict}");
            }
            let members = Members::Sets(taken[start..].to_vec());
            self.gates.push(Gate { task: Task::gate(condition), members });
        }
    }

    /// Removes a system; its `on_removed` runs.
    ///
    /// # Errors
    /// When there is no such system.
    pub fn remove_system(&mut self, world: &mut World, id: SystemKey) -> Result<(), NoSuchSystem> {
        let at = self.position(id).ok_or(NoSuchSystem { id })?;
        let mut node = self.nodes.remove(at);
        self.gates.retain_mut(|gate| match &mut gate.members {
            Members::Systems(ids) => {
                ids.retain(|member| *member != id);
                !ids.is_empty()
            }
            Members::Sets(_) => true,
        });
        for part in self.chains.iter_mut().flat_map(|chain| &mut chain.parts) {
            part.retain(|item| *item != Item::System(id));
        }
        self.plan = None;
        if let Some(hook) = node.hooks.removed.take() {
            hook(world);
        }
        Ok(())
    }

    /// Whether there is such a system.
    pub fn contains(&self, id: SystemKey) -> bool {
        self.position(id).is_some()
    }

    fn position(&self, id: SystemKey) -> Option<usize> {
        graph::find(&self.nodes, id)
    }

    /// Runs `on_dispose` of every system, once.
    pub fn dispose(&mut self, world: &mut World) {
        let hooks: Vec<_> = self.nodes.iter_mut().filter_map(|node| node.hooks.dispose.take()).collect();
        for hook in hooks {
            hook(world);
        }
    }

    /// On which threads systems run.
    ///
    /// # Panics
    /// When threads cannot be started.
    pub fn set_threads(&mut self, threads: Threads) {
        self.set_executor(Executor::new(threads));
    }

    pub(crate) fn set_executor(&mut self, executor: Executor) {
        self.executor = executor;
    }

    /// Whether a constraint that names a system of another schedule, or none, is an error.
    pub fn set_strict(&mut self, strict: bool) {
        self.strict = strict;
        self.plan = None;
    }

    /// When commands of systems are applied.
    pub fn set_sync_points(&mut self, sync: SyncPoints) {
        self.sync = sync;
        self.plan = None;
    }

    /// Works the order out, if systems or sets changed since the last time.
    ///
    /// # Errors
    /// When the order contradicts itself, or a constraint names nothing and the schedule is strict.
    pub fn build(&mut self) -> Result<(), BuildError> {
        if self.plan.is_some() {
            return Ok(());
        }
        let Self { nodes, gates, sets, chains, .. } = &*self;
        let sorted = sort::order(Constraints { nodes, gates, sets, chains }, self.sync)?;
        self.warnings = sorted.graph.unknown.clone();
        if self.strict
            && let Some(unknown) = self.warnings.first()
        {
            return Err(BuildError::Unknown(unknown.clone()));
        }
        self.sorted += 1;
        self.plan = Some(Plan::new(&mut self.nodes, &mut self.gates, sorted));
        Ok(())
    }

    /// How often the order was worked out so far.
    pub fn times_sorted(&self) -> u64 {
        self.sorted
    }

    /// Runs all systems once, and applies their commands at sync points and at the end. Commands that wait in the
    /// world are applied first.
    ///
    /// # Panics
    /// When the order contradicts itself, a system panics or fails and the world has no error handler, or the schedule
    /// belongs to another world.
    #[track_caller]
    pub fn run(&mut self, world: &mut World) {
        if let Err(error) = self.try_run(world, &mut World::fail) {
            panic!("{error}");
        }
    }

    /// As [`Schedule::run`]; errors that systems return go to `handler`, at the next point where commands are applied.
    ///
    /// # Errors
    /// When the order cannot be worked out; then nothing has run.
    ///
    /// # Panics
    /// When a system does, or the schedule belongs to another world.
    pub fn try_run(
        &mut self,
        world: &mut World,
        handler: &mut dyn FnMut(&mut World, SystemError),
    ) -> Result<(), BuildError> {
        self.build()?;
        if !self.is_empty() {
            self.bind(world);
            world.flush();
            let plan = self.plan.as_mut().expect("it was built just now");
            executor::run(plan, &mut self.nodes, &mut self.gates, &self.executor, world, handler);
        }
        Ok(())
    }

    /// Ids in the states of systems mean something in one world only.
    fn bind(&mut self, world: &World) {
        let known = *self.world.get_or_insert(world.id());
        assert!(
            known == world.id(),
            "a schedule serves the world that its systems were added for, and no other"
        );
    }

    /// A look at the schedule.
    pub fn view<'a>(&'a self, world: &'a World) -> ScheduleView<'a> {
        ScheduleView::new(self, world)
    }
}

/// The tick of the system at a position of a stage that began at `base`.
pub(crate) fn tick_at(base: Tick, position: usize) -> Tick {
    Tick::new(base.get() + 1 + position as u64)
}
