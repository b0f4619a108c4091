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

use std::any::Any;
use std::fmt::Debug;
use std::time::Duration;

use phalanx_store::Duplicate;

use super::{App, Plugin};
use crate::capture::probe::shown;
use crate::capture::{Capture, Copying, DigestHasher, Shown};
use crate::resources::Resource;
use crate::tracking::{Readable, RowTicks, Tracked};

pub use real::Real;

mod real;
#[cfg(feature = "serde")]
mod saving;

/// Does nothing: every app has its clocks. The plugin is there for programs that name it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimePlugin;

impl Plugin for TimePlugin {
    fn build(&self, _: &mut App) {}
}

/// What time it is, on one of the clocks of an app: `Time` is the one that fits the phase.
///
/// ```
/// # use phalanx::prelude::*;
/// fn clock(time: Res<Time>, fixed: Res<Time<Fixed>>, mut game: ResMut<Time<Virtual>>) {
///     println!("{} s since the last frame, steps of {:?}", time.delta_secs(), fixed.timestep());
///     game.set_relative_speed(0.5); // slow motion from the next frame on
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, clock);
/// app.step(0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time<C = ()> {
    clock: C,
    delta: Duration,
    elapsed: Duration,
    wrap_period: Duration,
    frame: u64,
    alpha: f64,
}

/// After how long [`Time::elapsed_wrapped`] begins again, unless it is set: an hour.
const WRAP_PERIOD: Duration = Duration::from_secs(3600);

impl<C: Default> Default for Time<C> {
    fn default() -> Self {
        Self::new_with(C::default())
    }
}

/// The clock of [`Time<Virtual>`](Time): may be paused, and run at another speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Virtual {
    paused: bool,
    speed: f64,
    effective: f64,
    max_delta: Duration,
    /// Whether the maximum was set, and holds for steps that are given, too.
    is_limit_set: bool,
}

impl Default for Virtual {
    fn default() -> Self {
        let max_delta = Duration::from_millis(250);
        Self { paused: false, speed: 1.0, effective: 1.0, max_delta, is_limit_set: false }
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

impl<C: Send + Sync + 'static> Resource for Time<C> {
    /// The clocks of an app are restored and compared, but for the real one, which no checkpoint can turn back. Those
    /// of other types are what `register_checkpoint_of_resource` makes of them.
    fn capture() -> Capture<Self> {
        fn of<C: Copy + Debug + Send + Sync + 'static, T: 'static>() -> Option<Capture<T>> {
            let digest = |time: &Time<C>, hasher: &mut DigestHasher| {
                hasher.debug(time);
                true
            };
            let show = |time: &Time<C>, fields: &mut Vec<Shown>| {
                let mut hasher = DigestHasher::new();
                hasher.debug(time);
                fields.push(shown("", time, Some(format!("{time:?}")), (true, hasher)));
            };
            let copying = Copying::By(Duplicate::bytes());
            let capture: Capture<Time<C>> = Capture::none().copying(copying).digesting(digest, show);
            let capture: &dyn Any = &capture;
            capture.downcast_ref::<Capture<T>>().copied()
        }
        let real: &dyn Any = &Capture::<Time<Real>>::none().copying(Copying::Skip).without_digest();
        let real = real.downcast_ref::<Capture<Self>>().copied();
        real.or_else(of::<(), Self>)
            .or_else(of::<Virtual, Self>)
            .or_else(of::<Fixed, Self>)
            .unwrap_or_default()
    }

    #[cfg(feature = "serde")]
    fn saving() -> Option<crate::resources::ResourceSaving> {
        saving::saving::<C>()
    }
}

impl<C: Send + Sync + 'static> Tracked for Time<C> {
    type Track = RowTicks;
}

impl<C: Send + Sync + 'static> Readable for Time<C> {
    type Ref<'a> = &'a Self;
}

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

    /// After how long [`Time::elapsed_wrapped`] begins again at zero: an hour, unless it is set.
    pub fn wrap_period(&self) -> Duration {
        self.wrap_period
    }

    /// Sets after how long [`Time::elapsed_wrapped`] begins again at zero, from now on.
    ///
    /// `Time` shows another clock in each phase, with that clock's period: set that of `Time<Virtual>` or `Time<Fixed>`.
    ///
    /// # Panics
    /// When the period is zero.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use std::time::Duration;
    /// let mut time = Time::<Virtual>::default();
    /// time.set_wrap_period(Duration::from_secs(10));
    /// time.advance_by(Duration::from_secs(23));
    /// assert_eq!(time.elapsed_wrapped(), Duration::from_secs(3));
    /// ```
    #[track_caller]
    pub fn set_wrap_period(&mut self, period: Duration) {
        assert!(!period.is_zero(), "time cannot begin again after zero: give a longer period");
        self.wrap_period = period;
    }

    /// As [`Time::elapsed`], modulo the [`wrap_period`](Time::wrap_period): a small number, which 32 bits hold with the
    /// same precision however long a program runs.
    pub fn elapsed_wrapped(&self) -> Duration {
        const NANOS: u128 = 1_000_000_000;
        let rest = self.elapsed.as_nanos() % self.wrap_period.as_nanos();
        let secs = u64::try_from(rest / NANOS).expect("the rest is less than a duration");
        let nanos = u32::try_from(rest % NANOS).expect("less than a second");
        Duration::new(secs, nanos)
    }

    /// As [`Time::elapsed_wrapped`], in seconds.
    pub fn elapsed_secs_wrapped(&self) -> f32 {
        self.elapsed_wrapped().as_secs_f32()
    }

    /// As [`Time::elapsed_wrapped`], in seconds with 64 bits.
    pub fn elapsed_secs_wrapped_f64(&self) -> f64 {
        self.elapsed_wrapped().as_secs_f64()
    }

    /// How many frames were begun so far; the first is 1, during start-up it is 0.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// What belongs to this clock alone.
    pub fn context(&self) -> &C {
        &self.clock
    }

    /// As [`Time::context`], to be changed.
    pub fn context_mut(&mut self) -> &mut C {
        &mut self.clock
    }

    /// The time on this clock, without what belongs to it alone.
    pub fn as_generic(&self) -> Time {
        let Self { delta, elapsed, wrap_period, frame, alpha, .. } = *self;
        Time { clock: (), delta, elapsed, wrap_period, frame, alpha }
    }

    /// A clock that stands at zero.
    pub fn new_with(clock: C) -> Self {
        let (delta, elapsed) = (Duration::ZERO, Duration::ZERO);
        Self { clock, delta, elapsed, wrap_period: WRAP_PERIOD, frame: 0, alpha: 0.0 }
    }

    /// Moves the clock on to a time. The app does it for its clocks.
    ///
    /// # Panics
    /// When that time is over.
    #[track_caller]
    pub fn advance_to(&mut self, elapsed: Duration) {
        let Some(delta) = elapsed.checked_sub(self.elapsed) else {
            panic!("time cannot go back from {:?} to {elapsed:?}: advance to a later time", self.elapsed)
        };
        self.advance_by(delta);
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
        self.wrap_period = other.wrap_period;
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
    /// A clock on which a frame may take this time at most.
    ///
    /// # Panics
    /// When it is zero.
    #[track_caller]
    pub fn from_max_delta(most: Duration) -> Self {
        let mut time = Self::default();
        time.set_max_delta(most);
        time
    }

    /// Whether the clock stood still in this frame.
    pub fn was_paused(&self) -> bool {
        self.clock.effective <= 0.0
    }

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

    /// How fast the clock ran in this frame; 0 when it was paused, and less than the speed that was set where the frame was
    /// longer than [`max_delta`](Self::max_delta).
    #[allow(clippy::cast_possible_truncation, reason = "a factor needs no more than 32 bits")]
    pub fn effective_speed(&self) -> f32 {
        self.clock.effective as f32
    }

    /// As [`effective_speed`](Self::effective_speed), with 64 bits.
    pub fn effective_speed_f64(&self) -> f64 {
        self.clock.effective
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

    /// The most time that a frame may take on this clock, whatever its speed: 250 ms unless it is set.
    ///
    /// It keeps one slow frame, or a pause in a debugger, from being caught up with at once. `App::update` keeps to it;
    /// `App::step`, which is given the time, only once it is set.
    pub fn max_delta(&self) -> Duration {
        self.clock.max_delta
    }

    /// Sets the most time that a frame may take on this clock, for `App::update` and for `App::step`.
    ///
    /// # Panics
    /// When it is zero.
    #[track_caller]
    pub fn set_max_delta(&mut self, most: Duration) {
        assert!(!most.is_zero(), "a frame may not take zero at most: to stop the clock, pause it");
        self.clock.max_delta = most;
        self.clock.is_limit_set = true;
    }

    /// The most time that a step may take which is given by the caller.
    pub(crate) fn max_step(&self) -> Duration {
        if self.clock.is_limit_set { self.clock.max_delta } else { Duration::MAX }
    }

    /// What a frame of `real` time takes on this clock, `most` at most, and how fast it runs then; `None` when that is too
    /// much time.
    pub(crate) fn delta_of(&self, real: Duration, most: Duration) -> Option<(Duration, f64)> {
        let Virtual { paused, speed, .. } = self.clock;
        let speed = if paused { 0.0 } else { speed };
        let scaled = match speed.to_bits() == 1.0f64.to_bits() {
            // Exact where nothing is to be multiplied.
            true => Some(real),
            false => Duration::try_from_secs_f64(real.as_secs_f64() * speed).ok(),
        };
        match scaled {
            Some(scaled) if scaled <= most => Some((scaled, speed)),
            None if most == Duration::MAX => None,
            _ => Some((most, most.as_secs_f64() / real.as_secs_f64())),
        }
    }

    pub(crate) fn note_speed(&mut self, speed: f64) {
        self.clock.effective = speed;
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

    /// Sets how many steps a second has.
    ///
    /// # Panics
    /// When the number is not positive.
    #[track_caller]
    pub fn set_timestep_hz(&mut self, hz: f64) {
        self.set_timestep_seconds(1.0 / hz);
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

    /// Adds to the time since the last step. The app does it with the time of each frame.
    pub fn accumulate_overstep(&mut self, delta: Duration) {
        self.clock.overstep = self.clock.overstep.saturating_add(delta);
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
