//! What the inspector costs per frame with a million entities: with no page open, and with one.
//!
//! Two tools of our own stand before and behind the inspector and take the time that it spends between frames; that over
//! the time of the whole frame is the cost. A difference between runs with and without it would be lost in the noise. Time
//! in which other programs had the processor is left out of both. The page is a stream of events and the requests of its most demanding tabs, as often as the page sends them. Run by
//! `bench/inspect-cost`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use phalanx::app::{FrameAction, FrameTool};
use phalanx::prelude::*;
use phalanx_inspect::{Inspector, InspectorAddress};

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

type Began = Arc<Mutex<Option<(Duration, Instant)>>>;

/// Notes when the inspector is about to be called.
struct Ahead(Began);

impl Ahead {
    fn note(&self) {
        let before = waited();
        *self.0.lock().expect("nobody panicked") = Some((before, Instant::now()));
    }
}

impl FrameTool for Ahead {
    fn before_frame(&mut self, _: &mut App) -> FrameAction {
        self.note();
        FrameAction::Run
    }
    fn after_frame(&mut self, _: &mut App) {
        self.note();
    }
}

/// Sums up how long it took, without the time in which other programs had the processor.
struct Behind(Began, Arc<Mutex<Duration>>);

impl Behind {
    fn sum(&self) {
        let now = Instant::now();
        if let Some((before, start)) = self.0.lock().expect("nobody panicked").take() {
            let own = (now - start).saturating_sub(waited() - before);
            *self.1.lock().expect("nobody panicked") += own;
        }
    }
}

impl FrameTool for Behind {
    fn before_frame(&mut self, _: &mut App) -> FrameAction {
        self.sum();
        FrameAction::Run
    }
    fn after_frame(&mut self, _: &mut App) {
        self.sum();
    }
}

/// An app, and where the time is summed up that its inspector takes.
fn app(inspector: Option<Inspector>) -> (App, Arc<Mutex<Duration>>) {
    let mut app = App::new();
    app.configure(AppConfig { threads: Threads::Serial, ..AppConfig::default() });
    app.add_systems(Update, (walk, heal));
    let (start, spent) = (Arc::default(), Arc::default());
    app.add_frame_tool(Ahead(Arc::clone(&start)));
    if let Some(inspector) = inspector {
        app.add_plugins(inspector.in_release(true).quiet());
    }
    app.add_frame_tool(Behind(start, Arc::clone(&spent)));
    let bundle = |n: u32| {
        let x = f32::from(u16::try_from(n % 1000).unwrap_or(0));
        (Position { x, y: 0.0 }, Velocity { x: 0.1, y: 0.2 }, Health { hp: x / 10.0 })
    };
    app.world_mut().spawn_batch((0..1_000_000).map(bundle)).for_each(drop);
    (app, spent)
}

/// What the page sends: an open stream, the entity that is looked at four times a second, a search and the tables once.
fn browse(address: &str, stop: &AtomicBool) {
    let (place, token) = address.trim_start_matches("http://").split_once("/?token=").expect("an address");
    let ask = |body: &str| {
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
    };
    let mut events = TcpStream::connect(place).expect("the app listens");
    let request = format!("GET /events?token={token} HTTP/1.1\r\nHost: {place}\r\n\r\n");
    events.write_all(request.as_bytes()).expect("it is taken");
    std::thread::spawn(move || std::io::copy(&mut events, &mut std::io::sink()));
    for round in 0_u32.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        ask("{\"method\":\"world.get\",\"params\":{\"entity\":\"77v0\"}}");
        if round % 4 == 0 {
            ask("{\"method\":\"world.query\",\"params\":{\"query\":\"Health.hp < 1\",\"fresh\":true}}");
            ask("{\"method\":\"world.query\",\"params\":{\"offset\":900000,\"limit\":100}}");
            ask("{\"method\":\"world.tables\"}");
        }
        std::thread::sleep(Duration::from_millis(250));
    }
}

fn main() {
    let frames: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3000);
    println!("1,000,000 entities, {frames} frames each");
    let cases =
        [("no inspector", None, false), ("no page open", Some(()), false), ("a page open", Some(()), true)];
    for (name, inspector, opened) in cases {
        let (mut app, spent) = app(inspector.map(|()| Inspector::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let browser = opened.then(|| {
            let address = app.world().resource::<InspectorAddress>().0.clone();
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || browse(&address, &stop))
        });
        // The first frames meet memory and queries for the first time.
        (0..100).for_each(|_| app.step(1.0 / 60.0));
        *spent.lock().expect("nobody panicked") = Duration::ZERO;
        let (start, before) = (Instant::now(), waited());
        (0..frames).for_each(|_| app.step(1.0 / 60.0));
        let all = start.elapsed().saturating_sub(waited() - before);
        let own = *spent.lock().expect("nobody panicked");
        stop.store(true, Ordering::Relaxed);
        // The last request is answered by frames, which have to go on.
        while browser.as_ref().is_some_and(|browser| !browser.is_finished()) {
            app.step(1.0 / 60.0);
        }
        println!(
            "{name:<14} frame {:>8.1} us, of it the inspector {:>8.3} us: {:.3} %",
            all.as_secs_f64() / f64::from(frames) * 1e6,
            own.as_secs_f64() / f64::from(frames) * 1e6,
            own.as_secs_f64() / all.as_secs_f64() * 100.0
        );
    }
}
