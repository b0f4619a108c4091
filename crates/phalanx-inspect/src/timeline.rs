//! The last frames: when each system ran, on which thread, what it waited for, and why it was skipped.
//!
//! A frame is a list of bars, read from the timings of the app when it has ended; the ring keeps the last [`KEPT`].
//! Of a system that ran several times in one frame the last run is known, and how many there were. What a system has to
//! wait for is asked of the schedule when that was sorted anew ([`Waits`]); what it did wait for in a frame follows from
//! the times, on request. Reasons are texts that occur again and again: a bar has the number of one.

use std::collections::VecDeque;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use phalanx::prelude::App;

use crate::json::Json;
use crate::waits::Waits;

/// How many frames are kept.
const KEPT: usize = 240;
/// No more different reasons are kept; the last one says so.
const MAX_REASONS: usize = 4096;
/// The line of frames in a trace, and that of the first thread; 0 is the idle thread of Linux there.
const FRAMES: usize = 1;
const FIRST_THREAD: usize = 2;
const LAST_REASON: usize = MAX_REASONS - 1;

/// One run of a system in one frame, or that it did not run.
pub struct Bar {
    pub system: usize,
    thread: usize,
    pub start: Duration,
    pub length: Duration,
    runs: u64,
    /// The reason for which it did not run.
    skipped: Option<usize>,
}

impl Bar {
    pub fn end(&self) -> Duration {
        self.start + self.length
    }
}

struct Frame {
    number: u64,
    start: Duration,
    length: Duration,
    bars: Vec<Bar>,
}

/// See the module.
pub struct Timeline {
    origin: Instant,
    frames: VecDeque<Frame>,
    /// Phase and name of each system that was met.
    systems: Vec<(String, String)>,
    /// How often each had run when the last frame ended.
    runs: Vec<u64>,
    threads: Vec<ThreadId>,
    reasons: Vec<String>,
    waits: Waits,
}

impl Timeline {
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
            frames: VecDeque::new(),
            systems: Vec::new(),
            runs: Vec::new(),
            threads: vec![std::thread::current().id()],
            reasons: Vec::new(),
            waits: Waits::default(),
        }
    }

    /// Notes a frame that has ended.
    pub fn note(&mut self, app: &App, number: u64, start: Instant, length: Duration) {
        let mut bars = Vec::new();
        let mut at = 0;
        // Other users of times may have had them counted since the last frame that was noted.
        let follows = self.frames.back().is_some_and(|last| last.number + 1 == number);
        for phase in app.timings() {
            for timing in phase.systems {
                if self.systems.get(at).is_none_or(|(_, name)| *name != timing.system) {
                    self.systems.insert(at, (phase.phase.clone(), timing.system));
                    self.runs.insert(at, 0);
                    // What is known of the systems behind it has another place now.
                    self.frames.clear();
                }
                let before = std::mem::replace(&mut self.runs[at], timing.runs);
                let since = timing.runs.saturating_sub(before);
                let runs = if follows { since } else { since.min(1) };
                if let Some((began, thread)) = timing.started.filter(|(began, _)| runs > 0 && *began >= start)
                {
                    let known = self.threads.iter().position(|known| *known == thread);
                    let thread = known.unwrap_or_else(|| {
                        self.threads.push(thread);
                        self.threads.len() - 1
                    });
                    let skipped = timing.reason.map(|reason| self.reason(&reason.to_string()));
                    bars.push(Bar {
                        system: at,
                        thread,
                        start: began - start,
                        length: timing.last,
                        runs,
                        skipped,
                    });
                }
                at += 1;
            }
        }
        if self.frames.len() == KEPT {
            self.frames.pop_front();
        }
        let start = start.saturating_duration_since(self.origin);
        self.frames.push_back(Frame { number, start, length, bars });
    }

    /// The number of a reason.
    fn reason(&mut self, text: &str) -> usize {
        let known = self.reasons.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            // Only a program that makes new systems without end has so many.
            match self.reasons.len() {
                MAX_REASONS => {}
                LAST_REASON => self.reasons.push("its reason was not kept: there were too many".to_owned()),
                _ => self.reasons.push(text.to_owned()),
            }
            self.reasons.len() - 1
        })
    }

    /// Learns what systems wait for, if the schedules have changed since.
    pub fn learn(&mut self, app: &App) {
        self.waits.learn(app, &self.systems);
    }

    /// The last frames, as the page draws them; times in microseconds.
    pub fn to_json(&self, count: usize) -> Json {
        let first = self.frames.len().saturating_sub(count);
        let mut reasons = self.reasons.clone();
        let mut number = |text: String| {
            let known = reasons.iter().position(|known| *known == text);
            known.unwrap_or_else(|| {
                reasons.push(text);
                reasons.len() - 1
            })
        };
        let mut frames = Vec::new();
        for frame in self.frames.iter().skip(first) {
            let bars = frame.bars.iter().map(|bar| {
                let wait = if bar.skipped.is_none() { self.waits.of(bar, &frame.bars) } else { None };
                let (until, why) = wait.map(|(until, why)| (micros(until), number(why))).unzip();
                Json::List(vec![
                    bar.system.into(),
                    bar.thread.into(),
                    micros(bar.start),
                    micros(bar.length),
                    bar.runs.into(),
                    bar.skipped.is_some().into(),
                    bar.skipped.or(why).into(),
                    until.into(),
                ])
            });
            let bars = Json::list(bars.collect::<Vec<_>>());
            frames.push(Json::object([
                ("frame", frame.number.into()),
                ("start", micros(frame.start)),
                ("length", micros(frame.length)),
                ("bars", bars),
            ]));
        }
        let systems = self
            .systems
            .iter()
            .map(|(phase, name)| Json::object([("phase", phase.into()), ("name", name.into())]));
        Json::object([
            ("systems", Json::list(systems)),
            ("threads", self.threads.len().into()),
            ("frames", Json::List(frames)),
            ("reasons", Json::list(reasons)),
        ])
    }

    /// The same in the trace format of Chrome: frames on a line of their own, a line for each thread, what waited with
    /// its reason, what was skipped as a mark. Times are exact, since Perfetto drops what overlaps by a rounding.
    pub fn to_trace(&self) -> Json {
        let named = |what: &str, name: &str, thread: usize| {
            let args = Json::object([("name", name.into())]);
            event(what, "__metadata", "M", thread, vec![("args", args)])
        };
        let mut events =
            vec![named("process_name", "Phalanx", FRAMES), named("thread_name", "frames", FRAMES)];
        let threads = 0..self.threads.len();
        events.extend(threads.map(|at| named("thread_name", &format!("thread {at}"), FIRST_THREAD + at)));
        for frame in &self.frames {
            let name = format!("frame {}", frame.number);
            let times = vec![("ts", exact_micros(frame.start)), ("dur", exact_micros(frame.length))];
            events.push(event(&name, "frame", "X", FRAMES, times));
            for bar in &frame.bars {
                let (phase, name) = &self.systems[bar.system];
                let mut rest = vec![("ts", exact_micros(frame.start + bar.start))];
                let thread = FIRST_THREAD + bar.thread;
                if let Some(reason) = bar.skipped {
                    let args = Json::object([("skipped", self.reasons[reason].as_str().into())]);
                    rest.extend([("s", "t".into()), ("args", args)]);
                    events.push(event(&format!("{name} (skipped)"), phase, "i", thread, rest));
                    continue;
                }
                rest.push(("dur", exact_micros(bar.length)));
                if let Some((_, why)) = self.waits.of(bar, &frame.bars) {
                    rest.push(("args", Json::object([("waited", why.into())])));
                }
                events.push(event(name, phase, "X", thread, rest));
            }
        }
        Json::object([("traceEvents", Json::List(events)), ("displayTimeUnit", "ms".into())])
    }
}

fn event(name: &str, kind: &str, phase: &str, thread: usize, rest: Vec<(&str, Json)>) -> Json {
    let common: [(&str, Json); 5] = [
        ("name", name.into()),
        ("cat", kind.into()),
        ("ph", phase.into()),
        ("pid", 1_u32.into()),
        ("tid", thread.into()),
    ];
    Json::Object(common.into_iter().chain(rest).map(|(key, value)| (key.to_owned(), value)).collect())
}

/// To the nanosecond.
fn exact_micros(time: Duration) -> Json {
    Json::Number((time.as_secs_f64() * 1e9).round() / 1e3)
}

fn micros(time: Duration) -> Json {
    Json::Number((time.as_secs_f64() * 1e7).round() / 10.0)
}
