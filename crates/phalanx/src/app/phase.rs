//! The phases of an app.
//!
//! Seven exist from the start; users add their own beside them. A phase is a label, a schedule, and when it runs.

use std::time::Duration;

use crate::schedule::{Label, Schedule, ScheduleLabel};

macro_rules! phases {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Runs with a fixed time step, as often as time demands, before the rest of the frame.
    FixedUpdate
    /// Runs in each frame, before [`Update`].
    PreUpdate
    /// Runs in each frame: where most systems belong.
    Update
    /// Runs in each frame, after [`Update`].
    PostUpdate
}

/// When a phase runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Startup,
    Fixed,
    Update,
    /// Only when asked.
    Asked,
}

pub(crate) struct Phase {
    pub(crate) label: Label,
    pub(crate) when: When,
    pub(crate) schedule: Schedule,
    pub(crate) runs: u64,
    pub(crate) total: Duration,
}

impl Phase {
    pub(crate) fn new(label: Label, when: When) -> Self {
        Self { label, when, schedule: Schedule::new(), runs: 0, total: Duration::ZERO }
    }
}

/// The seven phases.
pub(crate) fn standard() -> Vec<Phase> {
    vec![
        Phase::new(PreStartup.label(), When::Startup),
        Phase::new(Startup.label(), When::Startup),
        Phase::new(PostStartup.label(), When::Startup),
        Phase::new(FixedUpdate.label(), When::Fixed),
        Phase::new(PreUpdate.label(), When::Update),
        Phase::new(Update.label(), When::Update),
        Phase::new(PostUpdate.label(), When::Update),
    ]
}
