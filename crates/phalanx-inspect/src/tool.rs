//! The part that stands beside the app: between frames it answers calls, notes times, and tells the streams.
//!
//! While nobody looks it asks one atomic number before and after a frame, and nothing else. Answers take no more than
//! the budget per frame, one at least; what goes on without a call keeps to its [`Pace`]. While the app is paused, calls are
//! answered where the frame would have been, and nobody has to hurry.

use std::sync::Arc;
use std::time::{Duration, Instant};

use phalanx::app::{FrameAction, FrameTool};
use phalanx::prelude::{App, Time, World};

use crate::Inspector;
use crate::advisor::Advisor;
use crate::answer::{answer, go_on};
use crate::json::Json;
use crate::methods;
use crate::pace::Pace;
use crate::protocol::Failure;
use crate::search::Search;
use crate::server::Server;
use crate::shared::Shared;
use crate::timeline::Timeline;

/// How often streams are told.
const EVERY: Duration = Duration::from_millis(100);
/// How often memory is counted, which walks all tables.
const COUNTED_EVERY: Duration = Duration::from_secs(1);
/// How often a search goes on by a few entities at least, whatever is owed.
const GOES_ON_EVERY: Duration = Duration::from_millis(10);
/// How long frames are noted after somebody asked for what is noted of them.
const NOTED_FOR: Duration = Duration::from_secs(3);
/// How often the sample of the advisor is looked at, at most: an app may run thousands of frames a second.
const SAMPLED_EVERY: Duration = Duration::from_millis(15);
/// How old a map may be that is shown again.
const MAP_LASTS: Duration = Duration::from_secs(1);
/// No more maps are kept.
const MAX_MAPS: usize = 4;
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
    /// Whether a search goes on, though nobody may ask just now.
    searching: bool,
    went_on: Instant,
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
    maps: Vec<Map>,
    /// Whether more was done for clients than their share.
    owing: bool,
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

/// A map that was drawn.
struct Map {
    params: Json,
    points: Json,
    frame: u64,
    drawn: Instant,
}

impl Tool {
    pub fn new(shared: Arc<Shared>, server: Server, options: Inspector) -> Self {
        let state = State {
            edits: options.edits,
            map: options.map,
            searches: Vec::new(),
            timeline: Timeline::new(),
            advisor: Advisor::new(),
            maps: Vec::new(),
            owing: false,
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
        let (frame_start, told, went_on) = (None, Instant::now(), Instant::now());
        let (budget, pace) = (options.budget, Pace::default());
        let (timing, searching) = (false, false);
        Self { shared, budget, pace, state, frame_start, timing, searching, went_on, told, _server: server }
    }

    /// Answers calls for as long as the budget lasts, goes on with searches, and tells the streams. All that was done since
    /// `began` is paid for.
    fn serve(&mut self, app: &mut App, began: Instant) {
        let until = Instant::now() + self.budget;
        self.state.owing = !self.state.paused && self.pace.left().is_zero();
        while let Some(call) = self.shared.take() {
            // Whoever asked may be gone.
            drop(call.reply.try_send(answer(app, &mut self.state, &call.request, until)));
            if Instant::now() >= until {
                break;
            }
        }
        let left = if self.state.paused { self.budget } else { self.pace.left().min(self.budget) };
        let left = left.saturating_sub(began.elapsed());
        self.searching = self.state.searches.iter().any(Search::goes_on);
        if self.searching
            && (!left.is_zero() || self.went_on.elapsed() >= GOES_ON_EVERY && !self.budget.is_zero())
        {
            self.went_on = Instant::now();
            go_on(app, &mut self.state, self.went_on + left);
        }
        if self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            self.shared.publish(self.state.stats(app).to_string());
        }
        self.pace.pay(began.elapsed());
    }

    /// Whether somebody looks, or waits.
    fn is_wanted(&self) -> bool {
        self.searching || self.shared.is_wanted()
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
                self.serve(app, Instant::now());
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
            // Somebody came during the frame.
            return self.serve(app, Instant::now());
        };
        let ended = Instant::now();
        self.pace.earn(ended - start, ended);
        self.state.note_frame(app, start, ended - start);
        self.serve(app, ended);
    }
}

impl State {
    fn note_frame(&mut self, app: &App, start: Instant, length: Duration) {
        self.frame_time = length;
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

    /// `world.points`: while more was done for clients than their share, a map that is not too old is shown again.
    pub fn points(&mut self, world: &World, params: &Json) -> Result<Json, Failure> {
        let owing = self.owing;
        self.maps.retain(|map| owing && map.drawn.elapsed() < MAP_LASTS);
        let known = self.maps.iter().position(|map| map.params == *params);
        let at = match known {
            Some(at) => at,
            None => {
                let (points, frame) = (methods::points(world, params)?, world.resource::<Time>().frame());
                self.maps.truncate(MAX_MAPS - 1);
                self.maps.insert(0, Map { params: params.clone(), points, frame, drawn: Instant::now() });
                0
            }
        };
        let Map { points, frame, .. } = &self.maps[at];
        let mut answer = points.clone();
        if let Json::Object(pairs) = &mut answer {
            pairs.push(("frame".to_owned(), (*frame).into()));
        }
        Ok(answer)
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
