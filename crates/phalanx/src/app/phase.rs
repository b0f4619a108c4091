//! The phases of an app.
//!
//! Thirteen exist from the start; users add their own beside them. A phase is a label, a schedule, and when it runs.
//! A phase without systems is skipped.

use std::time::Duration;

use crate::schedule::{Label, Schedule, ScheduleLabel};

macro_rules! phases {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name;

        impl ScheduleLabel for $name {}
    )*};
}

phases! {
    /// Runs once, first of all.
    PreStartup
    /// Runs once, when the app starts.
    Startup
    /// Runs once, after start-up.
    PostStartup
    /// Runs first in each frame, before fixed steps.
    First
    /// Runs first in each fixed step.
    FixedFirst
    /// Runs in each fixed step, before [`FixedUpdate`].
    FixedPreUpdate
    /// Runs with a fixed time step, as often as time demands, before the rest of the frame.
    FixedUpdate
    /// Runs in each fixed step, after [`FixedUpdate`].
    FixedPostUpdate
    /// Runs last in each fixed step.
    FixedLast
    /// Runs in each frame, before [`Update`]. Changes of [states](crate::state) follow it.
    PreUpdate
    /// Runs in each frame: where most systems belong.
    Update
    /// Runs in each frame, after [`Update`].
    PostUpdate
    /// Runs last in each frame.
    Last
}

/// When a phase runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Startup,
    /// In each frame, before fixed steps.
    First,
    Fixed,
    Update,
    /// Only when asked.
    Asked,
}

pub(crate) struct Phase {
    pub(crate) label: Label,
    pub(crate) when: When,
    pub(crate) schedule: Schedule,
    /// Whether states change right after it.
    pub(crate) then_transitions: bool,
    pub(crate) runs: u64,
    pub(crate) total: Duration,
}

impl Phase {
    pub(crate) fn new(label: Label, when: When) -> Self {
        let schedule = Schedule::labelled(label.clone());
        Self { label, when, schedule, then_transitions: false, runs: 0, total: Duration::ZERO }
    }
}

/// The phases that exist from the start.
pub(crate) fn standard() -> Vec<Phase> {
    let mut phases = vec![
        Phase::new(PreStartup.label(), When::Startup),
        Phase::new(Startup.label(), When::Startup),
        Phase::new(PostStartup.label(), When::Startup),
        Phase::new(First.label(), When::First),
        Phase::new(FixedFirst.label(), When::Fixed),
        Phase::new(FixedPreUpdate.label(), When::Fixed),
        Phase::new(FixedUpdate.label(), When::Fixed),
        Phase::new(FixedPostUpdate.label(), When::Fixed),
        Phase::new(FixedLast.label(), When::Fixed),
        Phase::new(PreUpdate.label(), When::Update),
        Phase::new(Update.label(), When::Update),
        Phase::new(PostUpdate.label(), When::Update),
        Phase::new(Last.label(), When::Update),
    ];
    let pre_update = PreUpdate.label();
    phases.iter_mut().for_each(|phase| phase.then_transitions = phase.label == pre_update);
    phases
}
