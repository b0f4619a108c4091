//! Schedules beside the phases: they lie in the world and run when asked.
//!
//! A label that is a phase means the phase everywhere; every other one means a schedule of the world.

use super::App;
use crate::schedule::{Label, Schedule, ScheduleLabel};
use crate::world::World;

#[allow(clippy::needless_pass_by_value, reason = "labels are written as values")]
impl App {
    /// Makes a schedule without systems in the world, unless there is one with this label, or such a phase.
    pub fn init_schedule(&mut self, label: impl ScheduleLabel) -> &mut Self {
        self.with_schedule(label.label(), |_, _| ());
        self
    }

    /// Puts a schedule into the world, to be run by [`World::run_schedule`]; for the label of a phase, in its place.
    pub fn add_schedule(&mut self, schedule: Schedule) -> &mut Self {
        self.with_schedule(schedule.label().clone(), |_, place| *place = schedule);
        self.configure(self.config.clone())
    }

    /// Changes the schedule with a label, or the phase.
    pub fn edit_schedule(&mut self, label: impl ScheduleLabel, f: impl FnOnce(&mut Schedule)) -> &mut Self {
        self.with_schedule(label.label(), |_, schedule| f(schedule));
        self
    }

    /// Lends a phase, or else a schedule of the world, which is made if need be.
    pub(super) fn with_schedule<R>(
        &mut self,
        label: Label,
        f: impl FnOnce(&mut World, &mut Schedule) -> R,
    ) -> R {
        self.steps = None;
        match self.phases.iter_mut().find(|phase| phase.label == label) {
            Some(phase) => f(&mut self.world, &mut phase.schedule),
            None => self.world.with_schedule(label, f),
        }
    }
}
