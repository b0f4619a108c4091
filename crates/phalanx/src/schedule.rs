//! Schedules: which systems run, in which order, and what may run at the same time.
//!
//! ```text
//!   configs   (input, movement.after(input), (collide, reap).chain())     what the user writes
//!   graph     nodes and edges; Kahn's algorithm, insertion order breaks ties
//!   plan      the order, cut into stages: exclusive systems stand alone, the others share a session
//!   executor  one stage after the other; inside a stage serial, or several threads
//! ```
//!
//! **Deterministic by construction.** Two systems that conflict and have no declared order run in the order they
//! were added. Only systems that do not conflict overlap, and commands are applied in the order of the plan when
//! all systems have run: the same world, whatever the number of threads.
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
pub use error::{BuildError, NoSuchSystem, OrderCycle, SystemError, SystemPanic, UnknownConstraint};
pub use executor::Threads;
pub use label::{IntoSystemSet, Label, ScheduleLabel, SetId, SystemSet};
pub use sets::{IntoSetConfigs, SetConfigs};
pub use timing::Timing;
pub use view::{ConflictPair, ScheduleView};

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
mod task;
mod timing;
mod view;

use config::{Config, NodeConfig};
use graph::{Gate, Members, Node};
use plan::Plan;
use sets::SetConfig;
use task::Task;

/// The number of a system, never given twice in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemId(u64);

impl SystemId {
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
    pub fn add_systems<M>(&mut self, world: &mut World, systems: impl IntoSystemConfigs<M>) -> Vec<SystemId> {
        self.try_add_systems(world, systems).unwrap_or_else(|conflict| panic!("{conflict}"))
    }

    /// As [`Schedule::add_systems`], with an error instead of a panic.
    ///
    /// # Errors
    /// When two parameters of a system conflict; both are named, and no system is added.
    pub fn try_add_systems<M>(
        &mut self,
        world: &mut World,
        systems: impl IntoSystemConfigs<M>,
    ) -> Result<Vec<SystemId>, ParamConflict> {
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
    fn take(&mut self, config: Config, added: &mut Vec<SystemId>) {
        match config {
            Config::One(node) => {
                let id = SystemId::next();
                let NodeConfig { system, name, sets, before, after, conditions, hooks } = *node;
                let task = Task::new(system, name, conditions);
                self.nodes.push(Node { id, task, sets, before, after, follows: Vec::new(), hooks });
                added.push(id);
            }
            Config::Many { parts, chained, conditions } => {
                let start = added.len();
                let mut before: Vec<SystemId> = Vec::new();
                for part in parts {
                    let from = added.len();
                    self.take(part, added);
                    if added.len() == from {
                        continue;
                    }
                    if chained {
                        for id in &added[from..] {
                            let at = self.position(*id).expect("it was added just now");
                            self.nodes[at].follows.extend_from_slice(&before);
                        }
                        before = added[from..].to_vec();
                    }
                }
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
        for mut set in sets.into_set_configs().0 {
            for mut condition in std::mem::take(&mut set.conditions) {
                if let Err(conflict) = condition.initialize(world) {
                    panic!("{conflict}");
                }
                let members = Members::Set(set.set.clone());
                self.gates.push(Gate { task: Task::gate(condition), members });
            }
            self.sets.push(set);
        }
        self.plan = None;
    }

    /// Removes a system; its `on_removed` runs.
    ///
    /// # Errors
    /// When there is no such system.
    pub fn remove_system(&mut self, world: &mut World, id: SystemId) -> Result<(), NoSuchSystem> {
        let at = self.position(id).ok_or(NoSuchSystem { id })?;
        let mut node = self.nodes.remove(at);
        self.gates.retain_mut(|gate| match &mut gate.members {
            Members::Systems(ids) => {
                ids.retain(|member| *member != id);
                !ids.is_empty()
            }
            Members::Set(_) => true,
        });
        self.plan = None;
        if let Some(hook) = node.hooks.removed.take() {
            hook(world);
        }
        Ok(())
    }

    /// Whether there is such a system.
    pub fn contains(&self, id: SystemId) -> bool {
        self.position(id).is_some()
    }

    fn position(&self, id: SystemId) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
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

    /// Works the order out, if systems or sets changed since the last time.
    ///
    /// # Errors
    /// When the order contradicts itself, or a constraint names nothing and the schedule is strict.
    pub fn build(&mut self) -> Result<(), BuildError> {
        if self.plan.is_some() {
            return Ok(());
        }
        let sorted = graph::order(&self.nodes, &self.gates, &self.sets)?;
        self.warnings = sorted.unknown.clone();
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

    /// Runs all systems once, then applies their commands.
    ///
    /// # Panics
    /// When the order contradicts itself, a system panics or returns an error, or the schedule belongs to
    /// another world.
    #[track_caller]
    pub fn run(&mut self, world: &mut World) {
        self.try_run(world, &mut |_, error| panic!("{error}")).unwrap_or_else(|error| panic!("{error}"));
    }

    /// As [`Schedule::run`]; errors that systems return go to `handler`, when commands were applied.
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
