//! One frame: the clocks move on, then the phases run.
//!
//! `update` asks the clock how long the frame is, `step` is told. Whatever is wrong with the time is found before
//! anything runs. Fixed steps are at the start of the frame, or right before `Update`.

use std::time::{Duration, Instant};

use super::phase::{Phase, When};
use super::{App, Fixed, FixedPlace, Real, Time, Update, UpdateError, Virtual};
use crate::schedule::ScheduleLabel;

impl App {
    /// Runs one frame. It takes the time since the last call, none in the first, or what
    /// [`AppConfig::update_step`](super::AppConfig::update_step) says. Start-up runs first if it has not yet.
    ///
    /// # Panics
    /// When systems cannot be ordered, or one of them panics or fails; see [`App::try_update`].
    #[track_caller]
    pub fn update(&mut self) {
        if let Err(error) = self.try_update() {
            panic!("{error}");
        }
    }

    /// As [`App::update`], with an error when it cannot begin.
    ///
    /// # Errors
    /// When systems cannot be ordered; then nothing has run.
    pub fn try_update(&mut self) -> Result<(), UpdateError> {
        let now = Instant::now();
        let last = self.last_update.replace(now);
        let since = last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        self.run_frame(self.config.update_step.unwrap_or(since))
    }

    /// Runs one frame of `dt` seconds. Start-up runs first if it has not yet.
    ///
    /// No clock is asked: the same steps give the same world, on every machine.
    ///
    /// # Panics
    /// When `dt` is negative, not finite or too large, systems cannot be ordered, or one of them panics or fails; see
    /// [`App::try_step`].
    #[track_caller]
    pub fn step(&mut self, dt: f64) {
        if let Err(error) = self.try_step(dt) {
            panic!("{error}");
        }
    }

    /// As [`App::step`], with an error when it cannot begin.
    ///
    /// # Errors
    /// When `dt` is negative, not finite or too large, or systems cannot be ordered; then nothing has run.
    pub fn try_step(&mut self, dt: f64) -> Result<(), UpdateError> {
        self.run_frame(Duration::try_from_secs_f64(dt).map_err(|_| UpdateError::Delta { dt })?)
    }

    fn run_frame(&mut self, real: Duration) -> Result<(), UpdateError> {
        let too_long = || UpdateError::Delta { dt: real.as_secs_f64() };
        let clock = self.world.resource::<Time<Virtual>>();
        let delta = clock.delta_of(real).ok_or_else(too_long)?;
        clock.elapsed().checked_add(delta).ok_or_else(too_long)?;
        let elapsed = self.real_elapsed.checked_add(real).ok_or_else(too_long)?;
        self.try_startup()?;
        self.real_elapsed = elapsed;
        self.begin_frame(real, delta);
        let fixed_before = match self.config.fixed_place {
            FixedPlace::FrameStart => {
                self.run_fixed(delta);
                None
            }
            FixedPlace::BeforeUpdate => Some(Update.label()),
        };
        for at in 0..self.phases.len() {
            if fixed_before.as_ref() == Some(&self.phases[at].label) {
                self.run_fixed(delta);
            }
            if self.phases[at].when == When::Update {
                self.run_at(at);
            }
        }
        self.world.end_frame();
        Ok(())
    }

    /// Moves the clocks on.
    fn begin_frame(&mut self, real: Duration, delta: Duration) {
        self.frames += 1;
        self.world.resource_mut::<Time<Real>>().begin_frame(self.frames, real);
        let clock = self.world.resource_mut::<Time<Virtual>>();
        clock.begin_frame(self.frames, delta);
        clock.note_speed();
        let shown = *clock;
        self.world.resource_mut::<Time>().show(&shown);
    }

    /// The fixed phases, as often as their time has come.
    fn run_fixed(&mut self, delta: Duration) {
        let fixed = |phase: &Phase| phase.when == When::Fixed && !phase.schedule.is_empty();
        if !self.phases.iter().any(fixed) {
            return;
        }
        let due = self.world.resource_mut::<Time<Fixed>>().accumulate(delta, self.config.max_fixed_steps);
        for _ in 0..due {
            let fixed = self.world.resource_mut::<Time<Fixed>>();
            fixed.begin_step(self.frames);
            let fixed = *fixed;
            let time = self.world.resource_mut::<Time>();
            time.show(&fixed);
            time.set_alpha(fixed.overstep_fraction_f64());
            self.run_all(When::Fixed);
        }
        let alpha = self.world.resource::<Time<Fixed>>().overstep_fraction_f64();
        let frame = *self.world.resource::<Time<Virtual>>();
        let time = self.world.resource_mut::<Time>();
        time.show(&frame);
        time.set_alpha(alpha);
    }
}
