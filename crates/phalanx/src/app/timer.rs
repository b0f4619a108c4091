//! Measuring time in systems: stopwatches, timers, and conditions made of them.
//!
//! Neither knows a clock: the owner ticks it with the `delta` of the clock that is meant.

use std::time::Duration;

use super::time::{Real, Time, Virtual};
use crate::system::Res;

/// Counts time while it is not paused.
///
/// ```
/// # use phalanx::prelude::*;
/// use std::time::Duration;
///
/// let mut watch = Stopwatch::new();
/// watch.tick(Duration::from_millis(1500));
/// assert_eq!(watch.elapsed_secs(), 1.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopwatch {
    elapsed: Duration,
    paused: bool,
}

impl Stopwatch {
    /// A stopwatch at zero, running.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time counted.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// As [`Stopwatch::elapsed`], in seconds.
    pub fn elapsed_secs(&self) -> f32 {
        self.elapsed.as_secs_f32()
    }

    /// As [`Stopwatch::elapsed`], in seconds with 64 bits.
    pub fn elapsed_secs_f64(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }

    /// Sets the time counted.
    pub fn set_elapsed(&mut self, time: Duration) {
        self.elapsed = time;
    }

    /// Counts `delta`, unless it is paused.
    pub fn tick(&mut self, delta: Duration) -> &Self {
        if !self.paused {
            self.elapsed = self.elapsed.saturating_add(delta);
        }
        self
    }

    /// Stops counting.
    pub fn pause(&mut self) {
        self.paused = true;
    }

    /// Goes on counting.
    pub fn unpause(&mut self) {
        self.paused = false;
    }

    /// Whether it does not count.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Begins at zero again; it stays paused if it was.
    pub fn reset(&mut self) {
        self.elapsed = Duration::ZERO;
    }
}

/// What a timer does when its time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimerMode {
    /// It is finished, until it is reset.
    #[default]
    Once,
    /// It begins again.
    Repeating,
}

/// Says when a time is over.
///
/// ```
/// use phalanx::prelude::*;
/// use std::time::Duration;
///
/// let mut timer = Timer::from_seconds(1.0, TimerMode::Repeating);
/// assert!(!timer.tick(Duration::from_secs_f32(0.75)).just_finished());
/// assert!(timer.tick(Duration::from_secs_f32(0.75)).just_finished());
/// assert_eq!(timer.elapsed_secs(), 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timer {
    stopwatch: Stopwatch,
    duration: Duration,
    mode: TimerMode,
    finished: bool,
    times_finished: u32,
}

impl Timer {
    /// A timer for a time.
    pub fn new(duration: Duration, mode: TimerMode) -> Self {
        Self { duration, mode, ..Self::default() }
    }

    /// A timer for a time in seconds.
    ///
    /// # Panics
    /// When the time is negative or too long to count.
    #[track_caller]
    pub fn from_seconds(seconds: f32, mode: TimerMode) -> Self {
        Self::new(Duration::from_secs_f32(seconds), mode)
    }

    /// Whether the time is over; for a repeating timer, whether it was in the last tick.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether the time was over in the last tick.
    pub fn just_finished(&self) -> bool {
        self.times_finished > 0
    }

    /// How often the time was over in the last tick; at most once unless the timer repeats.
    pub fn times_finished_this_tick(&self) -> u32 {
        self.times_finished
    }

    /// The time counted, of this round.
    pub fn elapsed(&self) -> Duration {
        self.stopwatch.elapsed()
    }

    /// As [`Timer::elapsed`], in seconds.
    pub fn elapsed_secs(&self) -> f32 {
        self.stopwatch.elapsed_secs()
    }

    /// As [`Timer::elapsed`], in seconds with 64 bits.
    pub fn elapsed_secs_f64(&self) -> f64 {
        self.stopwatch.elapsed_secs_f64()
    }

    /// Sets the time counted; what is over shows at the next tick.
    pub fn set_elapsed(&mut self, time: Duration) {
        self.stopwatch.set_elapsed(time);
    }

    /// The time that the timer is for.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Sets the time that the timer is for.
    pub fn set_duration(&mut self, duration: Duration) {
        self.duration = duration;
    }

    /// Whether the timer repeats.
    pub fn mode(&self) -> TimerMode {
        self.mode
    }

    /// Sets whether the timer repeats. One that was finished begins again when it becomes repeating.
    pub fn set_mode(&mut self, mode: TimerMode) {
        if self.mode != mode && mode == TimerMode::Repeating && self.finished {
            self.stopwatch.reset();
            self.finished = false;
        }
        self.mode = mode;
    }

    /// Counts `delta`, unless the timer is paused.
    pub fn tick(&mut self, delta: Duration) -> &Self {
        if self.is_paused() {
            self.times_finished = 0;
            self.finished &= self.mode == TimerMode::Once;
            return self;
        }
        if self.mode == TimerMode::Once && self.finished {
            self.times_finished = 0;
            return self;
        }
        self.stopwatch.tick(delta);
        self.finished = self.elapsed() >= self.duration;
        self.times_finished = 0;
        if self.finished {
            match self.mode {
                TimerMode::Once => {
                    self.times_finished = 1;
                    self.stopwatch.set_elapsed(self.duration);
                }
                TimerMode::Repeating => self.begin_again(),
            }
        }
        self
    }

    /// Counts the rounds that are over, and goes on with the rest.
    fn begin_again(&mut self) {
        let Some(rounds) = self.elapsed().as_nanos().checked_div(self.duration.as_nanos()) else {
            // A time of zero is over all the time.
            self.times_finished = u32::MAX;
            return self.stopwatch.reset();
        };
        self.times_finished = u32::try_from(rounds).unwrap_or(u32::MAX);
        let rest = self.elapsed().as_nanos() % self.duration.as_nanos();
        let (secs, nanos) = (rest / 1_000_000_000, rest % 1_000_000_000);
        let part = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
        self.stopwatch.set_elapsed(Duration::from_secs(part(secs)) + Duration::from_nanos(part(nanos)));
    }

    /// Stops counting.
    pub fn pause(&mut self) {
        self.stopwatch.pause();
    }

    /// Goes on counting.
    pub fn unpause(&mut self) {
        self.stopwatch.unpause();
    }

    /// Whether it does not count.
    pub fn is_paused(&self) -> bool {
        self.stopwatch.is_paused()
    }

    /// Begins at zero again; it stays paused if it was.
    pub fn reset(&mut self) {
        self.stopwatch.reset();
        self.finished = false;
        self.times_finished = 0;
    }

    /// Ends the round at once, also while the timer is paused.
    pub fn finish(&mut self) {
        let paused = self.is_paused();
        self.unpause();
        let left = self.remaining();
        self.tick(left);
        if paused {
            self.pause();
        }
    }

    /// Lets the time pass but for the last nanosecond.
    pub fn almost_finish(&mut self) {
        let left = self.remaining().saturating_sub(Duration::from_nanos(1));
        self.tick(left);
    }

    /// How much of the time is over: 0 to 1.
    pub fn fraction(&self) -> f32 {
        if self.duration.is_zero() {
            return 1.0;
        }
        self.elapsed().as_secs_f32() / self.duration.as_secs_f32()
    }

    /// How much of the time is left: 1 to 0.
    pub fn fraction_remaining(&self) -> f32 {
        1.0 - self.fraction()
    }

    /// The time that is left.
    pub fn remaining(&self) -> Duration {
        self.duration.saturating_sub(self.elapsed())
    }

    /// As [`Timer::remaining`], in seconds.
    pub fn remaining_secs(&self) -> f32 {
        self.remaining().as_secs_f32()
    }
}

/// A condition that holds each time a duration is over, on the clock of the phase.
///
/// ```
/// # use phalanx::prelude::*;
/// # use std::time::Duration;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(on_timer(Duration::from_secs(2))));
/// app.step(0.1);
/// ```
pub fn on_timer(duration: Duration) -> impl FnMut(Res<'_, Time>) -> bool + Clone {
    let mut timer = Timer::new(duration, TimerMode::Repeating);
    move |time| timer.tick(time.delta()).just_finished()
}

/// A condition that holds each time a duration is over, on the real clock.
///
/// ```
/// # use phalanx::prelude::*;
/// # use std::time::Duration;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(on_real_timer(Duration::from_secs(2))));
/// app.step(0.1);
/// ```
pub fn on_real_timer(duration: Duration) -> impl FnMut(Res<'_, Time<Real>>) -> bool + Clone {
    let mut timer = Timer::new(duration, TimerMode::Repeating);
    move |time| timer.tick(time.delta()).just_finished()
}

/// A condition that holds once, when a duration is over.
///
/// ```
/// # use phalanx::prelude::*;
/// # use std::time::Duration;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(once_after_delay(Duration::from_secs(2))));
/// app.step(0.1);
/// ```
pub fn once_after_delay(duration: Duration) -> impl FnMut(Res<'_, Time>) -> bool + Clone {
    let mut timer = Timer::new(duration, TimerMode::Once);
    move |time| timer.tick(time.delta()).just_finished()
}

/// As [`once_after_delay`], on the real clock.
pub fn once_after_real_delay(duration: Duration) -> impl FnMut(Res<'_, Time<Real>>) -> bool + Clone {
    let mut timer = Timer::new(duration, TimerMode::Once);
    move |time| timer.tick(time.delta()).just_finished()
}

/// A condition that holds always, once a duration is over.
///
/// ```
/// # use phalanx::prelude::*;
/// # use std::time::Duration;
/// use phalanx::app::repeating_after_delay;
///
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(repeating_after_delay(Duration::from_secs(2))));
/// app.step(0.1);
/// ```
pub fn repeating_after_delay(duration: Duration) -> impl FnMut(Res<'_, Time>) -> bool + Clone {
    let mut timer = Timer::new(duration, TimerMode::Once);
    move |time| timer.tick(time.delta()).is_finished()
}

/// As [`repeating_after_delay`], on the real clock.
pub fn repeating_after_real_delay(duration: Duration) -> impl FnMut(Res<'_, Time<Real>>) -> bool + Clone {
    let mut timer = Timer::new(duration, TimerMode::Once);
    move |time| timer.tick(time.delta()).is_finished()
}

/// Whether the virtual clock is stopped.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(not(paused)));
/// app.step(0.1);
/// ```
#[allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
pub fn paused(time: Res<'_, Time<Virtual>>) -> bool {
    time.is_paused()
}
