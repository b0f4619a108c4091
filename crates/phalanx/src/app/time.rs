//! The time of an app, as systems read it: `Res<Time>`, and the clocks behind it.
//!
//! ```text
//!   Time<Real>      what `step` or the clock gave
//!   Time<Virtual>   the same, unless paused or at another speed
//!   Time<Fixed>     follows the virtual clock in steps of one length
//!   Time            in the fixed phases a copy of the fixed clock, elsewhere of the virtual one
//! ```
//!
//! Times are whole nanoseconds: sums are exact, and the same on every machine.

use std::time::Duration;

use crate::resources::Resource;

/// What time it is, on one of the clocks of an app: `Time` is the one that fits the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Time<C = ()> {
    clock: C,
    delta: Duration,
    elapsed: Duration,
    frame: u64,
    alpha: f64,
}

/// The clock of [`Time<Real>`](Time): neither paused nor slowed down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Real;

/// The clock of [`Time<Virtual>`](Time): may be paused, and run at another speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Virtual {
    paused: bool,
    speed: f64,
    effective: f64,
    max_delta: Duration,
}

impl Default for Virtual {
    fn default() -> Self {
        Self { paused: false, speed: 1.0, effective: 1.0, max_delta: Duration::MAX }
    }
}

/// The clock of [`Time<Fixed>`](Time): goes on in steps of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    timestep: Duration,
    overstep: Duration,
    steps: u64,
}

impl Default for Fixed {
    fn default() -> Self {
        Self { timestep: Duration::from_nanos(16_666_667), overstep: Duration::ZERO, steps: 0 }
    }
}

impl<C: Send + Sync + 'static> Resource for Time<C> {}

impl<C> Time<C> {
    /// The time since the frame before; in the fixed phases, the fixed step.
    pub fn delta(&self) -> Duration {
        self.delta
    }

    /// As [`Time::delta`], in seconds.
    pub fn delta_secs(&self) -> f32 {
        self.delta.as_secs_f32()
    }

    /// As [`Time::delta`], in seconds with 64 bits.
    pub fn delta_secs_f64(&self) -> f64 {
        self.delta.as_secs_f64()
    }

    /// The time since the first frame began, this frame or step included.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// As [`Time::elapsed`], in seconds. Long runs are better served by [`Time::elapsed_secs_f64`].
    pub fn elapsed_secs(&self) -> f32 {
        self.elapsed.as_secs_f32()
    }

    /// As [`Time::elapsed`], in seconds with 64 bits.
    pub fn elapsed_secs_f64(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }

    /// How many frames were begun so far; the first is 1, during start-up it is 0.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Moves the clock on. The app does it for its clocks.
    ///
    /// # Panics
    /// When the time elapsed overflows, after about 584 billion years.
    pub fn advance_by(&mut self, delta: Duration) {
        self.delta = delta;
        self.elapsed += delta;
    }
}

impl Time {
    /// How far the time is between the last fixed step and the next: 0 to 1, for drawing in between. Inside a fixed
    /// step, how far it is after that step.
    #[allow(clippy::cast_possible_truncation, reason = "a fraction needs no more than 32 bits")]
    pub fn alpha(&self) -> f32 {
        self.alpha as f32
    }

    /// Shows another clock from now on.
    pub(crate) fn show<C>(&mut self, other: &Time<C>) {
        (self.delta, self.elapsed, self.frame) = (other.delta, other.elapsed, other.frame);
    }

    pub(crate) fn set_alpha(&mut self, alpha: f64) {
        self.alpha = alpha.min(1.0);
    }
}

impl<C> Time<C> {
    pub(crate) fn begin_frame(&mut self, frame: u64, delta: Duration) {
        self.frame = frame;
        self.delta = delta;
        self.elapsed = self.elapsed.saturating_add(delta);
    }
}

impl Time<Virtual> {
    /// Stops the clock from the next frame on: frames then take no time, and there are no fixed steps.
    pub fn pause(&mut self) {
        self.clock.paused = true;
    }

    /// Lets the clock go on from the next frame on.
    pub fn unpause(&mut self) {
        self.clock.paused = false;
    }

    /// Pauses, or goes on.
    pub fn toggle(&mut self) {
        self.clock.paused = !self.clock.paused;
    }

    /// Whether the clock is stopped.
    pub fn is_paused(&self) -> bool {
        self.clock.paused
    }

    /// How fast the clock runs when it is not paused: 2 is twice as fast as the real one.
    #[allow(clippy::cast_possible_truncation, reason = "a factor needs no more than 32 bits")]
    pub fn relative_speed(&self) -> f32 {
        self.clock.speed as f32
    }

    /// As [`relative_speed`](Self::relative_speed), with 64 bits.
    pub fn relative_speed_f64(&self) -> f64 {
        self.clock.speed
    }

    /// How fast the clock ran in this frame; 0 when it was paused.
    #[allow(clippy::cast_possible_truncation, reason = "a factor needs no more than 32 bits")]
    pub fn effective_speed(&self) -> f32 {
        self.clock.effective as f32
    }

    /// Sets how fast the clock runs, from the next frame on.
    ///
    /// # Panics
    /// When the speed is negative or not finite.
    #[track_caller]
    pub fn set_relative_speed(&mut self, speed: f32) {
        self.set_relative_speed_f64(f64::from(speed));
    }

    /// As [`set_relative_speed`](Self::set_relative_speed), with 64 bits.
    ///
    /// # Panics
    /// When the speed is negative or not finite.
    #[track_caller]
    pub fn set_relative_speed_f64(&mut self, speed: f64) {
        assert!(speed.is_finite() && speed >= 0.0, "time cannot run at speed {speed}: give zero or more");
        self.clock.speed = speed;
    }

    /// The most time that a frame may take on this clock; without limit unless it is set.
    pub fn max_delta(&self) -> Duration {
        self.clock.max_delta
    }

    /// Sets the most time that a frame may take on this clock.
    pub fn set_max_delta(&mut self, most: Duration) {
        self.clock.max_delta = most;
    }

    /// What a frame of `real` takes on this clock; `None` when that is too much to count.
    pub(crate) fn delta_of(&self, real: Duration) -> Option<Duration> {
        let Virtual { paused, speed, max_delta, .. } = self.clock;
        let delta = match paused {
            true => Duration::ZERO,
            // Exact where nothing is to be multiplied.
            false if speed.to_bits() == 1.0f64.to_bits() => real,
            false => Duration::try_from_secs_f64(real.as_secs_f64() * speed).ok()?,
        };
        Some(delta.min(max_delta))
    }

    pub(crate) fn note_speed(&mut self) {
        self.clock.effective = if self.clock.paused { 0.0 } else { self.clock.speed };
    }
}

impl Time<Fixed> {
    /// A clock with steps of this length.
    ///
    /// # Panics
    /// When the length is zero.
    #[track_caller]
    pub fn from_duration(timestep: Duration) -> Self {
        let mut time = Self::default();
        time.set_timestep(timestep);
        time
    }

    /// A clock with steps of this many seconds.
    ///
    /// # Panics
    /// When the length is not a positive number.
    #[track_caller]
    pub fn from_seconds(seconds: f64) -> Self {
        let mut time = Self::default();
        time.set_timestep_seconds(seconds);
        time
    }

    /// A clock with this many steps per second.
    ///
    /// # Panics
    /// When the number is not positive.
    #[track_caller]
    pub fn from_hz(hz: f64) -> Self {
        Self::from_seconds(1.0 / hz)
    }

    /// How long a step is.
    pub fn timestep(&self) -> Duration {
        self.clock.timestep
    }

    /// Sets how long a step is.
    ///
    /// # Panics
    /// When the length is zero.
    #[track_caller]
    pub fn set_timestep(&mut self, timestep: Duration) {
        assert!(!timestep.is_zero(), "a fixed timestep of zero would never end: give a longer one");
        self.clock.timestep = timestep;
    }

    /// Sets how many seconds a step takes.
    ///
    /// # Panics
    /// When the length is not a positive number.
    #[track_caller]
    pub fn set_timestep_seconds(&mut self, seconds: f64) {
        match Duration::try_from_secs_f64(seconds) {
            Ok(timestep) if !timestep.is_zero() => self.clock.timestep = timestep,
            _ => panic!("the fixed timestep is {seconds}: give a positive number of seconds"),
        }
    }

    /// The time since the last step that was not enough for another one.
    pub fn overstep(&self) -> Duration {
        self.clock.overstep
    }

    /// As [`overstep`](Self::overstep), as a fraction of a step.
    #[allow(clippy::cast_possible_truncation, reason = "a fraction needs no more than 32 bits")]
    pub fn overstep_fraction(&self) -> f32 {
        self.overstep_fraction_f64() as f32
    }

    /// As [`overstep_fraction`](Self::overstep_fraction), with 64 bits.
    pub fn overstep_fraction_f64(&self) -> f64 {
        self.clock.overstep.as_secs_f64() / self.clock.timestep.as_secs_f64()
    }

    /// Forgets the time since the last step.
    pub fn discard_overstep(&mut self) {
        self.clock.overstep = Duration::ZERO;
    }

    /// How many steps were begun so far.
    pub fn steps(&self) -> u64 {
        self.clock.steps
    }

    /// Takes the time of a frame, and returns how many steps are due: at most `most`, time beyond that is lost.
    pub(crate) fn accumulate(&mut self, delta: Duration, most: u32) -> u32 {
        let Fixed { timestep, overstep, .. } = &mut self.clock;
        *overstep = overstep.saturating_add(delta).min(timestep.saturating_mul(most));
        // Three steps of a 60th are a nanosecond longer than a 20th: rounding must not cost a step.
        let due = (overstep.as_nanos() + u128::from(most)) / timestep.as_nanos();
        u32::try_from(due).unwrap_or(most).min(most)
    }

    /// Begins a step.
    pub(crate) fn begin_step(&mut self, frame: u64) {
        self.frame = frame;
        let timestep = self.clock.timestep;
        self.clock.overstep = self.clock.overstep.saturating_sub(timestep);
        self.clock.steps += 1;
        self.delta = timestep;
        self.elapsed = self.elapsed.saturating_add(timestep);
    }
}
