//! Schedules: which systems run, in which order, and what may run at the same time.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! fn input() {}
//! fn movement() {}
//! fn collide() {}
//! fn reap() {}
//!
//! let mut app = App::new();
//! app.add_systems(Update, (input, movement.after(input), (collide, reap).chain()));
//! ```
//!
//! **Order is visibility.** What a system did by commands is applied before the systems that are ordered after it
//! run; what the others did is there at the end at the latest.
//!
//! **Deterministic by construction.** Two systems that conflict and have no declared order run in the order they
//! were added, unless a sync point comes between them. Only systems that do not conflict overlap, and commands are
//! applied in the order of the plan, between stages: the same world, whatever the number of threads.
//!
//! **Panics.** A panic in a system is passed on with the system's name; of several, the first in the order. The
//! others that run at that moment finish, none is started any more. Commands of systems that finished are applied,
//! those of the one that panicked are forgotten; entities that it spawned are there without components.

//   configs   (input, movement.after(input), (collide, reap).chain())     what the user writes
//   graph     nodes and edges; a set is two nodes
//   sync      levels: how many sync points come before a system
//   sort      Kahn's algorithm, level by level, insertion order breaks ties
//   plan      the order, cut into stages: exclusive systems stand alone, the others share a session
//   executor  one stage after the other; inside a stage serial, or several threads

use phalanx_store::Tick;

use crate::system::ParamConflict;
use crate::world::World;

pub use phalanx_derive::{ScheduleLabel, SystemSet};

pub use ambiguity::{Ambiguity, LogLevel, ScheduleBuildSettings};
pub use commute::{CompareOrdersError, OrderMatters};
pub use condition::{
    any_component_removed, any_match_filter, any_with_component, condition_changed, condition_changed_to,
    on_message, resource_added, resource_changed, resource_changed_or_removed, resource_equals,
    resource_exists, resource_exists_and, resource_exists_and_changed, resource_exists_and_equals,
    resource_removed, run_once,
};
pub use config::{ConfigureSystems, IntoSystemConfigs, SystemConfigs};
pub use error::{BuildError, NoSuchSystem, OrderCycle, RepeatedSystem, SystemPanic, UnknownConstraint};
pub use executor::Threads;
pub use label::{IntoSystemSet, Label, ScheduleLabel, SetId, SystemSet};
pub use manage::{
    MultiThreadedExecutor, ScheduleCleanupPolicy, ScheduleNotInitialized, ScheduledSystem,
    SingleThreadedExecutor, SystemExecutor,
};
pub use schedulable::{InternedSystemSet, IntoScheduleConfigs, Schedulable, ScheduleConfigs};
pub use schedules::{NoSuchSchedule, Schedules};
pub use sets::{IntoSetConfigs, SetConfigs};
pub use skip::{SkipReason, Skipped, Skips, Waited};
pub use stepping::{NotReady, Stepping};
pub use sync::{ApplyDeferred, SyncPoints};
pub use systems::SystemView;
pub use timing::Timing;
pub use view::{ConflictPair, ScheduleView};

pub use crate::system::ScheduleSystem;
pub use crate::world::SystemError;

pub(crate) use executor::{Executor, Watch};

mod ambiguity;
mod commute;
mod condition;
mod config;
mod conflicts;
mod error;
mod executor;
mod functions;
mod graph;
mod label;
mod manage;
#[cfg(feature = "parallel")]
mod parallel;
mod part;
mod picture;
mod plan;
mod schedulable;
mod schedules;
mod sets;
mod skip;
mod sort;
mod stepping;
mod sync;
mod systems;
mod task;
#[cfg(test)]
mod tests;
mod timing;
mod view;
mod waits;
mod weak;

use config::{Config, NodeConfig};
use graph::{Chain, Gate, Item, Members, Node};
use plan::Plan;
use sets::{SetConfig, Tree};
use task::Task;

/// The number of a system, never given twice in a process.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// let key: SystemKey = app.add_system(Update, || println!("once"));
/// app.step(0.1);
/// app.remove_system(key).unwrap();
/// ```
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
/// let mut schedule = Schedule::default();
/// schedule.add_systems((second.after(first), first));
/// schedule.run(&mut world);
/// assert_eq!(world.resource::<Log>().0, ["first", "second"]);
/// ```
pub struct Schedule {
    label: Label,
    /// Its place among the schedules of a world, from 1; 0 before it has one.
    number: u64,
    /// What was added without a world, and is made ready when there is one.
    waiting: Vec<Waiting>,
    nodes: Vec<Node>,
    gates: Vec<Gate>,
    sets: Vec<SetConfig>,
    chains: Vec<Chain>,
    sync: SyncPoints,
    plan: Option<Plan>,
    executor: Executor,
    strict: bool,
    exceptions: ambiguity::Exceptions,
    /// How often the order was worked out.
    sorted: u64,
    world: Option<u64>,
    /// How many types of resources the world knew when it was last asked for a [`Stepping`], and whether it had one.
    asked_for_stepping: (usize, bool),
}

enum Waiting {
    Systems(Config),
    Sets(Tree),
}

/// The label of schedules that were given none.
#[derive(Debug)]
struct Unlabelled;

impl ScheduleLabel for Unlabelled {}

impl Default for Schedule {
    fn default() -> Self {
        Self::new(Unlabelled)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "labels are written as values")]
impl Schedule {
    /// Shows what the systems and conditions keep from run to run, for checkpoints.
    pub(crate) fn visit_state(&mut self, visitor: &mut dyn crate::system::StateVisitor) {
        self.nodes.iter_mut().for_each(|node| node.task.visit_state(visitor));
        self.gates.iter_mut().for_each(|gate| gate.task.visit_state(visitor));
    }

    /// Calls a function after each system; systems run one by one then.
    pub(crate) fn set_watch(&mut self, watch: Option<Watch>) {
        self.executor.watch = watch;
    }

    /// A schedule without systems, which runs them on the calling thread.
    pub fn new(label: impl ScheduleLabel) -> Self {
        Self::labelled(label.label())
    }

    pub(crate) fn labelled(label: Label) -> Self {
        Self {
            label,
            number: 0,
            waiting: Vec::new(),
            nodes: Vec::new(),
            gates: Vec::new(),
            sets: Vec::new(),
            chains: Vec::new(),
            sync: SyncPoints::default(),
            plan: None,
            executor: Executor::default(),
            strict: false,
            exceptions: ambiguity::Exceptions::default(),
            sorted: 0,
            world: None,
            asked_for_stepping: (0, false),
        }
    }

    /// The schedule's label.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// How many systems are ready to run: those that were added without a world count after
    /// [`Schedule::initialize`], or a run.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no system.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.waiting.is_empty()
    }

    /// Adds systems. They are made ready with the first world that the schedule runs on.
    pub fn add_systems<M, S: ConfigureSystems<M> + IntoSystemConfigs<M>>(&mut self, systems: S) -> &mut Self {
        self.waiting.push(Waiting::Systems(systems.into_configs().0));
        self
    }

    /// Says how sets of systems are ordered, and when they run.
    pub fn configure_sets<M>(&mut self, sets: impl IntoSetConfigs<M>) -> &mut Self {
        self.waiting.push(Waiting::Sets(sets.into_set_configs().0));
        self
    }

    /// Makes everything ready for a world, and works the order out.
    ///
    /// # Errors
    /// When parameters of a system or a condition conflict, the order contradicts itself, or a constraint names nothing
    /// and the schedule is strict.
    pub fn initialize(&mut self, world: &mut World) -> Result<(), BuildError> {
        self.settle(world)?;
        self.build(world)
    }

    /// Adds systems and makes them ready for a world; returns their numbers in the order they were written.
    ///
    /// # Errors
    /// When two parameters of a system conflict; both are named, and no system is added.
    pub fn try_add_systems<M, S: ConfigureSystems<M> + IntoSystemConfigs<M>>(
        &mut self,
        world: &mut World,
        systems: S,
    ) -> Result<Vec<SystemKey>, ParamConflict> {
        self.settle(world)?;
        self.add_config(world, systems.into_configs().0)
    }

    fn add_config(&mut self, world: &mut World, mut config: Config) -> Result<Vec<SystemKey>, ParamConflict> {
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
                let NodeConfig { system, name, sets, before, after, conditions, ambiguous, hooks } = *node;
                let task = Task::new(system, name, conditions);
                // Keys ascend, so that a system is found by its key.
                self.nodes.push(Node { id, task, sets, before, after, ambiguous, hooks });
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

    /// As [`Schedule::configure_sets`], made ready for a world.
    ///
    /// # Errors
    /// When parameters of a condition conflict.
    pub fn try_configure_sets<M>(
        &mut self,
        world: &mut World,
        sets: impl IntoSetConfigs<M>,
    ) -> Result<(), ParamConflict> {
        self.settle(world)?;
        self.add_tree(world, sets.into_set_configs().0)
    }

    fn add_tree(&mut self, world: &mut World, tree: Tree) -> Result<(), ParamConflict> {
        self.bind(world);
        self.plan = None;
        self.take_sets(world, tree, &mut Vec::new())
    }

    fn take_sets(
        &mut self,
        world: &mut World,
        tree: Tree,
        taken: &mut Vec<SetId>,
    ) -> Result<(), ParamConflict> {
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
                    self.take_sets(world, part, taken)?;
                    chain.push(taken[from..].iter().cloned().map(Item::Set).collect());
                }
                self.chains.extend(chained.map(|hop| Chain { parts: chain, hop }));
                conditions
            }
        };
        for mut condition in conditions {
            condition.initialize(world)?;
            let members = Members::Sets(taken[start..].to_vec());
            self.gates.push(Gate { task: Task::gate(condition), members });
        }
        Ok(())
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

    /// The name of a system.
    pub(crate) fn name_of(&self, id: SystemKey) -> Option<&str> {
        self.position(id).map(|at| self.nodes[at].task.name.as_str())
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
        self.use_executor(Executor::new(threads));
    }

    pub(crate) fn use_executor(&mut self, executor: Executor) {
        let leaves_last = self.executor.leaves_last;
        self.executor = Executor { leaves_last, ..executor };
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

    /// Works the order out, if systems or sets changed since the last time. Orders relative to a function that is not
    /// there, or is there several times, are reported on the standard error, or in the log with the feature `trace`.
    ///
    /// # Errors
    /// When the order contradicts itself, a constraint names nothing and the schedule is strict, or systems are ambiguous
    /// and must not be.
    #[inline]
    pub(crate) fn build(&mut self, world: &World) -> Result<(), BuildError> {
        if self.plan.is_some() {
            return Ok(());
        }
        self.work_out(world)
    }

    #[inline(never)]
    fn work_out(&mut self, world: &World) -> Result<(), BuildError> {
        let sorted = sort::order(self.constraints(), self.sync)?;
        let unknown = &sorted.graph.unknown;
        if let (true, Some(unknown)) = (self.strict, unknown.first()) {
            return Err(BuildError::Unknown(unknown.clone()));
        }
        if self.exceptions.level != LogLevel::Ignore {
            let ambiguities = self.ambiguities(world, &sorted);
            if self.exceptions.level == LogLevel::Error && !ambiguities.is_empty() {
                return Err(BuildError::Ambiguous(ambiguities));
            }
            ambiguities.iter().for_each(|pair| error::tell_warning(pair));
        }
        // A label may stand for systems that only some programs have; a function hardly does.
        unknown.iter().filter(|unknown| unknown.is_function).for_each(|unknown| error::tell_warning(unknown));
        sorted.graph.repeated.iter().for_each(|repeated| error::tell_warning(repeated));
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
        if let Err(error) = self.run_built(world, None) {
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
        self.run_built(world, Some(handler))
    }

    /// Runs all systems once; without a handler, errors go to that of the world.
    #[track_caller]
    pub(crate) fn run_built(
        &mut self,
        world: &mut World,
        handler: Option<executor::Handler<'_>>,
    ) -> Result<(), BuildError> {
        self.initialize(world)?;
        if !self.is_empty() {
            self.bind(world);
            world.flush();
            self.hold_back(world);
            let plan = self.plan.as_mut().expect("it was built just now");
            executor::run(plan, &mut self.nodes, &mut self.gates, &self.executor, world, handler);
        }
        Ok(())
    }

    /// Holds systems back that a [`Stepping`] of the world does not let run.
    #[inline]
    fn hold_back(&mut self, world: &mut World) {
        let (known, found) = self.asked_for_stepping;
        // There is no stepping as long as no type of resource came.
        if found || known != world.resources.types() {
            self.hold_back_stepped(world);
        }
    }

    #[cold]
    fn hold_back_stepped(&mut self, world: &mut World) {
        let known = world.resources.types();
        let found = world.resources.id::<Stepping>().is_some();
        self.asked_for_stepping = (known, found);
        if !found {
            return;
        }
        let stepping = world.get_resource_mut::<Stepping>();
        let held = stepping.and_then(|mut stepping| stepping.held_back(&self.label, self.stepped_systems()));
        for (place, at) in self.systems_in_order().into_iter().enumerate() {
            self.nodes[at].task.hold(held.as_ref().is_some_and(|held| held[place]));
        }
    }

    /// Ids in the states of systems mean something in one world only.
    fn bind(&mut self, world: &World) {
        let known = *self.world.get_or_insert(world.id());
        assert!(
            known == world.id(),
            "a schedule serves the world that its systems were added for, and no other"
        );
    }

    /// A look at the schedule: at what is ready, which is everything after [`initialize`](Schedule::initialize) or a
    /// run.
    pub fn view<'a>(&'a self, world: &'a World) -> ScheduleView<'a> {
        ScheduleView::new(self, world)
    }
}

/// The tick of the system at a position of a stage that began at `base`. The one before it is that of its conditions,
/// so that they see what the system itself writes.
pub(crate) fn tick_at(base: Tick, position: usize) -> Tick {
    Tick::new(base.get() + 2 * (1 + position as u64))
}
