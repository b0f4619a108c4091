//! How an app behaves.
//!
//! Everything has a default; write what differs and `..Default::default()`. The configuration may change at any
//! time between two frames.

use std::time::Duration;

use crate::schedule::Threads;
use crate::world::FlushOrder;

/// How an app behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct AppConfig {
    /// Seconds per fixed step; 1/60 by default.
    pub fixed_timestep: f64,
    /// How many fixed steps one frame may take; 4 by default. Time beyond that is lost.
    pub max_fixed_steps: u32,
    /// In which order commands take effect; as recorded by default.
    pub flush_order: FlushOrder,
    /// On which threads systems run.
    pub threads: Threads,
    /// What takes less than this stays on the calling thread; zero means that nothing does.
    pub small_phase: Duration,
    /// Whether the time of phases and systems is taken; off by default.
    pub timings: bool,
    /// Whether an order relative to a system that is not in the phase is an error; by default it is ignored, and
    /// listed in [`warnings`](crate::schedule::ScheduleView::warnings).
    pub strict: bool,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self {
            fixed_timestep: 1.0 / 60.0,
            max_fixed_steps: 4,
            flush_order: FlushOrder::Recorded,
            threads: Threads::Auto,
            small_phase: Duration::from_micros(20),
            timings: false,
            strict: false,
        }
    }
}
