//! A hundred clients for a while, one of which never reads: the memory of the app stays what it is.
//!
//! The clients are a process of their own, so that what is measured is the app and not they. `PHALANX_SOAK_SECONDS` sets for
//! how long: three seconds unless it is set, ten minutes for a figure to be trusted. With `--nocapture` the resident size is
//! printed on the way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use phalanx_inspect::Inspector;

use crate::client::{Address, memory, status};
use crate::world::Running;

const CLIENTS: u64 = 100;
/// The variable that tells clients where the app is.
const ADDRESS: &str = "PHALANX_SOAK_ADDRESS";

/// What clients ask for, again and again; some of it is wrong.
const BODIES: &[&str] = &[
    "{\"method\":\"world.stats\"}",
    "{\"method\":\"world.query\",\"params\":{\"query\":\"Position, Health.hp < 50\",\"fresh\":true}}",
    "{\"method\":\"world.get\",\"params\":{\"entity\":\"0\"}}",
    "{\"method\":\"world.tables\"}",
    "{\"method\":\"app.timeline\",\"params\":{\"frames\":240}}",
    "{\"method\":\"app.schedule\"}",
    "{\"method\":\"world.difference\",\"params\":{\"entity\":\"0\",\"from\":3}}",
    "{\"method\":\"world.set\",\"params\":{\"entity\":\"0\",\"component\":\"Health\",\"field\":\"hp\",\"value\":7}}",
    "{\"method\":\"nothing\"}",
    "{not json",
];

/// Asks until it is told to stop; how many answers came.
fn ask(address: &Address, number: u64, stop: &AtomicBool, answered: &AtomicU64) {
    let mut turn = usize::try_from(number).expect("a small number");
    while !stop.load(Ordering::Relaxed) {
        // A refusal may be lost, because the server does not wait until it is read.
        let answer = status(&address.post(BODIES[turn % BODIES.len()]));
        // A machine that is busy elsewhere may run no frame for a while.
        assert!(matches!(answer, 200 | 400 | 503 | 504 | 0), "{answer}");
        answered.fetch_add(u64::from(answer == 200), Ordering::Relaxed);
        turn += 1;
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A stream, and an answer, that are never read; the server gives them up, so they are opened anew.
fn never_read(address: &Address, stop: &AtomicBool) {
    let token = &address.token;
    let stream = format!("GET /events?token={token} HTTP/1.1\r\n{}\r\n", address.host());
    while !stop.load(Ordering::Relaxed) {
        let mut silent: Vec<TcpStream> = Vec::new();
        for text in [stream.as_str(), "POST /api HT"] {
            let mut client = address.connect();
            let _ = client.write_all(text.as_bytes());
            silent.push(client);
        }
        for _ in 0..70 {
            if !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// The clients, until the input ends: started by the test below, with the address of its app.
#[test]
#[ignore = "the process of the clients, which the soak test starts"]
fn clients() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let address = Address::of(&address);
    let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    std::thread::scope(|scope| {
        scope.spawn(|| never_read(&address, &stop));
        for number in 0..CLIENTS {
            let (address, stop, answered) = (&address, &stop, &answered);
            scope.spawn(move || ask(address, number, stop, answered));
        }
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stop.store(true, Ordering::Relaxed);
    });
    println!("\nanswered {}", answered.load(Ordering::Relaxed));
}

#[test]
fn memory_is_flat_with_a_hundred_clients_and_one_that_never_reads() {
    let seconds = std::env::var("PHALANX_SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let app = Running::start(Inspector::default().allow_edits().history(10));
    let url = format!("http://127.0.0.1:{}/?token={}", app.address.port, app.address.token);
    let mut clients = Command::new(std::env::current_exe().expect("this test"))
        .args(["soak::clients", "--exact", "--ignored", "--nocapture"])
        .env(ADDRESS, url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("clients start");
    let begin = Instant::now();
    let whole = Duration::from_secs(seconds);
    let (mut settled, mut grown, mut frames) = (0, 0, app.frame());
    for part in 1..=20_u32 {
        // Answers on their way come and go: what stays is the least.
        let (mut least, mut most) = (usize::MAX, 0);
        while begin.elapsed() < whole * part / 20 {
            std::thread::sleep(Duration::from_millis(20));
            let now = memory();
            (least, most) = (least.min(now), most.max(now));
        }
        let (seconds, least_kib) = (begin.elapsed().as_secs_f64(), least / 1024);
        println!("{seconds:6.1} s  {least_kib:6} to {:6} KiB resident", most / 1024);
        // Threads have their stacks and caches are warm by then.
        if part == 5 {
            settled = least;
        }
        grown = least.saturating_sub(settled);
        while app.frame() == frames {
            std::thread::sleep(Duration::from_millis(20));
        }
        frames = app.frame();
    }
    drop(clients.stdin.take());
    let lines = BufReader::new(clients.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let answered = lines.filter_map(|line| line.strip_prefix("answered ")?.parse::<u64>().ok()).last();
    assert!(clients.wait().expect("clients end").success(), "no client was answered wrongly");
    println!("{answered:?} answers, {} KiB more than after a quarter of the time", grown / 1024);
    // In three seconds little has settled.
    let allowed = if seconds < 300 { 8 << 20 } else { settled / 16 };
    assert!(grown < allowed, "memory grew by {grown} bytes");
    assert!(answered > Some(10 * seconds), "clients were answered: {answered:?}");
    assert_eq!(status(&app.address.post(BODIES[0])), 200, "and it serves on");
}
