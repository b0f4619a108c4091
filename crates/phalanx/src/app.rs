//! The app: a world and the phases that run on it.
//!
//! ```text
//!   startup()   changes of states  PreStartup  Startup  PostStartup       once
//!   step(dt)    First   the fixed phases 0..n times   PreUpdate  changes of states  Update  PostUpdate  Last
//!               then old messages end
//!   update()    the same, with the time since the last call, or one that is set
//!   run()       frames until `AppExit` is written, by the runner that is set
//! ```
//!
//! Each phase is a [`Schedule`](crate::schedule::Schedule); commands are applied at its sync points and when it ends. All
//! phases are built before one of them runs, so that a contradiction in the order never leaves a frame half done. The app
//! knows no window. With `step` the caller brings the time, and the same calls give the same world.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::messages::Message;
use crate::resources::Resource;
use crate::schedule::{
    ConfigureSystems, Executor, IntoSetConfigs, IntoSystemConfigs, Label, NoSuchSystem, ScheduleLabel,
    ScheduleView, SystemError, SystemKey, Timing,
};
use crate::system::{IntoObserver, ParamConflict};
use crate::world::{ErrorHandler, Failed, FromWorld, World};

pub use config::{AppConfig, FixedPlace};
pub use determinism::Nondeterminism;
pub use error::{AddedTooLate, UpdateError};
pub use history::AppCheckpoint;
pub use phase::{
    First, FixedFirst, FixedLast, FixedPostUpdate, FixedPreUpdate, FixedUpdate, Last, PostStartup,
    PostUpdate, PreStartup, PreUpdate, Startup, Update,
};
pub use plugin::{Plugin, PluginGroup, PluginGroupBuilder, Plugins, PluginsState};
pub use runner::{AppExit, RunMode, ScheduleRunnerPlugin};
#[cfg(feature = "ctrl_c")]
pub use signal::TerminalCtrlCHandlerPlugin;
pub use sub_app::{AppLabel, ExtractFn, SubApp};
pub use time::{Fixed, Real, Time, TimePlugin, Virtual};
pub use timer::{
    Stopwatch, Timer, TimerMode, on_real_timer, on_timer, once_after_delay, once_after_real_delay, paused,
    repeating_after_delay, repeating_after_real_delay,
};
pub use tool::{FrameAction, FrameTool};

mod config;
mod determinism;
mod error;
mod frame;
mod history;
mod more;
mod part;
mod phase;
mod plugin;
mod runner;
mod schedules;
#[cfg(feature = "ctrl_c")]
mod signal;
mod sub_app;
mod time;
mod timer;
mod tool;

use frame::Step;
use phase::{Phase, When};

/// The time that one phase took; zero unless [`AppConfig::timings`] is set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PhaseTiming {
    /// The phase.
    pub phase: String,
    /// How often it ran.
    pub runs: u64,
    /// All runs together, commands included.
    pub total: Duration,
    /// The time of each system, in the order they were added.
    pub systems: Vec<Timing>,
}

/// A world, the systems that run on it, and when they do.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource, Default)]
/// struct Frames(u32);
///
/// let mut app = App::new();
/// app.init_resource::<Frames>();
/// app.add_systems(Update, |mut frames: ResMut<Frames>| frames.0 += 1);
/// app.startup();
/// app.step(1.0 / 60.0);
/// assert_eq!(app.world().resource::<Frames>().0, 1);
/// ```
pub struct App {
    world: World,
    phases: Vec<Phase>,
    config: AppConfig,
    /// When `update` was last called.
    last_update: Option<Instant>,
    frames: u64,
    real_elapsed: Duration,
    started: bool,
    disposed: bool,
    plugins: Vec<plugin::Added>,
    /// The names of the plugins that are being added, each by the one before.
    building: Vec<String>,
    plugins_state: PluginsState,
    /// The schedule in which states change, once there are states.
    transitions: Option<Label>,
    /// What a frame runs, in order; nothing until the phases are built.
    steps: Option<Vec<Step>>,
    runner: Option<runner::Runner>,
    tools: Vec<Box<dyn FrameTool>>,
    sub_apps: Vec<(Label, SubApp)>,
    history: Option<history::History>,
    /// What is left of a frame that runs system by system.
    part: Option<part::Part>,
    locals: Arc<crate::system::kept::LocalCopies>,
}

impl Default for App {
    fn default() -> Self {
        Self::new()
    }
}

#[allow(clippy::needless_pass_by_value, reason = "labels are written as values: `add_systems(Update, ..)`")]
impl App {
    /// An empty world, phases without systems, and the default configuration.
    pub fn new() -> Self {
        let mut app = Self {
            world: World::new(),
            phases: phase::standard(),
            config: AppConfig::default(),
            last_update: None,
            frames: 0,
            real_elapsed: Duration::ZERO,
            started: false,
            disposed: false,
            plugins: Vec::new(),
            building: Vec::new(),
            plugins_state: PluginsState::Ready,
            transitions: None,
            steps: None,
            runner: None,
            tools: Vec::new(),
            sub_apps: Vec::new(),
            history: None,
            part: None,
            locals: Arc::default(),
        };
        app.world.insert_resource(Time::<()>::default());
        app.world.insert_resource(Time::<Real>::default());
        app.world.insert_resource(Time::<Virtual>::default());
        app.world.insert_resource(Time::<Fixed>::from_seconds(app.config.fixed_timestep));
        app.configure(AppConfig::default());
        app
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be changed.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Sets the configuration.
    ///
    /// # Panics
    /// When the fixed timestep is not a positive number, or threads cannot be started.
    #[track_caller]
    pub fn configure(&mut self, config: AppConfig) -> &mut Self {
        // What systems set themselves stays, unless this is new.
        if config.fixed_timestep.to_bits() != self.config.fixed_timestep.to_bits() {
            self.world.resource_mut::<Time<Fixed>>().set_timestep_seconds(config.fixed_timestep);
        }
        let mut executor = Executor::new(config.threads);
        executor.small = config.small_phase;
        executor.timed = config.timings;
        // What was set for a single phase stays, unless this is new.
        let is_new = (config.strict, config.sync, config.ambiguities)
            != (self.config.strict, self.config.sync, self.config.ambiguities);
        for phase in &mut self.phases {
            phase.schedule.use_executor(executor.clone());
            if is_new {
                Self::apply_settings(&config, &mut phase.schedule);
            }
        }
        self.steps = None;
        self.world.set_flush_order(config.flush_order);
        self.world.set_report_dead(config.report_dead);
        self.config = config;
        self
    }

    /// The configuration.
    pub fn config(&self) -> &AppConfig {
        &self.config
    }

    /// Sets the handler of the errors of systems, conditions and commands, at the next point where commands are applied:
    /// [`panic`](crate::error::panic), which is the default, [`warn`](crate::error::warn),
    /// [`ignore`](crate::error::ignore), or a function of your own.
    pub fn set_error_handler(
        &mut self,
        handler: impl FnMut(&mut World, SystemError) + Send + Sync + 'static,
    ) -> &mut Self {
        self.world.set_error_handler(handler);
        self
    }

    /// The handler that was set last; see [`World::fallback_error_handler`].
    pub fn get_error_handler(&self) -> ErrorHandler {
        self.world.fallback_error_handler()
    }

    /// Inserts a resource.
    pub fn insert_resource<R: Resource>(&mut self, resource: R) -> &mut Self {
        self.world.insert_resource(resource);
        self
    }

    /// Inserts the default value of a resource unless the world has one.
    pub fn init_resource<R: Resource + FromWorld>(&mut self) -> &mut Self {
        self.world.init_resource::<R>();
        self
    }

    /// Makes a type of message known to the world, so that tools find it. Writers and readers need no such call.
    pub fn add_message<M: Message>(&mut self) -> &mut Self {
        self.world.messages_mut::<M>();
        self
    }

    /// Adds an observer: a function whose first parameter is [`On`](crate::observer::On), or an
    /// [`Observer`](crate::observer::Observer).
    ///
    /// # Panics
    /// As [`World::add_observer`].
    #[track_caller]
    pub fn add_observer<M>(&mut self, observer: impl IntoObserver<M>) -> &mut Self {
        self.world.add_observer(observer);
        self
    }

    /// Adds systems to a phase. A label that names no phase names a schedule of the world, which is made if need be and
    /// runs by [`World::run_schedule`].
    ///
    /// # Panics
    /// When parameters of a system conflict; see [`App::try_add_systems`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// fn input() {}
    /// fn movement() {}
    /// fn count(mut frames: ResMut<Frames>) {
    ///     frames.0 += 1;
    /// }
    ///
    /// let mut app = App::new();
    /// app.init_resource::<Frames>();
    /// app.add_systems(Update, (input, movement).chain());
    /// app.add_systems(Update, count.after(movement));
    /// app.step(1.0 / 60.0);
    /// assert_eq!(app.world().resource::<Frames>().0, 1);
    /// ```
    #[track_caller]
    pub fn add_systems<M, S: ConfigureSystems<M> + IntoSystemConfigs<M>>(
        &mut self,
        phase: impl ScheduleLabel,
        systems: S,
    ) -> &mut Self {
        // No closure: the panic is to point at the caller.
        match self.try_add_systems(phase, systems) {
            Ok(_) => self,
            Err(conflict) => panic!("{conflict}"),
        }
    }

    /// Adds a system to a phase, and returns its number. Of several, the number of the first.
    ///
    /// # Panics
    /// When there is nothing to add, or parameters of a system conflict.
    #[track_caller]
    pub fn add_system<M, S: ConfigureSystems<M> + IntoSystemConfigs<M>>(
        &mut self,
        phase: impl ScheduleLabel,
        system: S,
    ) -> SystemKey {
        match self.try_add_systems(phase, system) {
            Ok(added) => *added.first().expect("at least one system is added"),
            Err(conflict) => panic!("{conflict}"),
        }
    }

    /// Adds systems to a phase, and returns their numbers in the order they were written.
    ///
    /// # Errors
    /// When two parameters of a system conflict; both are named, and no system is added.
    ///
    /// # Panics
    /// When the phase is one of start-up and has run already, and the world has no error handler; see [`AddedTooLate`].
    #[track_caller]
    pub fn try_add_systems<M, S: ConfigureSystems<M> + IntoSystemConfigs<M>>(
        &mut self,
        phase: impl ScheduleLabel,
        systems: S,
    ) -> Result<Vec<SystemKey>, ParamConflict> {
        let label = phase.label();
        let added =
            self.with_schedule(label.clone(), |world, schedule| schedule.try_add_systems(world, systems))?;
        if self.started {
            self.tell_late(&label, &added);
        }
        Ok(added)
    }

    /// Tells of systems that were added to a phase of start-up, which is over.
    #[track_caller]
    fn tell_late(&mut self, label: &Label, added: &[SystemKey]) {
        let late = |phase: &&Phase| phase.label == *label && phase.when == When::Startup;
        let Some(phase) = self.phases.iter().find(late) else { return };
        let named = added.iter().filter_map(|id| phase.schedule.name_of(*id));
        let names: Vec<String> = named.map(str::to_owned).collect();
        for name in names {
            let late = AddedTooLate { phase: label.to_string() };
            self.world.fail(SystemError::new(Failed::System, name, late.into()));
        }
    }

    /// Removes a system; its `on_removed` runs.
    ///
    /// # Errors
    /// When there is no such system.
    pub fn remove_system(&mut self, id: SystemKey) -> Result<(), NoSuchSystem> {
        self.steps = None;
        let mut phases = self.phases.iter_mut();
        match phases.find(|phase| phase.schedule.contains(id)) {
            Some(phase) => phase.schedule.remove_system(&mut self.world, id),
            None => self.world.remove_system(id),
        }
    }

    /// Says how sets of systems are ordered in a phase, and when they run.
    ///
    /// # Panics
    /// When parameters of a condition conflict.
    #[track_caller]
    pub fn configure_sets<M>(
        &mut self,
        phase: impl ScheduleLabel,
        sets: impl IntoSetConfigs<M>,
    ) -> &mut Self {
        let label = phase.label();
        match self.with_schedule(label, |world, schedule| schedule.try_configure_sets(world, sets)) {
            Ok(()) => self,
            Err(conflict) => panic!("{conflict}"),
        }
    }

    /// Adds a phase that runs right after another one, as often as that one.
    ///
    /// # Panics
    /// When the other phase does not exist, or this one does already.
    #[track_caller]
    pub fn add_phase_after(&mut self, other: impl ScheduleLabel, phase: impl ScheduleLabel) -> &mut Self {
        let at = self.position(&other.label());
        self.insert_phase(at + 1, phase.label(), self.phases[at].when)
    }

    /// Adds a phase that runs right before another one, as often as that one.
    ///
    /// # Panics
    /// When the other phase does not exist, or this one does already.
    #[track_caller]
    pub fn add_phase_before(&mut self, other: impl ScheduleLabel, phase: impl ScheduleLabel) -> &mut Self {
        let at = self.position(&other.label());
        self.insert_phase(at, phase.label(), self.phases[at].when)
    }

    /// Adds a phase that runs only when [`App::run_phase`] is called.
    ///
    /// # Panics
    /// When the phase exists already.
    #[track_caller]
    pub fn add_phase(&mut self, phase: impl ScheduleLabel) -> &mut Self {
        self.insert_phase(self.phases.len(), phase.label(), When::Asked)
    }

    #[track_caller]
    fn insert_phase(&mut self, at: usize, label: Label, when: When) -> &mut Self {
        assert!(self.phases.iter().all(|phase| phase.label != label), "phase `{label}` exists already");
        let mut phase = Phase::new(label, when);
        if let Some(schedule) = self.world.take_schedule(&phase.label) {
            phase.schedule = schedule;
        }
        Self::apply_settings(&self.config, &mut phase.schedule);
        self.phases.insert(at, phase);
        self.configure(self.config.clone())
    }

    #[track_caller]
    fn position(&self, label: &Label) -> usize {
        let found = self.phases.iter().position(|phase| phase.label == *label);
        match found {
            Some(at) => at,
            None => panic!("there is no phase `{label}`: add it with `add_phase_after`"),
        }
    }

    /// The phases in order.
    pub fn phases(&self) -> impl Iterator<Item = &Label> {
        self.phases.iter().map(|phase| &phase.label)
    }

    /// A look at a phase: its order, conflicts, pictures.
    ///
    /// # Panics
    /// When there is no such phase.
    #[track_caller]
    pub fn schedule(&self, phase: impl ScheduleLabel) -> ScheduleView<'_> {
        self.phases[self.position(&phase.label())].schedule.view(&self.world)
    }

    /// The time each phase and each system took so far.
    pub fn timings(&self) -> Vec<PhaseTiming> {
        let timing = |phase: &Phase| PhaseTiming {
            phase: phase.label.to_string(),
            runs: phase.runs,
            total: phase.total,
            systems: phase.schedule.timings(),
        };
        self.phases.iter().map(timing).collect()
    }

    /// Runs the phases of start-up. Later calls do nothing.
    ///
    /// # Panics
    /// When systems cannot be ordered, or one of them panics or fails; see [`App::try_startup`].
    #[track_caller]
    pub fn startup(&mut self) {
        if let Err(error) = self.try_startup() {
            panic!("{error}");
        }
    }

    /// As [`App::startup`], with an error when systems cannot be ordered.
    ///
    /// # Errors
    /// When the systems of a phase cannot be ordered, or frames are to be kept and types cannot be copied; then nothing
    /// has run.
    #[track_caller]
    pub fn try_startup(&mut self) -> Result<(), UpdateError> {
        if self.plugins_state != PluginsState::Cleaned {
            self.cleanup();
        }
        self.build()?;
        if !self.started && self.history.is_some() {
            self.check_captured().map_err(UpdateError::NotCaptured)?;
        }
        if !std::mem::replace(&mut self.started, true) {
            self.run_transitions();
            self.run_all(When::Startup);
        }
        Ok(())
    }

    /// Names the schedule in which states change; false if that was done before.
    pub(crate) fn set_transitions(&mut self, label: Label) -> bool {
        self.steps = None;
        self.transitions.replace(label).is_none()
    }

    /// Lets states change.
    #[track_caller]
    fn run_transitions(&mut self) {
        if let Some(label) = &self.transitions
            && let Some(schedule) = self.world.take_schedule(label)
        {
            self.world.lend_schedule(schedule, |world, schedule| schedule.run(world));
        }
    }

    fn build(&mut self) -> Result<(), UpdateError> {
        if self.steps.is_some() {
            return Ok(());
        }
        for phase in &mut self.phases {
            phase
                .schedule
                .build(&self.world)
                .map_err(|error| UpdateError::Build { phase: phase.label.to_string(), error })?;
        }
        if let Some(label) = &self.transitions
            && let Some(schedule) = self.world.take_schedule(label)
        {
            let built = self.world.lend_schedule(schedule, |world, schedule| schedule.initialize(world));
            built.map_err(|error| UpdateError::Build { phase: label.to_string(), error })?;
        }
        self.steps = Some(self.plan_frame());
        Ok(())
    }

    #[track_caller]
    fn run_all(&mut self, when: When) {
        for at in 0..self.phases.len() {
            if self.phases[at].when == when && self.is_run(&self.phases[at]) {
                self.run_at(at);
            }
        }
    }

    #[track_caller]
    fn run_at(&mut self, at: usize) {
        let phase = &mut self.phases[at];
        #[cfg(feature = "trace")]
        let _span = tracing::info_span!("phase", name = %phase.label).entered();
        let start = self.config.timings.then(Instant::now);
        if let Err(error) = phase.schedule.run_built(&mut self.world, None) {
            panic!("phase `{}`: {error}", phase.label);
        }
        if let Some(start) = start {
            phase.runs += 1;
            phase.total += start.elapsed();
        }
    }

    /// Runs one phase now, whatever kind it is.
    ///
    /// # Panics
    /// When there is no such phase, or its systems cannot be ordered, panic or fail.
    #[track_caller]
    pub fn run_phase(&mut self, phase: impl ScheduleLabel) {
        let at = self.position(&phase.label());
        self.run_at(at);
    }

    /// Ends the app: `on_dispose` of every system runs, phase by phase. Dropping the app does the same; later calls
    /// do nothing.
    pub fn dispose(&mut self) {
        if !std::mem::replace(&mut self.disposed, true) {
            for phase in &mut self.phases {
                phase.schedule.dispose(&mut self.world);
            }
        }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.dispose();
        }
    }
}
