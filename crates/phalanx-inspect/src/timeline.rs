//! The last frames: when each system ran, on which thread, and what was skipped.
//!
//! A frame is a list of bars, read from the timings of the app when it has ended; the ring keeps the last [`KEPT`].
//! Of a system that ran several times in one frame the last run is known, and how many there were.

use std::collections::VecDeque;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use phalanx::prelude::App;

use crate::json::Json;

/// How many frames are kept.
const KEPT: usize = 240;

struct Bar {
    system: usize,
    thread: usize,
    start: Duration,
    length: Duration,
    runs: u64,
    skipped: bool,
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
}

impl Timeline {
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
            frames: VecDeque::new(),
            systems: Vec::new(),
            runs: Vec::new(),
            threads: vec![std::thread::current().id()],
        }
    }

    /// Notes a frame that has ended.
    pub fn note(&mut self, app: &App, number: u64, start: Instant, length: Duration) {
        let mut bars = Vec::new();
        let mut at = 0;
        for phase in app.timings() {
            for timing in phase.systems {
                if self.systems.get(at).is_none_or(|(_, name)| *name != timing.system) {
                    self.systems.insert(at, (phase.phase.clone(), timing.system));
                    self.runs.insert(at, 0);
                    // What is known of the systems behind it has another place now.
                    self.frames.clear();
                }
                let runs = timing.runs.saturating_sub(std::mem::replace(&mut self.runs[at], timing.runs));
                if let Some((began, thread)) = timing.started.filter(|(began, _)| runs > 0 && *began >= start)
                {
                    let known = self.threads.iter().position(|known| *known == thread);
                    let thread = known.unwrap_or_else(|| {
                        self.threads.push(thread);
                        self.threads.len() - 1
                    });
                    let (start, length, skipped) = (began - start, timing.last, timing.skipped);
                    bars.push(Bar { system: at, thread, start, length, runs, skipped });
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

    /// The last frames, as the page draws them; times in microseconds.
    pub fn to_json(&self, count: usize) -> Json {
        let first = self.frames.len().saturating_sub(count);
        let frames = self.frames.iter().skip(first).map(|frame| {
            let bars = frame.bars.iter().map(|bar| {
                Json::List(vec![
                    bar.system.into(),
                    bar.thread.into(),
                    micros(bar.start),
                    micros(bar.length),
                    bar.runs.into(),
                    bar.skipped.into(),
                ])
            });
            Json::object([
                ("frame", frame.number.into()),
                ("start", micros(frame.start)),
                ("length", micros(frame.length)),
                ("bars", Json::list(bars)),
            ])
        });
        let frames = Json::list(frames);
        let systems = self
            .systems
            .iter()
            .map(|(phase, name)| Json::object([("phase", phase.into()), ("name", name.into())]));
        Json::object([
            ("systems", Json::list(systems)),
            ("threads", self.threads.len().into()),
            ("frames", frames),
        ])
    }

    /// The same in the trace format of Chrome.
    pub fn to_trace(&self) -> Json {
        let event = |name: &str, kind: &str, thread: usize, start: Duration, length: Duration| {
            Json::object([
                ("name", name.into()),
                ("cat", kind.into()),
                ("ph", "X".into()),
                ("pid", 1_u32.into()),
                ("tid", thread.into()),
                ("ts", micros(start)),
                ("dur", micros(length)),
            ])
        };
        let mut events = Vec::new();
        for frame in &self.frames {
            events.push(event(&format!("frame {}", frame.number), "frame", 0, frame.start, frame.length));
            for bar in frame.bars.iter().filter(|bar| !bar.skipped) {
                let (phase, name) = &self.systems[bar.system];
                events.push(event(name, phase, bar.thread + 1, frame.start + bar.start, bar.length));
            }
        }
        Json::object([("traceEvents", Json::List(events)), ("displayTimeUnit", "ms".into())])
    }
}

fn micros(time: Duration) -> Json {
    Json::Number((time.as_secs_f64() * 1e7).round() / 10.0)
}
