//! The real clock: `Time<Real>`, which knows the instants at which it was moved.
//!
//! An app moves its own: by the instant of the frame in `app.update()`, by the time given to `app.step(dt)`, which
//! asks no clock. A clock of one's own is moved by `update` and its siblings. Where a machine has no clock, as in a
//! browser without its bindings, an app goes by steps, and its real clock has no instants.

use std::time::{Duration, Instant};

use super::Time;

/// The clock of [`Time<Real>`](Time): neither paused nor slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Real {
    /// `None` on a machine without a clock.
    startup: Option<Instant>,
    first_update: Option<Instant>,
    last_update: Option<Instant>,
}

impl Default for Real {
    fn default() -> Self {
        // `Instant::now` panics in a browser, where only steps of given lengths are run.
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        Self { startup: has_clock.then(Instant::now), first_update: None, last_update: None }
    }
}

impl Real {
    fn note(&mut self, instant: Option<Instant>) {
        self.first_update = self.first_update.or(instant);
        self.last_update = instant;
    }

    /// The instant that lies `delta` after the last update.
    fn after(&self, delta: Duration) -> Option<Instant> {
        self.last_update.or(self.startup)?.checked_add(delta)
    }
}

impl Time<Real> {
    /// A clock that was started at this instant.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use std::time::{Duration, Instant};
    ///
    /// let startup = Instant::now();
    /// let mut time = Time::<Real>::new(startup);
    /// time.update_with_instant(startup + Duration::from_secs(1)); // the first update starts it
    /// time.update_with_instant(startup + Duration::from_secs(3));
    /// assert_eq!(time.elapsed(), Duration::from_secs(2));
    /// ```
    pub fn new(startup: Instant) -> Self {
        Self::new_with(Real { startup: Some(startup), first_update: None, last_update: None })
    }

    /// Moves the clock on to the present, as [`Time::update_with_instant`] does.
    pub fn update(&mut self) {
        self.update_with_instant(Instant::now());
    }

    /// Moves the clock on to an instant. The first update starts it, and takes no time; nor does one that lies before
    /// the last.
    pub fn update_with_instant(&mut self, instant: Instant) {
        if let Some(last) = self.clock.last_update {
            self.advance_by(instant.saturating_duration_since(last));
        }
        self.clock.note(Some(instant));
    }

    /// Moves the clock on, as [`Time::advance_by`] does, also by the first update. The app does it for its clock.
    pub fn update_with_duration(&mut self, delta: Duration) {
        self.advance_by(delta);
        self.clock.note(self.clock.after(delta));
    }

    /// The instant at which the clock was made; for that of an app, at which the app was.
    ///
    /// # Panics
    /// On a machine without a clock, unless the clock was made by [`Time::new`].
    #[track_caller]
    pub fn startup(&self) -> Instant {
        self.clock.startup.expect("this machine has no clock: make one with `Time::<Real>::new`")
    }

    /// The instant of the first update, or of the first frame.
    pub fn first_update(&self) -> Option<Instant> {
        self.clock.first_update
    }

    /// The instant of the last update, or of this frame. After frames of given lengths (`app.step(dt)`), their sum
    /// after the instant at which the app was made.
    pub fn last_update(&self) -> Option<Instant> {
        self.clock.last_update
    }

    /// Begins a frame of an app, at an instant or after a time that was given.
    pub(crate) fn begin_real_frame(&mut self, frame: u64, delta: Duration, at: Option<Instant>) {
        self.begin_frame(frame, delta);
        self.clock.note(at.or_else(|| self.clock.after(delta)));
    }
}
