//! What the inspector costs per frame with a million entities: not there, closed, and with a page open on each tab.
//!
//! Whole frames are compared within one run: rounds with the page open and closed take turns, and the middle of the
//! differences of neighbours is shown. Beside it stands the time spent in the inspector's own calls between frames, which
//! has less noise and misses only what it does to caches. Time in which other programs had the processor is left out of
//! both. The page is played by a process of its own, which asks for what the page asks for, as often. Frames are paced to
//! sixty a second, and then run as fast as they can. Run by `bench/inspect-cost`.

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use phalanx::app::{FrameAction, FrameTool};
use phalanx::prelude::*;
use phalanx_inspect::{Inspector, InspectorAddress};

#[path = "cost/page.rs"]
mod page;

const FRAME: Duration = Duration::from_nanos(16_666_667);

#[derive(Component)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}
#[derive(Component)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f32,
}
#[derive(Component)]
struct Health {
    hp: f32,
}

fn walk(mut all: Query<(&mut Position, &Velocity)>) {
    for (position, velocity) in &mut all {
        *position.x += velocity.x;
        *position.y += velocity.y;
    }
}

fn heal(mut all: Query<&mut Health>) {
    for mut health in &mut all {
        health.hp = (health.hp + 0.1).min(100.0);
    }
}

/// The time for which this thread was ready and had to wait for a processor; zero where the system does not tell.
fn waited() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// The processor time of all threads of this process that are and were, in steps of ten milliseconds.
fn all_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<i64> = text
        .rsplit(')')
        .next()
        .map(|rest| rest.split_whitespace().filter_map(|word| word.parse().ok()).collect())
        .unwrap_or_default();
    // The state before them is no number.
    let ticks = fields.get(10).zip(fields.get(11)).map_or(0, |(user, system)| user + system);
    Duration::from_millis(u64::try_from(ticks).unwrap_or(0) * 10)
}

/// A stretch of time without that in which other programs had the processor.
#[derive(Clone, Copy)]
struct Begun(Duration, Instant);

impl Begun {
    fn now() -> Self {
        let before = waited();
        Self(before, Instant::now())
    }

    fn taken(self) -> Duration {
        let wall = self.1.elapsed();
        wall.saturating_sub(waited() - self.0)
    }
}

#[derive(Default)]
struct Spent {
    began: Option<Begun>,
    sum: Duration,
}

/// One stands before the inspector and notes the time, one behind it and sums it up.
struct Watch(Arc<Mutex<Spent>>, bool);

impl Watch {
    fn look(&self) {
        let mut spent = self.0.lock().expect("nothing panicked");
        if self.1 {
            spent.began = Some(Begun::now());
        } else if let Some(began) = spent.began.take() {
            spent.sum += began.taken();
        }
    }
}

impl FrameTool for Watch {
    fn before_frame(&mut self, _: &mut App) -> FrameAction {
        self.look();
        FrameAction::Run
    }
    fn after_frame(&mut self, _: &mut App) {
        self.look();
    }
}

struct Subject {
    app: App,
    spent: Arc<Mutex<Spent>>,
}

/// What some frames took, each on average, in microseconds.
#[derive(Clone, Copy)]
struct Cost {
    frame: f64,
    inside: f64,
    /// Other threads, per second of wall time, in microseconds.
    others: f64,
    frames: f64,
}

impl Subject {
    fn new(inspector: Option<Inspector>) -> Self {
        let mut app = App::new();
        app.configure(AppConfig { threads: Threads::Serial, ..AppConfig::default() });
        app.add_systems(Update, (walk, heal));
        let spent = Arc::default();
        app.add_frame_tool(Watch(Arc::clone(&spent), true));
        if let Some(inspector) = inspector {
            app.add_plugins(inspector.in_release(true).quiet().map("Position.x", "Position.y", "Health.hp"));
        }
        app.add_frame_tool(Watch(Arc::clone(&spent), false));
        let bundle = |n: u32| {
            let x = f32::from(u16::try_from(n % 1000).unwrap_or(0));
            (Position { x, y: 0.0 }, Velocity { x: 0.1, y: 0.2 }, Health { hp: x / 10.0 })
        };
        app.world_mut().spawn_batch((0..1_000_000).map(bundle)).for_each(drop);
        (0..50).for_each(|_| app.step(1.0 / 60.0));
        Self { app, spent }
    }

    fn run(&mut self, length: Duration, paced: bool) -> Cost {
        self.spent.lock().expect("nothing panicked").sum = Duration::ZERO;
        let (start, all) = (Instant::now(), all_cpu());
        let (mut frames, mut own) = (0_u32, Duration::ZERO);
        while start.elapsed() < length {
            let begun = Begun::now();
            self.app.step(1.0 / 60.0);
            own += begun.taken();
            frames += 1;
            if paced {
                std::thread::sleep((FRAME * frames).saturating_sub(start.elapsed()));
            }
        }
        let others = (all_cpu() - all).saturating_sub(own).as_secs_f64() / start.elapsed().as_secs_f64();
        let per_frame = |time: Duration| time.as_secs_f64() / f64::from(frames) * 1e6;
        let inside = self.spent.lock().expect("nothing panicked").sum;
        Cost {
            frame: per_frame(own),
            inside: per_frame(inside),
            others: others * 1e6,
            frames: f64::from(frames),
        }
    }
}

/// The process that plays the page.
struct Page(Child);

impl Page {
    fn start(address: &str) -> Self {
        let program = std::env::current_exe().expect("this program");
        let child = Command::new(program).args(["browse", address]).stdin(Stdio::piped()).spawn();
        Self(child.expect("a second process"))
    }

    /// Opens a tab, or closes the page.
    fn show(&mut self, tab: &str) {
        let input = self.0.stdin.as_mut().expect("a pipe");
        writeln!(input, "{tab}").and_then(|()| input.flush()).expect("the page reads");
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn compare(name: &str, pairs: &[(Cost, Cost)], paced: bool) {
    let of = |get: fn(&(Cost, Cost)) -> f64| middle(pairs.iter().map(get).collect());
    let (closed, more) = (of(|pair| pair.0.frame), of(|pair| pair.1.frame - pair.0.frame));
    let inside = of(|pair| pair.1.inside);
    let whole = if paced { FRAME.as_secs_f64() * 1e6 } else { closed };
    let frames: f64 = pairs.iter().map(|pair| pair.1.frames).sum();
    println!(
        "  {name:<18} frame {closed:>7.0} us {more:>+7.1} us = {:>+6.2} % of its work, {:>+6.2} % of its time; in the \
         inspector {inside:>6.1} us = {:>5.2} % and {:>5.2} %; other threads {:>4.1} % of a core; {frames} frames",
        more / closed * 100.0,
        more / whole * 100.0,
        inside / closed * 100.0,
        inside / whole * 100.0,
        of(|pair| pair.1.others) / 1e4,
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, address] = arguments.as_slice()
        && role == "browse"
    {
        return page::browse(address);
    }
    let number =
        |at: usize, usual: u32| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (rounds, length) = (number(0, 9), Duration::from_millis(u64::from(number(1, 1500))));
    println!("1,000,000 entities, {rounds} pairs of rounds of {} ms each", length.as_millis());
    let (mut bare, mut subject) = (Subject::new(None), Subject::new(Some(Inspector::default())));
    let mut page = Page::start(&subject.app.world().resource::<InspectorAddress>().0);
    for paced in [true, false] {
        println!("{}", if paced { "60 frames per second" } else { "as many frames as there can be" });
        let wanted = |tab: &str| arguments.len() < 3 || arguments[2..].iter().any(|name| name == tab);
        if wanted("closed") {
            let pairs: Vec<_> =
                (0..rounds).map(|_| (bare.run(length, paced), subject.run(length, paced))).collect();
            compare("closed", &pairs, paced);
        }
        for tab in page::TABS.into_iter().filter(|tab| wanted(tab)) {
            let pairs: Vec<_> = (0..rounds)
                .map(|_| {
                    let closed = subject.run(length, paced);
                    page.show(tab);
                    // The first answers are not the rule: components are listed, searches begin.
                    subject.run(length / 4, paced);
                    let open = subject.run(length, paced);
                    page.show("close");
                    subject.run(length / 4, paced);
                    (closed, open)
                })
                .collect();
            compare(tab, &pairs, paced);
        }
    }
}

/// Sends a call as the page does, and reads the answer.
fn ask(place: &str, token: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(place).expect("the app listens");
    let request = format!(
        "POST /api HTTP/1.1\r\nHost: {place}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it is taken");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// The lines of the standard input.
fn orders() -> impl Iterator<Item = String> {
    std::io::stdin().lock().lines().map_while(Result::ok)
}
