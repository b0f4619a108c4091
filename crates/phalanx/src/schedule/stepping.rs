//! Stepping: running a schedule system by system, to look at the world in between.
//!
//! ```text
//!   Waiting    nothing but what always runs
//!   Step       the system at the cursor, once
//!   Continue   from the cursor to the next breakpoint, or to the end of the frame
//! ```
//!
//! Settings of a [`Stepping`] count from the next frame on. Schedules that were not added to it run as usual. A
//! schedule asks before it runs which of its systems are held back; the cursor stands in the order of the schedules, and
//! of the systems in each.

use std::any::TypeId;
use std::fmt;

use phalanx_derive::Resource;

use super::{Label, Schedule, ScheduleLabel, SystemKey};
use crate::system::{IntoSystem, ResMut, System};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Action {
    /// Stepping is off.
    #[default]
    RunAll,
    Waiting,
    Continue,
    Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behavior {
    AlwaysRun,
    NeverRun,
    Break,
    Continue,
}

/// Systems of one function, or a single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Function(TypeId),
    Key(SystemKey),
}

enum Update {
    Act(Action),
    Add(Label),
    Remove(Label),
    Clear(Label),
    Behave(Label, Who, Option<Behavior>),
}

/// A schedule that is stepped.
struct Stepped {
    label: Label,
    /// The settings of its systems; of several that name one system, the last counts.
    said: Vec<(Who, Behavior)>,
    /// Its systems in order, since it first ran.
    systems: Vec<(SystemKey, TypeId)>,
}

impl Stepped {
    fn behavior(&self, (key, function): (SystemKey, TypeId)) -> Behavior {
        let names = |who: Who| who == Who::Key(key) || who == Who::Function(function);
        self.said.iter().rev().find(|(who, _)| names(*who)).map_or(Behavior::Continue, |said| said.1)
    }

    fn say(&mut self, who: Who, behavior: Option<Behavior>) {
        self.said.retain(|(known, _)| *known != who);
        self.said.extend(behavior.map(|behavior| (who, behavior)));
    }

    /// The first system, from a position on, at which the cursor can stand.
    fn next_stop(&self, from: usize) -> Option<usize> {
        let stands = |at: &usize| {
            !matches!(self.behavior(self.systems[*at]), Behavior::AlwaysRun | Behavior::NeverRun)
        };
        (from..self.systems.len()).find(stands)
    }
}

/// Runs schedules step by step. A resource; without it, or until it is enabled, everything runs.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::schedule::Stepping;
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
/// let mut app = App::new();
/// app.init_resource::<Log>().add_systems(Update, (first, second).chain());
/// let mut stepping = Stepping::new();
/// stepping.add_schedule(Update).enable();
/// app.insert_resource(stepping);
/// app.step(0.1); // nothing runs
/// app.world_mut().resource_mut::<Stepping>().step_frame();
/// app.step(0.1);
/// assert_eq!(app.world().resource::<Log>().0, ["first"]);
/// ```
#[derive(Resource, Default)]
pub struct Stepping {
    schedules: Vec<Stepped>,
    /// The labels in the order in which their schedules run, as far as known.
    order: Vec<Label>,
    /// Where the cursor stands: the position of a schedule in the order, and of a system in it.
    at: (usize, usize),
    /// Whether the cursor came where it stands in this frame.
    moved: bool,
    /// The schedule that ran last in this frame.
    previous: Option<usize>,
    action: Action,
    updates: Vec<Update>,
}

impl fmt::Debug for Stepping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<&Label> = self.schedules.iter().map(|stepped| &stepped.label).collect();
        f.debug_struct("Stepping")
            .field("action", &self.action)
            .field("schedules", &labels)
            .field("order", &self.order)
            .field("cursor", &self.cursor())
            .finish_non_exhaustive()
    }
}

/// Not all schedules that were added have run yet: try again in the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReady;

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not all schedules that are stepped have run yet: try again in the next frame")
    }
}

impl std::error::Error for NotReady {}

#[allow(clippy::needless_pass_by_value, reason = "labels are written as values")]
impl Stepping {
    /// Stepping that is off and knows no schedule.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a frame: what was set since the last one counts from now on. An app does it; in a program with schedules of
    /// its own it is a system to be run first.
    pub fn begin_frame(stepping: Option<ResMut<'_, Self>>) {
        if let Some(mut stepping) = stepping {
            stepping.next_frame();
        }
    }

    /// The schedules that are stepped, in the order in which they run.
    ///
    /// # Errors
    /// When not all of them have run yet.
    pub fn schedules(&self) -> Result<&Vec<Label>, NotReady> {
        if self.order.len() == self.schedules.len() { Ok(&self.order) } else { Err(NotReady) }
    }

    /// The schedule and the system at which the cursor stands: what runs next.
    pub fn cursor(&self) -> Option<(Label, SystemKey)> {
        if !self.is_enabled() {
            return None;
        }
        let label = self.order.get(self.at.0)?;
        let stepped = self.schedules.iter().find(|stepped| stepped.label == *label)?;
        stepped.systems.get(self.at.1).map(|(key, _)| (label.clone(), *key))
    }

    /// Steps a schedule.
    pub fn add_schedule(&mut self, schedule: impl ScheduleLabel) -> &mut Self {
        self.tell(Update::Add(schedule.label()))
    }

    /// Lets a schedule run as usual.
    pub fn remove_schedule(&mut self, schedule: impl ScheduleLabel) -> &mut Self {
        self.tell(Update::Remove(schedule.label()))
    }

    /// Removes the settings of systems of a schedule.
    pub fn clear_schedule(&mut self, schedule: impl ScheduleLabel) -> &mut Self {
        self.tell(Update::Clear(schedule.label()))
    }

    /// Begins to step: systems wait.
    pub fn enable(&mut self) -> &mut Self {
        self.tell(Update::Act(Action::Waiting))
    }

    /// Lets everything run again.
    pub fn disable(&mut self) -> &mut Self {
        self.tell(Update::Act(Action::RunAll))
    }

    /// Whether schedules are stepped.
    pub fn is_enabled(&self) -> bool {
        self.action != Action::RunAll
    }

    /// Runs the system at the cursor in the next frame.
    pub fn step_frame(&mut self) -> &mut Self {
        self.tell(Update::Act(Action::Step))
    }

    /// Runs systems from the cursor on in the next frame, to a breakpoint or the end of the frame.
    pub fn continue_frame(&mut self) -> &mut Self {
        self.tell(Update::Act(Action::Continue))
    }

    /// Runs the systems of a function in each frame, and does not stop at them.
    pub fn always_run<O, M>(
        &mut self,
        schedule: impl ScheduleLabel,
        system: impl IntoSystem<(), O, M>,
    ) -> &mut Self {
        self.say(schedule, function(system), Some(Behavior::AlwaysRun))
    }

    /// As [`always_run`](Self::always_run), for one system.
    pub fn always_run_node(&mut self, schedule: impl ScheduleLabel, system: SystemKey) -> &mut Self {
        self.say(schedule, Who::Key(system), Some(Behavior::AlwaysRun))
    }

    /// Never runs the systems of a function, and does not stop at them.
    pub fn never_run<O, M>(
        &mut self,
        schedule: impl ScheduleLabel,
        system: impl IntoSystem<(), O, M>,
    ) -> &mut Self {
        self.say(schedule, function(system), Some(Behavior::NeverRun))
    }

    /// As [`never_run`](Self::never_run), for one system.
    pub fn never_run_node(&mut self, schedule: impl ScheduleLabel, system: SystemKey) -> &mut Self {
        self.say(schedule, Who::Key(system), Some(Behavior::NeverRun))
    }

    /// Stops before the systems of a function when the frame is continued.
    pub fn set_breakpoint<O, M>(
        &mut self,
        schedule: impl ScheduleLabel,
        system: impl IntoSystem<(), O, M>,
    ) -> &mut Self {
        self.say(schedule, function(system), Some(Behavior::Break))
    }

    /// As [`set_breakpoint`](Self::set_breakpoint), for one system.
    pub fn set_breakpoint_node(&mut self, schedule: impl ScheduleLabel, system: SystemKey) -> &mut Self {
        self.say(schedule, Who::Key(system), Some(Behavior::Break))
    }

    /// As [`clear_system`](Self::clear_system).
    pub fn clear_breakpoint<O, M>(
        &mut self,
        schedule: impl ScheduleLabel,
        system: impl IntoSystem<(), O, M>,
    ) -> &mut Self {
        self.clear_system(schedule, system)
    }

    /// As [`clear_node`](Self::clear_node).
    pub fn clear_breakpoint_node(&mut self, schedule: impl ScheduleLabel, system: SystemKey) -> &mut Self {
        self.clear_node(schedule, system)
    }

    /// Removes the settings of the systems of a function.
    pub fn clear_system<O, M>(
        &mut self,
        schedule: impl ScheduleLabel,
        system: impl IntoSystem<(), O, M>,
    ) -> &mut Self {
        self.say(schedule, function(system), None)
    }

    /// Removes the settings of one system.
    pub fn clear_node(&mut self, schedule: impl ScheduleLabel, system: SystemKey) -> &mut Self {
        self.say(schedule, Who::Key(system), None)
    }

    fn say(&mut self, schedule: impl ScheduleLabel, who: Who, behavior: Option<Behavior>) -> &mut Self {
        self.tell(Update::Behave(schedule.label(), who, behavior))
    }

    fn tell(&mut self, update: Update) -> &mut Self {
        self.updates.push(update);
        self
    }

    pub(crate) fn next_frame(&mut self) {
        if self.action != Action::RunAll {
            self.action = Action::Waiting;
            self.previous = None;
            self.moved = false;
            if self.at.0 >= self.order.len() {
                self.at = (0, 0);
            }
        }
        for update in std::mem::take(&mut self.updates) {
            self.apply(update);
        }
    }

    fn apply(&mut self, update: Update) {
        match update {
            Update::Act(Action::RunAll) => {
                self.action = Action::RunAll;
                self.at = (0, 0);
            }
            Update::Act(Action::Waiting) if self.action != Action::RunAll => {}
            Update::Act(Action::Waiting) => (self.action, self.at) = (Action::Waiting, (0, 0)),
            // The first wish of a frame counts; without stepping there is nothing to wish.
            Update::Act(action) if self.action == Action::Waiting => self.action = action,
            Update::Act(_) => {}
            Update::Add(label) => {
                self.schedules.retain(|stepped| stepped.label != label);
                self.schedules.push(Stepped { label, said: Vec::new(), systems: Vec::new() });
            }
            Update::Remove(label) => {
                self.schedules.retain(|stepped| stepped.label != label);
                self.order.retain(|known| *known != label);
                self.at = (0, 0);
            }
            Update::Clear(label) => self.with(&label, |stepped| stepped.said.clear()),
            Update::Behave(label, who, behavior) => self.with(&label, |stepped| stepped.say(who, behavior)),
        }
    }

    fn with(&mut self, label: &Label, f: impl FnOnce(&mut Stepped)) {
        if let Some(stepped) = self.schedules.iter_mut().find(|stepped| stepped.label == *label) {
            f(stepped);
        }
    }

    /// Which systems of a schedule are held back in the run that begins; `None` when it is not stepped, or its order is
    /// not worked out yet. A schedule asks this before it runs: asking counts as its run of this frame, and moves the
    /// cursor.
    pub fn skipped_systems(&mut self, schedule: &Schedule) -> Option<Vec<SystemKey>> {
        let systems = schedule.stepped_systems();
        if systems.is_empty() {
            return None;
        }
        let held = self.held_back(schedule.label(), systems.clone())?;
        Some(systems.into_iter().zip(held).filter(|(_, held)| *held).map(|((key, _), _)| key).collect())
    }

    /// Which systems of a schedule are held back in the run that begins; `None` when it is not stepped.
    pub(crate) fn held_back(
        &mut self,
        label: &Label,
        systems: Vec<(SystemKey, TypeId)>,
    ) -> Option<Vec<bool>> {
        if self.action == Action::RunAll {
            return None;
        }
        let number = self.schedules.iter().position(|stepped| stepped.label == *label)?;
        self.schedules[number].systems = systems;
        let index = self.place_of(label);
        let stepped = &self.schedules[number];
        let is_here = index == self.at.0;
        let action = if is_here { self.action } else { Action::Waiting };
        let mut at = if is_here { stepped.next_stop(self.at.1) } else { None };
        let mut held = Vec::with_capacity(stepped.systems.len());
        let (start, resumed) = (at, !self.moved);
        let mut goes_on = action != Action::Waiting;
        for (position, system) in stepped.systems.iter().enumerate() {
            let runs = match stepped.behavior(*system) {
                Behavior::AlwaysRun => true,
                Behavior::NeverRun => false,
                behavior if goes_on && at == Some(position) => {
                    // A cursor that stands at a breakpoint has seen it.
                    let breaks = action == Action::Continue && behavior == Behavior::Break;
                    goes_on = action == Action::Continue && (!breaks || (start == at && resumed));
                    let runs = !breaks || goes_on;
                    if runs {
                        at = stepped.next_stop(position + 1);
                        self.moved = true;
                    }
                    runs
                }
                _ => false,
            };
            held.push(!runs);
        }
        if is_here {
            let stepped_once = action == Action::Step && start.is_some();
            match at {
                Some(at) => self.at.1 = at,
                None => self.at = (index + 1, 0),
            }
            if stepped_once {
                self.action = Action::Waiting;
            }
        }
        Some(held)
    }

    /// The position of a schedule in the order; a new one comes after the one that ran before it.
    fn place_of(&mut self, label: &Label) -> usize {
        let known = self.order.iter().position(|known| known == label);
        let place = known.unwrap_or_else(|| {
            let place = self.previous.map_or(0, |previous| previous + 1);
            self.order.insert(place, label.clone());
            place
        });
        self.previous = Some(place);
        place
    }
}

fn function<O, M>(system: impl IntoSystem<(), O, M>) -> Who {
    Who::Function(system.into_system().key())
}
