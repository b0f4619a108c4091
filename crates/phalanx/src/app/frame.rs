//! One frame: the clocks move on, then the phases run.
//!
//! `update` takes the length of the frame from the clock, `step` from its caller. Whatever is wrong with the time is
//! found before anything runs. Fixed steps are at the start of the frame, or right before `Update`.

use std::time::{Duration, Instant};

use super::phase::{Phase, When};
use super::{App, Fixed, FixedPlace, FrameAction, Real, Time, Update, UpdateError, Virtual};
use crate::schedule::{ScheduleLabel, Stepping};

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A phase, by its position.
    Phase(usize),
    /// The fixed phases, as often as their time has come.
    Fixed,
    /// States change.
    Transitions,
}

/// How long a frame takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameTime {
    /// The time it takes on the real clock.
    real: Duration,
    /// How much of it counts at most.
    most: Duration,
    /// When it begins, if a clock was asked.
    at: Option<Instant>,
}

impl App {
    /// The time of a frame whose length is given.
    pub(super) fn given_time(&self, real: Duration) -> FrameTime {
        FrameTime { real, most: self.world.resource::<Time<Virtual>>().max_step(), at: None }
    }

    /// Runs one frame. It takes the time since the last call, none in the first, or what
    /// [`AppConfig::update_step`](super::AppConfig::update_step) says. Start-up runs first if it has not yet.
    ///
    /// Of a frame that takes longer than [`Time<Virtual>::max_delta`](super::Time::max_delta), which is 250 ms unless it
    /// is set, only so much counts; [`Time<Real>`](super::Time) has all of it.
    ///
    /// # Panics
    /// When systems cannot be ordered, or one of them panics or fails; see [`App::try_update`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// let mut app = App::new();
    /// app.init_resource::<Frames>();
    /// app.add_systems(Update, |mut frames: ResMut<Frames>| frames.0 += 1);
    /// app.update();
    /// app.update();
    /// assert_eq!(app.world().resource::<Frames>().0, 2);
    /// ```
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
    #[track_caller]
    pub fn try_update(&mut self) -> Result<(), UpdateError> {
        let action = self.ask_tools();
        let now = Instant::now();
        let last = self.last_update.replace(now);
        let since = last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        let most = self.world.resource::<Time<Virtual>>().max_delta();
        let given = match action {
            FrameAction::Run => self.config.update_step,
            FrameAction::RunFor(delta) => Some(delta),
            FrameAction::Skip => return Ok(()),
        };
        let at = if given.is_none() { Some(now) } else { None };
        self.run_frame(FrameTime { real: given.unwrap_or(since), most, at })
    }

    /// Runs one frame of `dt` seconds. Start-up runs first if it has not yet.
    ///
    /// No clock is asked: the same steps give the same world, on every machine. All of `dt` counts, unless
    /// [`set_max_delta`](super::Time::set_max_delta) said otherwise.
    ///
    /// # Panics
    /// When `dt` is negative, not finite or too large, systems cannot be ordered, or one of them panics or fails; see
    /// [`App::try_step`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Resource, Default)]
    /// # struct Frames(u32);
    /// fn fall(time: Res<Time>) {
    ///     assert_eq!(time.delta_secs(), 0.5);
    /// }
    ///
    /// let mut app = App::new();
    /// app.add_systems(Update, fall);
    /// app.step(0.5); // the same for every run, whatever the clock says
    /// ```
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
    #[track_caller]
    pub fn try_step(&mut self, dt: f64) -> Result<(), UpdateError> {
        match Duration::try_from_secs_f64(dt) {
            Ok(_) if self.ask_tools() == FrameAction::Skip => Ok(()),
            Ok(dt) => self.run_frame(self.given_time(dt)),
            Err(_) => Err(UpdateError::Delta { dt }),
        }
    }

    #[track_caller]
    fn run_frame(&mut self, time: FrameTime) -> Result<(), UpdateError> {
        if self.is_in_frame() {
            self.finish_frame();
            return Ok(());
        }
        let delta = self.start_frame(time)?;
        for at in 0..self.steps.as_ref().map_or(0, Vec::len) {
            match self.steps.as_ref().expect("start-up built the phases")[at] {
                Step::Phase(at) => self.run_at(at),
                Step::Fixed => self.run_fixed(delta),
                Step::Transitions => self.run_transitions(),
            }
        }
        self.end_frame()
    }

    /// Starts up if that has not been done yet, and moves the clocks on.
    #[track_caller]
    pub(super) fn start_frame(&mut self, time: FrameTime) -> Result<Duration, UpdateError> {
        let FrameTime { real, most, .. } = time;
        let too_long = || UpdateError::Delta { dt: real.as_secs_f64() };
        let clock = self.world.resource::<Time<Virtual>>();
        let (delta, speed) = clock.delta_of(real, most).ok_or_else(too_long)?;
        clock.elapsed().checked_add(delta).ok_or_else(too_long)?;
        let elapsed = self.real_elapsed.checked_add(real).ok_or_else(too_long)?;
        self.try_startup()?;
        self.real_elapsed = elapsed;
        self.begin_frame(time, delta, speed);
        if let Some(mut stepping) = self.world.get_resource_mut::<Stepping>() {
            stepping.next_frame();
        }
        Ok(delta)
    }

    /// What comes after all phases.
    #[track_caller]
    pub(super) fn end_frame(&mut self) -> Result<(), UpdateError> {
        self.world.end_frame();
        let beside = match self.sub_apps.is_empty() {
            true => Ok(()),
            false => self.run_sub_apps(self.world.resource::<Time<Real>>().delta()),
        };
        self.note_history();
        self.tell_tools();
        beside
    }

    /// Works out what a frame runs. Phases without systems are left out, unless the frame is observed.
    pub(super) fn plan_frame(&self) -> Vec<Step> {
        let fixed = |phase: &Phase| phase.when == When::Fixed && !phase.schedule.is_empty();
        let mut fixed = self.phases.iter().any(fixed).then_some(Step::Fixed);
        let update = Update.label();
        let first = self.runs(When::First).filter(|&at| self.is_run(&self.phases[at]));
        let mut steps: Vec<Step> = first.map(Step::Phase).collect();
        if self.config.fixed_place == FixedPlace::FrameStart {
            steps.extend(fixed.take());
        }
        for at in self.runs(When::Update) {
            let phase = &self.phases[at];
            if phase.label == update {
                steps.extend(fixed.take());
            }
            if self.is_run(phase) {
                steps.push(Step::Phase(at));
            }
            if phase.then_transitions && self.transitions.is_some() {
                steps.push(Step::Transitions);
            }
        }
        steps
    }

    /// Whether a phase is not skipped.
    pub(super) fn is_run(&self, phase: &Phase) -> bool {
        cfg!(feature = "trace") || self.config.timings || !phase.schedule.is_empty()
    }

    /// The phases that run at certain times, by position.
    pub(super) fn runs(&self, when: When) -> impl Iterator<Item = usize> + '_ {
        self.phases.iter().enumerate().filter(move |(_, phase)| phase.when == when).map(|(at, _)| at)
    }

    /// Moves the clocks on.
    fn begin_frame(&mut self, time: FrameTime, delta: Duration, speed: f64) {
        // The clock is ahead of the app after it was loaded.
        self.frames = self.frames.max(self.world.resource::<Time<Virtual>>().frame()).saturating_add(1);
        let FrameTime { real, at, .. } = time;
        self.world.resource_mut::<Time<Real>>().begin_real_frame(self.frames, real, at);
        let mut clock = self.world.resource_mut::<Time<Virtual>>();
        clock.begin_frame(self.frames, delta);
        clock.note_speed(speed);
        let shown = *clock;
        self.world.resource_mut::<Time>().show(&shown);
    }

    /// The fixed phases, as often as their time has come.
    #[track_caller]
    fn run_fixed(&mut self, delta: Duration) {
        for _ in 0..self.due_fixed_steps(delta) {
            self.begin_fixed_step();
            self.run_all(When::Fixed);
        }
        self.end_fixed_steps();
    }

    /// How often the time of the fixed phases has come.
    pub(super) fn due_fixed_steps(&mut self, delta: Duration) -> u32 {
        self.world.resource_mut::<Time<Fixed>>().accumulate(delta, self.config.max_fixed_steps)
    }

    /// Moves the clock of the fixed phases on, and shows it.
    pub(super) fn begin_fixed_step(&mut self) {
        let mut fixed = self.world.resource_mut::<Time<Fixed>>();
        fixed.begin_step(self.frames);
        let fixed = *fixed;
        let mut time = self.world.resource_mut::<Time>();
        time.show(&fixed);
        time.set_alpha(fixed.overstep_fraction_f64());
    }

    /// Shows the clock of the frame again.
    pub(super) fn end_fixed_steps(&mut self) {
        let alpha = self.world.resource::<Time<Fixed>>().overstep_fraction_f64();
        let frame = *self.world.resource::<Time<Virtual>>();
        let mut time = self.world.resource_mut::<Time>();
        time.show(&frame);
        time.set_alpha(alpha);
    }
}
