//! What an app passes on: to its world, and to all of its schedules.
//!
//! A label means a phase where there is one, and else a schedule of the world. What is set for all schedules holds for
//! phases that come later, too, but not for schedules that the world gets later.

use super::{App, Phase};
use crate::component::{AnyComponent, Component};
use crate::registry::RequiredComponentsError;
use crate::resources::Resource;
use crate::schedule::{
    BuildError, IntoSystemSet, Schedule, ScheduleBuildSettings, ScheduleCleanupPolicy, ScheduleLabel,
    Schedules, SyncPoints,
};
use crate::storage::TableStorage;
use crate::system::{IntoSystem, Part, SystemHandle, SystemId, SystemInput};
use crate::world::FromWorld;

#[allow(clippy::needless_pass_by_value, reason = "labels are written as values")]
impl App {
    /// As [`App::new`]: an app needs nothing that could be left out.
    pub fn empty() -> Self {
        Self::new()
    }

    /// Says that a component requires another one, with its default value; see
    /// [`World::register_required_components`](crate::World::register_required_components).
    ///
    /// # Panics
    /// When that cannot be.
    #[track_caller]
    pub fn register_required_components<C: Component, R: Component + Default>(&mut self) -> &mut Self {
        self.world.register_required_components::<C, R>();
        self
    }

    /// As [`App::register_required_components`], with a function that gives the value.
    ///
    /// # Panics
    /// When that cannot be.
    #[track_caller]
    pub fn register_required_components_with<C: Component, R: Component>(
        &mut self,
        make: fn() -> R,
    ) -> &mut Self {
        self.world.register_required_components_with::<C, R>(make);
        self
    }

    /// As [`App::register_required_components`], with an error when that cannot be.
    ///
    /// # Errors
    /// When the requirement is there already, or closes a cycle.
    pub fn try_register_required_components<C: Component, R: Component + Default>(
        &mut self,
    ) -> Result<(), RequiredComponentsError> {
        self.world.try_register_required_components::<C, R>()
    }

    /// As [`App::register_required_components_with`], with an error when that cannot be.
    ///
    /// # Errors
    /// When the requirement is there already, or closes a cycle.
    pub fn try_register_required_components_with<C: Component, R: Component>(
        &mut self,
        make: fn() -> R,
    ) -> Result<(), RequiredComponentsError> {
        self.world.try_register_required_components_with::<C, R>(make)
    }

    /// Hides the entities that have a component from queries; see
    /// [`World::register_disabling_component`](crate::World::register_disabling_component).
    pub fn register_disabling_component<C: AnyComponent<Storage = TableStorage>>(&mut self) -> &mut Self {
        self.world.register_disabling_component::<C>();
        self
    }

    /// Registers a system for as long as a handle of it is kept; see
    /// [`World::register_tracked_system`](crate::World::register_tracked_system).
    pub fn register_tracked_system<I, O, M>(
        &mut self,
        system: impl IntoSystem<I, O, M> + 'static,
    ) -> SystemHandle<I, O>
    where
        I: SystemInput + 'static,
        O: 'static,
    {
        self.world.register_tracked_system(system)
    }

    /// Registers a system that is run when asked; see [`World::register_system`](crate::World::register_system).
    pub fn register_system<I, O, M>(&mut self, system: impl IntoSystem<I, O, M> + 'static) -> SystemId<I, O>
    where
        I: SystemInput + 'static,
        O: 'static,
    {
        self.world.register_system(system)
    }

    /// Inserts a value that stays on this thread.
    pub fn insert_non_send<R: 'static>(&mut self, value: R) -> &mut Self {
        self.world.insert_non_send(value);
        self
    }

    /// Inserts the first value of a type that stays on this thread, unless the world has one.
    pub fn init_non_send<R: FromWorld + 'static>(&mut self) -> &mut Self {
        if !self.world.contains_non_send::<R>() {
            let value = R::from_world(&mut self.world);
            self.world.insert_non_send(value);
        }
        self
    }

    /// The schedule of a phase. Those of the world can be had for changing only, by [`App::get_schedule_mut`].
    pub fn get_schedule(&self, label: impl ScheduleLabel) -> Option<&Schedule> {
        let label = label.label();
        self.phases.iter().find(|phase| phase.label == label).map(|phase| &phase.schedule)
    }

    /// The schedule of a phase, or of the world, to be changed.
    pub fn get_schedule_mut(&mut self, label: impl ScheduleLabel) -> Option<&mut Schedule> {
        self.steps = None;
        let known = label.label();
        match self.phases.iter_mut().find(|phase| phase.label == known) {
            Some(Phase { schedule, .. }) => Some(schedule),
            None => self.world.get_resource_mut::<Schedules>()?.into_inner().get_mut(label),
        }
    }

    /// Sets how all schedules are built: those of the phases, now and later, and those that the world has now.
    pub fn configure_schedules(&mut self, settings: ScheduleBuildSettings) -> &mut Self {
        let mut config = self.config.clone();
        config.ambiguities = settings.ambiguity_detection;
        config.sync = match settings.auto_insert_apply_deferred {
            true => SyncPoints::Ordered,
            false => SyncPoints::PhaseEnd,
        };
        self.configure(config);
        if let Some(mut schedules) = self.world.get_resource_mut::<Schedules>() {
            schedules.configure_schedules(settings);
        }
        self
    }

    /// Says that systems which use a component need no order because of it: no [ambiguity](crate::schedule::Ambiguity) is
    /// reported.
    ///
    /// # Panics
    /// When another component has its name.
    #[track_caller]
    pub fn allow_ambiguous_component<C: Component>(&mut self) -> &mut Self {
        let id = self.world.register_component::<C>();
        let columns = self.world.components().get_info(id).map(|info| info.columns().to_vec());
        for column in columns.unwrap_or_default() {
            self.allow_ambiguous(Part::Column(column));
        }
        self
    }

    /// Says that systems which use a resource need no order because of it: no [ambiguity](crate::schedule::Ambiguity) is
    /// reported.
    pub fn allow_ambiguous_resource<R: Resource>(&mut self) -> &mut Self {
        let id = self.world.resources.register::<R>();
        self.allow_ambiguous(Part::Resource(id));
        self
    }

    fn allow_ambiguous(&mut self, part: Part) {
        self.steps = None;
        self.phases.iter_mut().for_each(|phase| phase.schedule.allow_ambiguous(part));
        self.world.allow_ambiguous(&[part]);
    }

    /// Says that systems of two sets, or functions, may conflict without an order in a schedule.
    pub fn ignore_ambiguity<M1, M2>(
        &mut self,
        schedule: impl ScheduleLabel,
        first: impl IntoSystemSet<M1>,
        second: impl IntoSystemSet<M2>,
    ) -> &mut Self {
        self.with_schedule(schedule.label(), |_, schedule| _ = schedule.ignore_ambiguity(first, second));
        self
    }

    /// Removes the systems of a set, or of a function, from a schedule; returns how many there were.
    ///
    /// # Errors
    /// When the schedule cannot be made ready, so that it is not known which systems are in the set.
    pub fn remove_systems_in_set<M>(
        &mut self,
        schedule: impl ScheduleLabel,
        set: impl IntoSystemSet<M>,
        policy: ScheduleCleanupPolicy,
    ) -> Result<usize, BuildError> {
        self.with_schedule(schedule.label(), |world, schedule| {
            schedule.remove_systems_in_set(set, world, policy)
        })
    }

    /// Sets what the configuration says about how a schedule is built.
    pub(super) fn apply_settings(config: &super::AppConfig, schedule: &mut Schedule) {
        schedule.set_strict(config.strict);
        schedule.set_sync_points(config.sync);
        schedule.set_ambiguity_detection(config.ambiguities);
    }
}
