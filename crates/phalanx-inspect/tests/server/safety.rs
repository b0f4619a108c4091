//! Which requests the server accepts, and that no client can slow the app or fill its memory.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use phalanx_inspect::Inspector;

use crate::client::{memory, status};
use crate::world::{Name, Running};

#[test]
fn without_the_token_host_or_site_everything_is_forbidden() {
    let app = Running::start(Inspector::default().allow_edits());
    let (address, host) = (&app.address, app.address.host());
    let (port, token) = (address.port, &address.token);
    let auth = format!("Authorization: Bearer {token}\r\n");
    for path in ["/", "/events", "/trace.json", "/nothing", "/../../etc/passwd"] {
        assert_eq!(address.status(&format!("GET {path}"), &host), 403, "{path}: no token");
        let wrong = "0".repeat(token.len());
        assert_eq!(address.status(&format!("GET {path}?token={wrong}"), &host), 403, "{path}: wrong token");
        assert_eq!(address.status(&format!("GET {path}?token={}", &token[1..]), &host), 403);
        for other in ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", "[::1]:80", ""]
        {
            let headers = format!("Host: {other}\r\n");
            assert_eq!(
                address.status(&format!("GET {path}?token={token}"), &headers),
                403,
                "{path}: host {other}"
            );
        }
        assert_eq!(address.status(&format!("GET {path}?token={token}"), ""), 403, "{path}: no host");
        for origin in
            ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "http://localhost"]
        {
            let headers = format!("{host}Origin: {origin}\r\n{auth}");
            assert_eq!(address.status(&format!("GET {path}"), &headers), 403, "{path}: origin {origin}");
        }
        let headers = format!("{host}Sec-Fetch-Site: cross-site\r\n{auth}");
        assert_eq!(address.status(&format!("GET {path}"), &headers), 403, "{path}: another site");
    }
    assert_eq!(address.status(&format!("GET /?token={token}"), &host), 200);
    let headers = format!(
        "Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\nSec-Fetch-Site: same-origin\r\n{auth}"
    );
    assert_eq!(address.status("GET /", &headers), 200);
    app.wait_frames(3);
}

#[test]
fn only_loopback_is_listened_on() {
    let app = Running::start(Inspector::default());
    // Where the system lists its sockets: 127.0.0.1 in the order of its bytes, the port, and that it listens.
    let Ok(sockets) = std::fs::read_to_string("/proc/net/tcp") else { return };
    let port = format!(":{:04X}", app.address.port);
    let listening: Vec<&str> = sockets
        .lines()
        .map(|line| line.split_whitespace().skip(1).step_by(2).take(2).collect::<Vec<_>>())
        .filter(|socket| socket[0].ends_with(&port) && socket[1] == "0A")
        .map(|socket| socket[0])
        .collect();
    assert_eq!(listening, [format!("0100007F{port}")]);
    let sockets = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    assert!(!sockets.contains(&format!("{port} 00000000000000000000000000000000:0000 0A")), "{sockets}");
}

#[test]
fn no_answer_allows_other_sites_or_is_kept() {
    let app = Running::start(Inspector::default());
    let page = app
        .address
        .raw(format!("GET /?token={} HTTP/1.1\r\n{}\r\n", app.address.token, app.address.host()).as_bytes());
    let head = page.split_once("\r\n\r\n").expect("a head").0.to_ascii_lowercase();
    assert!(!head.contains("access-control"), "{head}");
    for part in [
        "cache-control: no-store",
        "nosniff",
        "x-frame-options: deny",
        "default-src 'none'",
        "referrer-policy: no-referrer",
    ] {
        assert!(head.contains(part), "{part} is missing in {head}");
    }
    assert!(!page.contains(&app.address.token), "the page itself does not hold the token");
    let preflight = format!(
        "{}Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n",
        app.address.host()
    );
    assert_eq!(app.address.status("OPTIONS /api", &preflight), 403);
}

#[test]
fn paths_lead_nowhere_else() {
    let app = Running::start(Inspector::default());
    let token = &app.address.token;
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/page/index.html",
        "/api/",
        "/index.html",
        "/./",
    ] {
        assert_eq!(
            app.address.status(&format!("GET {path}?token={token}"), &app.address.host()),
            404,
            "{path}"
        );
    }
    assert_eq!(app.address.status(&format!("DELETE /api?token={token}"), &app.address.host()), 405);
    assert_eq!(app.address.status(&format!("POST /?token={token}"), &app.address.host()), 405);
    assert_eq!(
        app.address.status(&format!("POST /api?token={token}"), &app.address.host()),
        415,
        "a plain form is refused"
    );
}

#[test]
fn malformed_requests_are_refused_and_the_app_goes_on() {
    let app = Running::start(Inspector::default());
    let (address, host) = (&app.address, app.address.host());
    let with = |text: &str| status(&address.raw(text.as_bytes()));
    assert_eq!(with("\r\n\r\n"), 400);
    assert_eq!(with("GET\r\n\r\n"), 400);
    assert_eq!(with("GET / HTTP/9.9\r\n\r\n"), 400);
    assert_eq!(with("GET http://127.0.0.1/ HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(with("GET / HTTP/1.1\r\nno colon here\r\n\r\n"), 400);
    assert_eq!(with(&format!("GET / HTTP/1.1\r\n{host}{host}\r\n")), 400);
    assert_eq!(with(&format!("POST /api HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n")), 400);
    assert_eq!(
        with(&format!("POST /api HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n")),
        413
    );
    assert_eq!(with(&format!("POST /api HTTP/1.1\r\n{host}Content-Length: 10000000\r\n\r\n")), 413);
    assert_eq!(
        with(&format!("POST /api HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
        501
    );
    assert_eq!(
        with(&format!("GET / HTTP/1.1\r\n{host}A: {}\r\n\r\n", "a".repeat(20_000))),
        431,
        "a giant header"
    );
    assert_eq!(with(&format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(200))), 431, "many headers");
    assert_eq!(with(&format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a".repeat(20_000))), 431, "a giant address");
    assert_eq!(status(&address.raw(&[0xff, 0xfe, b'\r', b'\n', b'\r', b'\n'])), 400);
    let mut random = 1_u64;
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..64)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                random.to_le_bytes()[7]
            })
            .chain(*b"\r\n\r\n")
            .collect();
        assert!(matches!(status(&address.raw(&bytes)), 400 | 431), "noise is refused");
    }
    app.wait_frames(3);
}

#[test]
fn markup_in_names_and_values_is_escaped() {
    let app = Running::start(Inspector::default());
    let body = app.address.post("{\"method\":\"world.query\",\"params\":{\"query\":\"Frozen\"}}");
    let body = body.split_once("\r\n\r\n").expect("a body").1;
    assert!(body.contains("onerror") && !body.contains('<') && !body.contains('>'), "{body}");
    let echo = app.address.post("{\"method\":\"<script>\",\"id\":\"</script>\"}");
    assert!(!echo.split_once("\r\n\r\n").expect("a body").1.contains('<'), "{echo}");
}

#[test]
fn ten_thousand_requests_leave_no_thread_and_no_memory_behind() {
    let app = Running::start(Inspector::default());
    let ask = || {
        let answer = app.address.post("{\"method\":\"world.stats\"}");
        assert_eq!(status(&answer), 200, "{answer}");
    };
    (0..500).for_each(|_| ask());
    let before = memory();
    (0..9_500).for_each(|_| ask());
    let grown = memory().saturating_sub(before);
    assert!(grown < 8 << 20, "memory grew by {grown} bytes");
    app.wait_frames(3);
}

#[test]
fn a_hundred_clients_at_once_are_served_or_refused() {
    let app = Running::start(Inspector::default());
    let clients: Vec<_> = (0..100)
        .map(|_| {
            let address = app.address.clone();
            std::thread::spawn(move || status(&address.post("{\"method\":\"world.components\"}")))
        })
        .collect();
    let answers: Vec<u16> = clients.into_iter().map(|client| client.join().expect("a client")).collect();
    // A refusal may be lost, because the server does not wait until it is read.
    assert!(answers.iter().all(|status| matches!(status, 200 | 503 | 0)), "{answers:?}");
    assert!(answers.iter().filter(|status| **status == 200).count() >= 50, "{answers:?}");
    app.wait_frames(3);
    assert_eq!(status(&app.address.post("{\"method\":\"world.stats\"}")), 200, "and it serves on");
}

#[test]
fn clients_that_never_read_or_never_ask_do_not_hold_the_app() {
    let app = Running::start(Inspector::default());
    let (token, host) = (&app.address.token, app.address.host());
    let mut silent: Vec<TcpStream> = Vec::new();
    for n in 0..40 {
        let mut stream = app.address.connect();
        // Streams that are not read, half a request, and nothing at all.
        let text = match n % 3 {
            0 => format!("GET /events?token={token} HTTP/1.1\r\n{host}\r\n"),
            1 => "GET / HT".to_owned(),
            _ => String::new(),
        };
        stream.write_all(text.as_bytes()).expect("it is taken");
        silent.push(stream);
    }
    let before = app.frame();
    for _ in 0..50 {
        assert_eq!(status(&app.address.post("{\"method\":\"world.stats\"}")), 200);
    }
    assert!(app.frame() > before, "frames go on");
    for stream in silent.iter().skip(1) {
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
    drop(silent);
    app.wait_frames(3);
}

#[test]
fn a_client_that_does_not_take_a_large_answer_is_given_up() {
    // Each name is cut at 2,000 letters, and each letter is escaped by six: more than the system keeps for a socket.
    let app = Running::with(Inspector::default(), |world| {
        world.spawn_batch((0..1000).map(|_| Name("<".repeat(2000)))).for_each(drop);
    });
    let body = "{\"method\":\"world.query\",\"params\":{\"query\":\"Name\",\"limit\":1000}}";
    let mut stream = app.address.connect();
    let request = format!(
        "POST /api HTTP/1.1\r\n{}Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        app.address.host(),
        app.address.token,
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it is taken");
    // The answer is on its way; five seconds later it has been taken, or is given up.
    stream.peek(&mut [0]).expect("the answer begins");
    let begun = app.frame();
    std::thread::sleep(Duration::from_secs(8));
    assert!(app.frame() > begun, "frames go on");
    assert_eq!(status(&app.address.post("{\"method\":\"world.stats\"}")), 200, "others are served");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    let (head, rest) = text.split_once("\r\n\r\n").expect("a head");
    let promised = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let promised: usize = promised.and_then(|length| length.parse().ok()).expect("a length");
    assert!(promised > 10 << 20, "the answer is large: {promised} bytes");
    assert!(rest.len() < promised, "the rest was not sent");
}

#[test]
fn a_half_open_request_is_given_up() {
    let app = Running::start(Inspector::default());
    let mut stream = app.address.connect();
    stream.write_all(b"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{").expect("it is taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers and closes");
    assert_eq!(status(&answer), 408);
}

#[test]
fn no_more_than_sixteen_pages_are_told_of_each_frame() {
    let app = Running::start(Inspector::default());
    let request = format!("GET /events?token={} HTTP/1.1\r\n{}\r\n", app.address.token, app.address.host());
    let mut streams = Vec::new();
    for _ in 0..16 {
        let mut stream = app.address.connect();
        stream.write_all(request.as_bytes()).expect("it is taken");
        let mut head = [0; 15];
        stream.read_exact(&mut head).expect("an answer");
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        streams.push(stream);
    }
    assert_eq!(status(&app.address.raw(request.as_bytes())), 503);
    // Each of them gets frames.
    for stream in &mut streams {
        let mut text = String::new();
        let mut some = [0; 512];
        while !text.contains("\"frame\":") {
            let count = stream.read(&mut some).expect("events");
            assert!(count > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&some[..count]));
        }
    }
}

#[test]
fn an_app_that_ends_takes_its_server_along() {
    let app = Running::start(Inspector::default());
    let address = app.address.clone();
    drop(app);
    let refused = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        TcpStream::connect(("127.0.0.1", address.port)).is_err()
    });
    assert!(refused, "no server listens any more");
}

#[test]
fn in_release_nothing_is_served_unless_asked_for() {
    let mut app = phalanx::prelude::App::new();
    app.add_plugins(Inspector::default().quiet());
    app.step(0.1);
    let served = app.world().get_resource::<phalanx_inspect::InspectorAddress>().is_some();
    assert_eq!(served, cfg!(debug_assertions));
}
