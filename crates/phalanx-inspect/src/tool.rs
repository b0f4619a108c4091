//! The part that stands beside the app: between frames it answers calls, notes times, and tells the streams.
//!
//! While nobody looks it asks one atomic number before and after a frame, and nothing else. Answers take no more than
//! the budget per frame, one at least. While the app is paused, calls are answered where the frame would have been.

use std::sync::Arc;
use std::time::{Duration, Instant};

use phalanx::app::{FrameAction, FrameTool};
use phalanx::prelude::{App, Time};

use crate::Inspector;
use crate::advisor::Advisor;
use crate::answer::answer;
use crate::find::Search;
use crate::json::Json;
use crate::server::Server;
use crate::shared::Shared;
use crate::timeline::Timeline;

/// How often streams are told.
const EVERY: Duration = Duration::from_millis(100);
/// How often memory is counted, which walks all tables.
const COUNTED_EVERY: Duration = Duration::from_secs(1);
/// How long frames are noted after somebody asked for what is noted of them.
const NOTED_FOR: Duration = Duration::from_secs(3);
/// How often the sample of the advisor is looked at, at most: an app may run thousands of frames a second.
const SAMPLED_EVERY: Duration = Duration::from_millis(15);
/// How long a paused frame waits for a call, so that a loop around the app does not spin.
const PAUSED_WAIT: Duration = Duration::from_millis(4);
/// How long a step of a paused app is that asks the clock.
pub const STEP: Duration = Duration::from_nanos(16_666_667);

/// See the module.
pub struct Tool {
    shared: Arc<Shared>,
    budget: Duration,
    state: State,
    frame_start: Option<Instant>,
    /// Whether times are taken because of us.
    timing: bool,
    told: Instant,
    /// Stops the server when the app ends.
    _server: Server,
}

/// What answers are made from, beside the app.
pub struct State {
    pub edits: bool,
    pub map: Option<[String; 3]>,
    pub searches: Vec<Search>,
    pub timeline: Timeline,
    pub advisor: Advisor,
    timeline_until: Option<Instant>,
    advisor_until: Option<Instant>,
    sampled: Option<Instant>,
    paused: bool,
    steps: usize,
    /// The system that ran last, while a frame runs system by system.
    pub system: Option<String>,
    pub frames: u64,
    frame_time: Duration,
    bytes: usize,
    counted: Option<Instant>,
}

impl Tool {
    pub fn new(shared: Arc<Shared>, server: Server, options: Inspector) -> Self {
        let state = State {
            edits: options.edits,
            map: options.map,
            searches: Vec::new(),
            timeline: Timeline::new(),
            advisor: Advisor::new(),
            timeline_until: None,
            advisor_until: None,
            sampled: None,
            paused: false,
            steps: 0,
            system: None,
            frames: 0,
            frame_time: Duration::ZERO,
            bytes: 0,
            counted: None,
        };
        let (frame_start, told) = (None, Instant::now());
        Self { shared, budget: options.budget, state, frame_start, timing: false, told, _server: server }
    }

    /// Answers calls for as long as the budget lasts, and tells the streams.
    fn serve(&mut self, app: &mut App) {
        let until = Instant::now() + self.budget;
        while let Some(call) = self.shared.take() {
            // Whoever asked may be gone.
            drop(call.reply.try_send(answer(app, &mut self.state, &call.request, until)));
            if Instant::now() >= until {
                break;
            }
        }
        if self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            self.shared.publish(self.state.stats(app).to_string());
        }
    }

    /// Takes times while somebody looks, unless the app does so itself.
    fn set_timing(&mut self, app: &mut App, on: bool) {
        if on && !app.config().timings {
            app.set_timings(true);
            self.timing = true;
        } else if !on && std::mem::take(&mut self.timing) {
            app.set_timings(false);
        }
    }
}

impl FrameTool for Tool {
    fn before_frame(&mut self, app: &mut App) -> FrameAction {
        if self.state.paused {
            if self.state.steps == 0 {
                self.shared.wait_for_call(PAUSED_WAIT);
                self.serve(app);
            }
            // The calls may have changed it.
            if self.state.paused && self.state.steps == 0 {
                return FrameAction::Skip;
            }
        }
        let stepping = self.state.paused;
        self.state.steps = self.state.steps.saturating_sub(1);
        self.frame_start = (stepping || self.shared.is_wanted()).then(Instant::now);
        if let Some(now) = self.frame_start {
            let noted = [self.state.timeline_until, self.state.advisor_until];
            self.set_timing(app, noted.into_iter().flatten().any(|until| now < until));
        }
        if stepping { FrameAction::RunFor(STEP) } else { FrameAction::Run }
    }

    fn after_frame(&mut self, app: &mut App) {
        let Some(start) = self.frame_start.take() else {
            if !self.shared.is_wanted() {
                if self.timing {
                    self.set_timing(app, false);
                    self.state.searches.clear();
                }
                return;
            }
            // Somebody came during the frame.
            return self.serve(app);
        };
        self.state.note_frame(app, start);
        self.serve(app);
    }
}

impl State {
    fn note_frame(&mut self, app: &App, start: Instant) {
        self.frame_time = start.elapsed();
        self.frames = app.world().resource::<Time>().frame();
        if self.timeline_until.is_some_and(|until| start < until) {
            self.timeline.note(app, self.frames, start, self.frame_time);
        }
        if self.advisor_until.is_some_and(|until| start < until)
            && self.sampled.is_none_or(|last| start.duration_since(last) >= SAMPLED_EVERY)
        {
            self.sampled = Some(start);
            self.advisor.look(app);
        }
    }

    /// Somebody looks at the timeline: times are taken for a while.
    pub fn want_timeline(&mut self, app: &App) -> &Timeline {
        self.timeline_until = Some(Instant::now() + NOTED_FOR);
        self.timeline.learn(app);
        &self.timeline
    }

    /// Somebody looks at tables: moves are watched for a while.
    pub fn want_advisor(&mut self) -> &Advisor {
        self.advisor_until = Some(Instant::now() + NOTED_FOR);
        &self.advisor
    }

    /// Pauses or lets go, and runs some frames before the pause.
    pub fn pause(&mut self, paused: bool, steps: usize) -> Json {
        (self.paused, self.steps) = (paused, steps);
        Json::object([("paused", paused.into()), ("frame", self.frames.into())])
    }

    /// `world.stats`, and what streams are told.
    pub fn stats(&mut self, app: &App) -> Json {
        let world = app.world();
        if self.counted.is_none_or(|at| at.elapsed() >= COUNTED_EVERY) {
            self.counted = Some(Instant::now());
            self.bytes = world.stats().bytes();
        }
        let time = world.resource::<Time>();
        Json::object([
            ("frame", time.frame().into()),
            ("elapsed", time.elapsed().as_secs_f64().into()),
            ("frameTime", (self.frame_time.as_secs_f64() * 1e3).into()),
            ("entities", world.entities().len().into()),
            ("archetypes", world.archetypes().len().into()),
            ("bytes", self.bytes.into()),
            ("moves", world.moves().into()),
            ("paused", self.paused.into()),
            ("edits", self.edits.into()),
            ("history", app.history_len().into()),
            ("system", self.system.clone().filter(|_| app.is_in_frame()).into()),
        ])
    }
}
