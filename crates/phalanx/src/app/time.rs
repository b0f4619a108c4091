//! The time of an app, as systems read it: `Res<Time>`.
//!
//! In the fixed phases `delta` is the fixed step, elsewhere it is that of the frame. Sums are kept in 64 bits, so that
//! long runs do not slow down; single steps are handed out as `f32`.

use crate::resources::Resource;

/// What time it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    delta: f64,
    elapsed: f64,
    fixed_delta: f64,
    fixed_steps: u64,
    alpha: f64,
    frame: u64,
}

impl Resource for Time {}

#[allow(clippy::cast_possible_truncation, reason = "single steps need no more than 32 bits")]
impl Time {
    pub(crate) fn new(fixed_delta: f64) -> Self {
        Self { delta: 0.0, elapsed: 0.0, fixed_delta, fixed_steps: 0, alpha: 0.0, frame: 0 }
    }

    /// Seconds since the last frame; in the fixed phases, the fixed step.
    pub fn delta(&self) -> f32 {
        self.delta as f32
    }

    /// As [`Time::delta`], in 64 bits.
    pub fn delta_f64(&self) -> f64 {
        self.delta
    }

    /// Seconds since the first frame began, this frame included.
    pub fn elapsed(&self) -> f32 {
        self.elapsed as f32
    }

    /// As [`Time::elapsed`], in 64 bits.
    pub fn elapsed_f64(&self) -> f64 {
        self.elapsed
    }

    /// Seconds per fixed step.
    pub fn fixed_delta(&self) -> f32 {
        self.fixed_delta as f32
    }

    /// How many fixed steps were begun so far.
    pub fn fixed_steps(&self) -> u64 {
        self.fixed_steps
    }

    /// How far the time is between the last fixed step and the next: 0 to 1, for drawing in between.
    pub fn alpha(&self) -> f32 {
        self.alpha as f32
    }

    /// How many frames were begun so far; the first is 1, during start-up it is 0.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    pub(crate) fn set_fixed(&mut self, seconds: f64) {
        self.fixed_delta = seconds;
    }

    pub(crate) fn begin_frame(&mut self, dt: f64) {
        self.delta = dt;
        self.elapsed += dt;
        self.frame += 1;
    }

    pub(crate) fn begin_step(&mut self, step: f64) {
        self.delta = step;
        self.fixed_steps += 1;
    }

    pub(crate) fn set_delta(&mut self, dt: f64) {
        self.delta = dt;
    }

    pub(crate) fn set_alpha(&mut self, alpha: f64) {
        self.alpha = alpha;
    }
}
