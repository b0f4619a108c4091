//! How an app behaves.
//!
//! Everything has a default; write what differs and `..Default::default()`. The configuration may change at any
//! time between two frames.

use std::time::Duration;

use crate::schedule::{LogLevel, SyncPoints, Threads};
use crate::world::FlushOrder;

/// Where in a frame the fixed steps are.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.configure(AppConfig { fixed_place: FixedPlace::BeforeUpdate, ..Default::default() }); // as in bevy
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixedPlace {
    /// Before everything else.
    #[default]
    FrameStart,
    /// Right before `Update`, behind `PreUpdate`.
    BeforeUpdate,
}

/// How an app behaves.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.configure(AppConfig { fixed_timestep: 1.0 / 50.0, threads: Threads::Serial, ..Default::default() });
/// assert_eq!(app.config().max_fixed_steps, 4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AppConfig {
    /// Seconds per fixed step; 1/60 by default.
    pub fixed_timestep: f64,
    /// Where in a frame the fixed steps are; at its start by default.
    pub fixed_place: FixedPlace,
    /// The time that each [`App::update`](super::App::update) takes; by default that since the last call.
    pub update_step: Option<Duration>,
    /// How many fixed steps one frame may take; 4 by default. Time beyond that is lost.
    pub max_fixed_steps: u32,
    /// In which order commands take effect; as recorded by default.
    pub flush_order: FlushOrder,
    /// When commands take effect: where the order of systems asks for it, by default.
    pub sync: SyncPoints,
    /// On which threads systems run.
    pub threads: Threads,
    /// What takes less than this stays on the calling thread; zero means that nothing does.
    pub small_phase: Duration,
    /// Whether a command on an entity that was despawned is an error for the handler; by default it is skipped and
    /// counted. Commands that begin with `try_` are always skipped and counted.
    pub report_dead: bool,
    /// Whether the time of phases and systems is taken; off by default.
    pub timings: bool,
    /// Whether an order relative to a system that is not in the phase is an error; by default it is ignored, and
    /// listed in [`warnings`](crate::schedule::ScheduleView::warnings).
    pub strict: bool,
    /// What happens when two systems of a phase conflict and their order was not declared; nothing by default. They are
    /// listed in [`ambiguities`](crate::schedule::ScheduleView::ambiguities) in any case.
    pub ambiguities: LogLevel,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self {
            fixed_timestep: 1.0 / 60.0,
            fixed_place: FixedPlace::FrameStart,
            update_step: None,
            max_fixed_steps: 4,
            flush_order: FlushOrder::Recorded,
            sync: SyncPoints::Ordered,
            threads: Threads::Auto,
            small_phase: Duration::from_micros(20),
            report_dead: false,
            timings: false,
            strict: false,
            ambiguities: LogLevel::Ignore,
        }
    }
}
