//! The part that stands beside the app: between frames it answers calls, notes times, and tells the streams.
//!
//! While no client looks it reads one atomic number before and after a frame, and nothing else. Answers take no more than
//! the budget per frame, one at least, and all that is done for clients is paid by one [`Pace`]. While the app is paused,
//! calls are answered where the frame would have been, and there is no hurry.

use std::sync::Arc;
use std::time::{Duration, Instant};

use phalanx::app::{FrameAction, FrameTool};
use phalanx::prelude::{App, Time};

use crate::Inspector;
use crate::advisor::Advisor;
use crate::answer::{answer, go_on};
use crate::json::Json;
use crate::pace::{Clients, Pace};
use crate::search::Search;
use crate::server::Server;
use crate::shared::Shared;
use crate::timeline::Timeline;

/// How often streams get a message.
const EVERY: Duration = Duration::from_millis(100);
/// How often memory is counted, which walks all tables.
const COUNTED_EVERY: Duration = Duration::from_secs(1);
/// How long frames are noted after a client asked for what is noted of them.
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
    pace: Pace,
    state: State,
    frame_start: Option<Instant>,
    /// Whether times are taken because of us.
    timing: bool,
    /// Whether a search goes on, though no client may ask just now.
    searching: bool,
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
        let (budget, pace) = (options.budget, Pace::default());
        let (frame_start, timing, searching, told) = (None, false, false, Instant::now());
        Self { shared, budget, pace, state, frame_start, timing, searching, told, _server: server }
    }

    /// Answers calls, goes on with searches, and tells the streams. What was noted since a moment is paid for, too.
    fn serve(&mut self, app: &mut App, noting_since: Option<Instant>) {
        let Self { shared, pace, state, told, budget, .. } = self;
        let paused = state.paused;
        let mut clients = Between { app, shared, state, told };
        if let Some(mut since) = noting_since {
            pace.pay(&mut clients, &mut since);
        }
        pace.serve(&mut clients, *budget, paused);
        self.searching = clients.is_searching();
    }

    /// Whether a client looks, or waits.
    fn is_wanted(&self) -> bool {
        self.searching || self.shared.is_wanted()
    }

    /// Takes times while a client looks, unless the app does so itself.
    fn set_timing(&mut self, app: &mut App, on: bool) {
        if on && !app.config().timings {
            app.set_timings(true);
            self.timing = true;
        } else if !on && std::mem::take(&mut self.timing) {
            app.set_timings(false);
        }
    }
}

/// What clients wait for between two frames.
struct Between<'t> {
    app: &'t mut App,
    shared: &'t Shared,
    state: &'t mut State,
    told: &'t mut Instant,
}

impl Between<'_> {
    /// Since when streams should have had a message, if there are any.
    fn stream_due(&self) -> Option<Instant> {
        let due = *self.told + EVERY;
        Some(due).filter(|&due| self.shared.has_streams() && Instant::now() >= due)
    }
}

impl Clients for Between<'_> {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn answer(&mut self, until: Instant) -> bool {
        let Some(call) = self.shared.take() else { return false };
        // The client may be gone.
        drop(call.reply.try_send(answer(self.app, self.state, &call, until)));
        true
    }

    fn waits_since(&self) -> Option<Instant> {
        self.shared.waits_since().into_iter().chain(self.stream_due()).min()
    }

    fn serve_oldest(&mut self, until: Instant) {
        let call = match self.shared.waits_since() {
            Some(since) if self.told.elapsed() < EVERY || since < *self.told + EVERY => {
                self.shared.take_patient()
            }
            _ => None,
        };
        if let Some(call) = call {
            drop(call.reply.try_send(answer(self.app, self.state, &call, until)));
            return;
        }
        *self.told = Instant::now();
        self.shared.publish(self.state.stats(self.app).to_string());
    }

    fn is_searching(&self) -> bool {
        self.state.searches.iter().any(Search::goes_on)
    }

    fn search(&mut self, until: Instant) {
        go_on(self.app, self.state, until);
    }
}

impl FrameTool for Tool {
    fn before_frame(&mut self, app: &mut App) -> FrameAction {
        if self.state.paused {
            if self.state.steps == 0 {
                self.shared.wait_for_call(PAUSED_WAIT);
                self.serve(app, None);
            }
            // The calls may have changed it.
            if self.state.paused && self.state.steps == 0 {
                return FrameAction::Skip;
            }
        }
        let stepping = self.state.paused;
        self.state.steps = self.state.steps.saturating_sub(1);
        self.frame_start = (stepping || self.is_wanted()).then(Instant::now);
        if let Some(now) = self.frame_start {
            let noted = [self.state.timeline_until, self.state.advisor_until];
            self.set_timing(app, noted.into_iter().flatten().any(|until| now < until));
        }
        if stepping { FrameAction::RunFor(STEP) } else { FrameAction::Run }
    }

    fn after_frame(&mut self, app: &mut App) {
        let Some(start) = self.frame_start.take() else {
            if !self.is_wanted() {
                if self.timing {
                    self.set_timing(app, false);
                    self.state.searches.clear();
                }
                return;
            }
            // A client came during the frame.
            return self.serve(app, None);
        };
        let ended = Instant::now();
        self.pace.earn(ended - start, ended);
        let noted = self.state.note_frame(app, start, ended - start);
        self.serve(app, noted.then_some(ended));
    }
}

impl State {
    /// Notes what is asked for of a frame that has ended; whether that was more than its number.
    fn note_frame(&mut self, app: &App, start: Instant, length: Duration) -> bool {
        self.frame_time = length;
        self.frames = app.world().resource::<Time>().frame();
        let timed = self.timeline_until.is_some_and(|until| start < until);
        if timed {
            self.timeline.note(app, self.frames, start, self.frame_time);
        }
        let sampled = self.advisor_until.is_some_and(|until| start < until)
            && self.sampled.is_none_or(|last| start.duration_since(last) >= SAMPLED_EVERY);
        if sampled {
            self.sampled = Some(start);
            self.advisor.look(app);
        }
        timed || sampled
    }

    /// A client looks at the timeline: times are taken for a while.
    pub fn want_timeline(&mut self, app: &App) -> &Timeline {
        self.timeline_until = Some(Instant::now() + NOTED_FOR);
        self.timeline.learn(app);
        &self.timeline
    }

    /// A client looks at tables: moves are watched for a while.
    pub fn want_advisor(&mut self) -> &Advisor {
        self.advisor_until = Some(Instant::now() + NOTED_FOR);
        &self.advisor
    }

    /// Pauses or lets go, and runs some frames before the pause.
    pub fn pause(&mut self, paused: bool, steps: usize) -> Json {
        (self.paused, self.steps) = (paused, steps);
        Json::object([("paused", paused.into()), ("frame", self.frames.into())])
    }

    /// `world.stats`, and what streams send.
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
