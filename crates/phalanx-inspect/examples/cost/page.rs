//! The page, played: what each of its tabs asks for, and how often (`page/main.js`, and `every` of the tabs).

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The tabs; "search" is a list whose search goes on, "beside" a list with the map beside it.
pub const TABS: [&str; 7] = ["list", "search", "beside", "tables", "systems", "why", "map"];

const GET: &str = "{\"method\":\"world.get\",\"params\":{\"entity\":\"77v0\"}}";
const LIST: &str = "{\"method\":\"world.query\",\"params\":{\"offset\":900000,\"limit\":100,\"fresh\":true}}";
const TABLES: &str = "{\"method\":\"world.tables\"}";
const TIMELINE: &str = "{\"method\":\"app.timeline\",\"params\":{\"frames\":12}}";
const SCHEDULE: &str = "{\"method\":\"app.schedule\"}";
const COMPONENTS: &str = "{\"method\":\"world.components\"}";

fn points(most: u32) -> String {
    format!(
        "{{\"method\":\"world.points\",\"params\":{{\"x\":\"Position.x\",\"y\":\"Position.y\",\"colour\":\"Health.hp\",\"limit\":{most}}}}}"
    )
}

/// A search that nothing matches; it takes longer than a round, and each round has another one.
fn search(round: u32) -> String {
    format!("{{\"method\":\"world.query\",\"params\":{{\"query\":\"Health.hp < -{round}\",\"limit\":100}}}}")
}

/// What a tab asks for, and how long it waits between two times.
fn calls(tab: &str, round: u32) -> Vec<(Duration, String)> {
    let every = |millis: u64, body: &str| (Duration::from_millis(millis), body.to_owned());
    let mut calls = vec![every(5000, COMPONENTS)];
    calls.extend(match tab {
        "list" => vec![every(250, GET), every(2000, LIST)],
        "search" => vec![every(250, GET), every(100, &search(round))],
        "beside" => vec![every(250, GET), every(2000, LIST), every(300, &points(800))],
        "tables" => vec![every(1000, TABLES)],
        "systems" => vec![every(500, TIMELINE), every(5000, SCHEDULE)],
        "why" => vec![every(3000, SCHEDULE)],
        "map" => vec![every(200, &points(2000))],
        _ => Vec::new(),
    });
    calls
}

/// Plays the page until the input ends; each line names a tab, or closes the page.
pub fn browse(address: &str) {
    let (place, token) = address.trim_start_matches("http://").split_once("/?token=").expect("an address");
    let (place, token) = (place.to_owned(), token.to_owned());
    let (send, receive) = channel();
    let player = std::thread::spawn(move || play(&place, &token, &receive));
    for order in super::orders() {
        send.send(order).expect("the page is played");
    }
    drop(send);
    drop(player.join());
}

fn play(place: &str, token: &str, orders: &Receiver<String>) {
    let (mut events, mut round): (Option<TcpStream>, u32) = (None, 0);
    let mut due: Vec<(Instant, Duration, String)> = Vec::new();
    let mut drawn: Vec<String> = Vec::new();
    loop {
        let now = Instant::now();
        let next = due.iter().map(|(at, _, _)| *at).min().unwrap_or(now + Duration::from_secs(1));
        match orders.recv_timeout(next.saturating_duration_since(now)) {
            Ok(order) => {
                let open = order != "close";
                if let Some(stream) = events.take_if(|_| !open) {
                    let _ = stream.shutdown(Shutdown::Both);
                }
                if open && events.is_none() {
                    events = Some(listen(place, token));
                }
                round += 1;
                due = calls(&order, round)
                    .into_iter()
                    .map(|(every, body)| (Instant::now(), every, body))
                    .collect();
                drawn.clear();
                if !open {
                    due.clear();
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                for (at, every, body) in due.iter_mut().filter(|(at, _, _)| *at <= now) {
                    // Like the page, it waits for what a tab shows first, and not for what comes again.
                    if drawn.contains(body) {
                        super::ask(place, token, &body.replacen('{', "{\"patient\":true,", 1));
                    } else {
                        super::ask(place, token, body);
                        drawn.push(body.clone());
                    }
                    // As the page does, a search goes on so long after the last answer; the rest keeps its rhythm.
                    *at = if body.contains("Health.hp <") { Instant::now() } else { now } + *every;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// An event stream that a client reads.
fn listen(place: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(place).expect("the app listens");
    let request = format!("GET /events?token={token} HTTP/1.1\r\nHost: {place}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it is taken");
    let mut reader = stream.try_clone().expect("a second handle");
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    stream
}
