//! Schedules that a world keeps by their labels, and runs when asked.
//!
//! An app keeps its phases itself; what lies here are the schedules of users: a turn of a game, a step of a
//! simulation that runs several times per frame. A schedule that runs is taken out of the world for that time.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use phalanx_derive::Resource;

use super::{
    BuildError, ConfigureSystems, IntoSetConfigs, IntoSystemConfigs, IntoSystemSet, Label, NoSuchSystem,
    Schedule, ScheduleBuildSettings, ScheduleCleanupPolicy, ScheduleLabel, SystemKey,
};
use crate::component::AnyComponent;
use crate::resources::Resource;
use crate::system::Part;
use crate::world::{Commands, World};

/// How many labels without a schedule are remembered.
const MISSING: usize = 64;

/// The schedules of a world, by their labels. A resource, which is there as soon as a schedule is added.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)] struct Turn;
/// let mut schedules = Schedules::new();
/// schedules.insert(Schedule::new(Turn));
/// assert!(schedules.contains(Turn));
/// ```
#[derive(Resource, Default)]
#[resource(checkpoint = "skip", digest = "skip")]
pub struct Schedules {
    // Systems need not be `Sync`: the lock makes the whole so, and is never taken.
    /// In the order in which they came, which checkpoints rely on: one that was lent goes back to where it was.
    kept: Mutex<Vec<Schedule>>,
    /// How many came.
    came: u64,
    /// The labels of schedules that were taken out to be put back.
    lent: Vec<Label>,
    /// The labels that were asked for to be lent, and that no schedule has.
    missing: Vec<Label>,
    /// What systems may use without an order.
    ignored: Vec<Part>,
}

#[allow(clippy::needless_pass_by_value, reason = "labels are written as values")]
impl Schedules {
    /// No schedules.
    pub fn new() -> Self {
        Self::default()
    }

    /// The labels of schedules to which systems were added that are not ready.
    pub(crate) fn unready(&mut self) -> Vec<Label> {
        let unready = self.kept().iter().filter(|schedule| schedule.is_unready());
        unready.map(|schedule| schedule.label().clone()).collect()
    }

    /// All schedules that are kept, in the order they came.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Schedule> {
        self.kept().iter_mut()
    }

    fn kept(&mut self) -> &mut Vec<Schedule> {
        self.kept.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&mut self, label: &Label) -> Option<usize> {
        self.kept().iter().position(|schedule| schedule.label() == label)
    }

    /// Keeps a schedule, and returns the one that had its label.
    pub fn insert(&mut self, mut schedule: Schedule) -> Option<Schedule> {
        self.lent.retain(|label| label != schedule.label());
        self.missing.retain(|label| label != schedule.label());
        self.ignored.iter().for_each(|part| schedule.allow_ambiguous(*part));
        if let Some(at) = self.find(schedule.label()) {
            let there = &mut self.kept()[at];
            schedule.number = there.number;
            return Some(std::mem::replace(there, schedule));
        }
        // One that was lent has its number; one of another world may have that of another schedule.
        let number = schedule.number;
        if number == 0 || self.kept().iter().any(|there| there.number == number) {
            schedule.number = self.came + 1;
        }
        let number = schedule.number;
        self.came = self.came.max(number);
        let at = self.kept().partition_point(|there| there.number < number);
        self.kept().insert(at, schedule);
        None
    }

    /// Takes a schedule away.
    pub fn remove(&mut self, label: impl ScheduleLabel) -> Option<Schedule> {
        let at = self.find(&label.label())?;
        let mut schedule = self.kept().remove(at);
        schedule.number = 0;
        Some(schedule)
    }

    /// As [`Schedules::remove`], for a schedule that comes back by [`Schedules::reinsert`]; until then its label is one of
    /// [`Schedules::get_temporarily_removed`]. [`World::schedule_scope`] does both, also after a panic.
    pub fn remove_temporarily(&mut self, label: impl ScheduleLabel) -> Option<Schedule> {
        self.lend(&label.label())
    }

    fn lend(&mut self, label: &Label) -> Option<Schedule> {
        let found = self.find(label).map(|at| self.kept().remove(at));
        // One that runs at the moment is not missing.
        if self.lent.contains(label) {
            return found;
        }
        match found {
            Some(_) => self.lent.push(label.clone()),
            None if self.missing.contains(label) => {}
            None => {
                // States with many values have as many labels.
                if self.missing.len() == MISSING {
                    self.missing.remove(0);
                }
                self.missing.push(label.clone());
            }
        }
        found
    }

    /// Puts a schedule back that was removed temporarily, and returns the one that had its label meanwhile.
    pub fn reinsert(&mut self, schedule: Schedule) -> Option<Schedule> {
        self.insert(schedule)
    }

    /// The labels of schedules that were removed temporarily: those that run at the moment.
    pub fn get_temporarily_removed(&self) -> &[Label] {
        &self.lent
    }

    /// The labels of schedules that were to be run or lent, and are not there, nor came since: the last 64 of them.
    pub fn get_empty_labels(&self) -> &[Label] {
        &self.missing
    }

    /// As [`Schedules::remove`], with the label.
    pub fn remove_entry(&mut self, label: impl ScheduleLabel) -> Option<(Label, Schedule)> {
        self.remove(label).map(|schedule| (schedule.label().clone(), schedule))
    }

    /// Says that systems which use a component need no order because of it; see
    /// [`World::allow_ambiguous_component`].
    ///
    /// # Panics
    /// When another component has its name.
    #[track_caller]
    pub fn allow_ambiguous_component<C: AnyComponent>(&mut self, world: &mut World) {
        let parts = parts_of::<C>(world);
        self.allow_ambiguous(&parts);
    }

    /// As [`Schedules::allow_ambiguous_component`], for a resource.
    pub fn allow_ambiguous_resource<R: Resource>(&mut self, world: &mut World) {
        let part = Part::Resource(world.resources.register::<R>());
        self.allow_ambiguous(&[part]);
    }

    /// What systems of all schedules may use without an order, by
    /// [`allow_ambiguous_component`](Self::allow_ambiguous_component) and its sibling; of a component, its columns.
    pub fn iter_ignored_ambiguities(&self) -> impl Iterator<Item = &Part> {
        self.ignored.iter()
    }

    /// Writes the names of [what is ignored](Self::iter_ignored_ambiguities) to the standard error, or to the log with the
    /// feature `trace`.
    pub fn print_ignored_ambiguities(&self, world: &World) {
        let mut names: Vec<String> = self.ignored.iter().map(|part| part.name(world)).collect();
        names.dedup();
        let names = names.join(", ");
        #[cfg(feature = "trace")]
        tracing::info!("ambiguities are ignored that are caused by: {names}");
        #[cfg(not(feature = "trace"))]
        eprintln!("ambiguities are ignored that are caused by: {names}");
    }

    fn allow_ambiguous(&mut self, parts: &[Part]) {
        for part in parts {
            if !self.ignored.contains(part) {
                self.ignored.push(*part);
            }
        }
        self.each(|schedule| parts.iter().for_each(|part| schedule.allow_ambiguous(*part)));
    }

    /// Whether there is a schedule with this label.
    pub fn contains(&mut self, label: impl ScheduleLabel) -> bool {
        self.find(&label.label()).is_some()
    }

    /// The schedule with this label, to be read. Systems need not be `Sync`, so it is asked for as if to be written.
    pub fn get(&mut self, label: impl ScheduleLabel) -> Option<&Schedule> {
        self.get_mut(label).map(|schedule| &*schedule)
    }

    /// The schedules, to be read, in the order they were added; see [`Schedules::get`].
    pub fn iter(&mut self) -> impl Iterator<Item = (&Label, &Schedule)> {
        self.kept().iter().map(|schedule| (schedule.label(), schedule))
    }

    /// The schedule with this label.
    pub fn get_mut(&mut self, label: impl ScheduleLabel) -> Option<&mut Schedule> {
        self.find(&label.label()).map(|at| &mut self.kept()[at])
    }

    /// The schedule with this label; a new one, if there is none.
    pub fn entry(&mut self, label: impl ScheduleLabel) -> &mut Schedule {
        let label = label.label();
        if self.find(&label).is_none() {
            self.insert(Schedule::labelled(label.clone()));
        }
        let at = self.find(&label).expect("it is there, or was inserted");
        &mut self.kept()[at]
    }

    /// The schedules, in the order they were added.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Label, &mut Schedule)> {
        self.kept().iter_mut().map(|schedule| (schedule.label().clone(), schedule))
    }

    /// Sets how all of them are built.
    pub fn configure_schedules(&mut self, settings: ScheduleBuildSettings) {
        self.each(|schedule| _ = schedule.set_build_settings(settings));
    }

    pub(crate) fn each(&mut self, f: impl FnMut(&mut Schedule)) {
        self.kept().iter_mut().for_each(f);
    }

    /// Says that systems of two sets, or functions, may conflict without an order in the schedule with this label.
    pub fn ignore_ambiguity<M1, M2>(
        &mut self,
        label: impl ScheduleLabel,
        first: impl IntoSystemSet<M1>,
        second: impl IntoSystemSet<M2>,
    ) -> &mut Self {
        self.entry(label).ignore_ambiguity(first, second);
        self
    }

    /// Removes the systems of a set, or of a function, from the schedule with this label; returns how many there were.
    ///
    /// # Errors
    /// When the schedule cannot be made ready, so that it is not known which systems are in the set.
    pub fn remove_systems_in_set<M>(
        &mut self,
        label: impl ScheduleLabel,
        set: impl IntoSystemSet<M>,
        world: &mut World,
        policy: ScheduleCleanupPolicy,
    ) -> Result<usize, BuildError> {
        self.entry(label).remove_systems_in_set(set, world, policy)
    }

    /// Adds systems to the schedule with this label; to a new one, if there is none.
    pub fn add_systems<M, S: ConfigureSystems<M> + IntoSystemConfigs<M>>(
        &mut self,
        label: impl ScheduleLabel,
        systems: S,
    ) -> &mut Self {
        self.entry(label).add_systems(systems);
        self
    }

    /// Says how sets of systems are ordered in the schedule with this label, and when they run.
    pub fn configure_sets<M>(
        &mut self,
        label: impl ScheduleLabel,
        sets: impl IntoSetConfigs<M>,
    ) -> &mut Self {
        self.entry(label).configure_sets(sets);
        self
    }
}

/// There is no schedule with this label in the world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoSuchSchedule {
    /// The label asked for.
    pub label: Label,
}

impl fmt::Display for NoSuchSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no schedule `{}` in the world: add it with `add_schedule`; one that runs at the moment cannot run \
             inside itself, and the phases of an app are run by the app",
            self.label
        )
    }
}

impl std::error::Error for NoSuchSchedule {}

/// What systems use that use a component.
#[track_caller]
fn parts_of<C: AnyComponent>(world: &mut World) -> Vec<Part> {
    let id = world.register_component::<C>();
    let columns = world.components().get_info(id).map(|info| info.columns().to_vec()).unwrap_or_default();
    columns.into_iter().map(Part::Column).collect()
}

#[allow(clippy::needless_pass_by_value, reason = "labels are written as values")]
impl World {
    /// Says that systems which use a component need no order because of it, in the schedules that the world keeps, also
    /// those that come later: no [ambiguity](crate::schedule::Ambiguity) is reported.
    ///
    /// # Panics
    /// When another component has its name.
    #[track_caller]
    pub fn allow_ambiguous_component<C: AnyComponent>(&mut self) {
        let parts = parts_of::<C>(self);
        self.allow_ambiguous(&parts);
    }

    /// As [`World::allow_ambiguous_component`], for a resource.
    pub fn allow_ambiguous_resource<R: Resource>(&mut self) {
        let part = Part::Resource(self.resources.register::<R>());
        self.allow_ambiguous(&[part]);
    }

    pub(crate) fn allow_ambiguous(&mut self, parts: &[Part]) {
        self.get_resource_or_init::<Schedules>().allow_ambiguous(parts);
    }

    /// Keeps a schedule, to be run by its label. One that had the label goes.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
    /// struct Turn;
    /// #[derive(Resource, Default)]
    /// struct Turns(u32);
    ///
    /// let mut world = World::new();
    /// world.init_resource::<Turns>();
    /// let mut schedule = Schedule::new(Turn);
    /// schedule.add_systems(|mut turns: ResMut<Turns>| turns.0 += 1);
    /// world.add_schedule(schedule);
    /// world.run_schedule(Turn);
    /// assert_eq!(world.resource::<Turns>().0, 1);
    /// ```
    pub fn add_schedule(&mut self, schedule: Schedule) {
        self.get_resource_or_init::<Schedules>().insert(schedule);
    }

    /// Runs the schedule with a label.
    ///
    /// # Panics
    /// When there is none, its systems cannot be ordered, or one of them panics or fails.
    #[track_caller]
    pub fn run_schedule(&mut self, label: impl ScheduleLabel) {
        if let Err(error) = self.try_run_schedule(label) {
            panic!("{error}");
        }
    }

    /// As [`World::run_schedule`], with an error when there is no such schedule.
    ///
    /// # Errors
    /// When there is no schedule with this label, or it runs at the moment.
    ///
    /// # Panics
    /// When its systems cannot be ordered, or one of them panics or fails.
    #[track_caller]
    pub fn try_run_schedule(&mut self, label: impl ScheduleLabel) -> Result<(), NoSuchSchedule> {
        self.try_schedule_scope(label, |world, schedule| schedule.run(world))
    }

    /// Lends the schedule with a label, and the world, to a function. Until it returns, the world is without it.
    ///
    /// # Panics
    /// When there is no such schedule, or the function panics.
    #[track_caller]
    pub fn schedule_scope<R>(
        &mut self,
        label: impl ScheduleLabel,
        f: impl FnOnce(&mut World, &mut Schedule) -> R,
    ) -> R {
        match self.try_schedule_scope(label, f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`World::schedule_scope`], with an error when there is no such schedule.
    ///
    /// # Errors
    /// When there is no schedule with this label, or it is lent already.
    ///
    /// # Panics
    /// When the function does; the schedule is back in the world then.
    pub fn try_schedule_scope<R>(
        &mut self,
        label: impl ScheduleLabel,
        f: impl FnOnce(&mut World, &mut Schedule) -> R,
    ) -> Result<R, NoSuchSchedule> {
        let label = label.label();
        let schedule = self.get_resource_or_init::<Schedules>().lend(&label);
        let schedule = schedule.ok_or(NoSuchSchedule { label })?;
        Ok(self.lend_schedule(schedule, f))
    }

    /// Lends the schedule with a label, which is made if need be.
    pub(crate) fn with_schedule<R>(
        &mut self,
        label: Label,
        f: impl FnOnce(&mut World, &mut Schedule) -> R,
    ) -> R {
        let schedule = self.get_resource_or_init::<Schedules>().lend(&label);
        let schedule = schedule.unwrap_or_else(|| Schedule::labelled(label));
        self.lend_schedule(schedule, f)
    }

    #[track_caller]
    pub(crate) fn lend_schedule<R>(
        &mut self,
        mut schedule: Schedule,
        f: impl FnOnce(&mut World, &mut Schedule) -> R,
    ) -> R {
        let result = catch_unwind(AssertUnwindSafe(|| f(self, &mut schedule)));
        self.add_schedule(schedule);
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    pub(crate) fn take_schedule(&mut self, label: &Label) -> Option<Schedule> {
        let mut schedules = self.get_resource_mut::<Schedules>()?;
        schedules.find(label).map(|at| schedules.kept().remove(at))
    }

    /// Removes a system from the schedule of the world that has it.
    pub(crate) fn remove_system(&mut self, id: SystemKey) -> Result<(), NoSuchSystem> {
        let mut schedules = self.get_resource_or_init::<Schedules>();
        let label = schedules.kept().iter().find(|schedule| schedule.contains(id));
        let label = label.map(|schedule| schedule.label().clone()).ok_or(NoSuchSystem { id })?;
        self.with_schedule(label, |world, schedule| schedule.remove_system(world, id))
    }
}

impl Commands<'_, '_> {
    /// Runs the schedule with a label, when the commands are applied. Without such a schedule it is an error for the
    /// handler.
    pub fn run_schedule(&mut self, label: impl ScheduleLabel) {
        self.queue(move |world: &mut World| world.try_run_schedule(label));
    }
}
