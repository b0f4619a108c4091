//! The server: one thread that listens on loopback, one per connection, each with one request.
//!
//! Connections and streams are counted, and refused beyond a limit; every read and write has a time after which it is
//! given up. No thread here knows the world: what a request asks for is answered by the tool between two frames.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::guard;
use crate::http::{self, COMMON, Refused, Request, Response};
use crate::json::Json;
use crate::page;
use crate::protocol::failure;
use crate::shared::{Call, Shared};

/// No more connections are served at a time.
pub const MAX_CONNECTIONS: usize = 64;
/// No more event streams are open at a time.
pub const MAX_STREAMS: usize = 16;
/// An app that runs no frame for this long does not answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// A server that runs until it is dropped.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the threads of one server know.
struct Context {
    shared: Arc<Shared>,
    port: u16,
    connections: AtomicUsize,
    streams: AtomicUsize,
}

impl Server {
    /// Listens on a port of loopback; 0 for one that is free.
    pub fn start(port: u16, shared: Arc<Shared>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let (connections, streams) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let context = Arc::new(Context { shared: Arc::clone(&shared), port, connections, streams });
        let name = "phalanx-inspect".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || listen(&listener, &context))?;
        Ok(Self { port, shared, thread: Some(thread) })
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.close();
        // A connection wakes the listener, which then sees that it is closed.
        let woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            drop(thread.join());
        }
    }
}

fn listen(listener: &TcpListener, context: &Arc<Context>) {
    for stream in listener.incoming() {
        if context.shared.is_closing() {
            return;
        }
        let Ok(mut stream) = stream else {
            // Out of files, most likely: later there may be some.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let Some(place) = Place::take(context, MAX_CONNECTIONS, |context| &context.connections) else {
            let _ = stream.set_nonblocking(true);
            let _ = stream
                .write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            continue;
        };
        let context = Arc::clone(context);
        let serve = move || {
            let _place = place;
            serve(&mut stream, &context);
        };
        // Without a thread the connection is dropped, and its place is free again.
        drop(thread::Builder::new().name("phalanx-inspect".to_owned()).stack_size(256 * 1024).spawn(serve));
    }
}

/// One of a limited number, given back when it is dropped.
struct Place {
    context: Arc<Context>,
    count: fn(&Context) -> &AtomicUsize,
}

impl Place {
    fn take(context: &Arc<Context>, most: usize, count: fn(&Context) -> &AtomicUsize) -> Option<Self> {
        let place = Self { context: Arc::clone(context), count };
        let before = count(context).fetch_add(1, Ordering::Relaxed);
        // Dropped when there are too many, which takes it back.
        (before < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        (self.count)(&self.context).fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(stream: &mut TcpStream, context: &Arc<Context>) {
    let _ = stream.set_nodelay(true);
    let answer = http::read(stream).and_then(|request| {
        guard::check(&request, context.port, context.shared.token())?;
        route(&request, context)
    });
    let written = match answer {
        Ok(Answer::Response(response)) => response.write(stream),
        Ok(Answer::Events(place)) => events(stream, &context.shared, place),
        Err(refused) => Response::from(refused).write(stream),
    };
    if written.is_ok() {
        // What was not read would make the system take the answer back.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
        let mut rest = [0; 1024];
        let _ = (0..64).try_for_each(|_| match stream.read(&mut rest) {
            Ok(count) if count > 0 => Ok(()),
            _ => Err(()),
        });
    }
}

enum Answer {
    Response(Response),
    Events(Place),
}

fn route(request: &Request, context: &Arc<Context>) -> Result<Answer, Refused> {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/") => Ok(Answer::Response(page::page())),
        ("GET", "/events") => Place::take(context, MAX_STREAMS, |context| &context.streams)
            .map(Answer::Events)
            .ok_or(Refused(503, "too many pages are open")),
        ("GET", "/trace.json") => {
            let call = Json::object([("method", "app.trace".into()), ("raw", true.into())]);
            let mut response = Response::ok("application/json", ask(context, call)?);
            response.headers = "Content-Disposition: attachment; filename=\"trace.json\"\r\n".to_owned();
            Ok(Answer::Response(response))
        }
        ("POST", "/api") => api(request, context).map(Answer::Response),
        (_, "/" | "/events" | "/trace.json" | "/api") => Err(Refused(405, "this method does not fit here")),
        _ => Err(Refused(404, "there is nothing here")),
    }
}

fn api(request: &Request, context: &Context) -> Result<Response, Refused> {
    let kind = request.header("content-type")?.unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Refused(415, "send application/json"));
    }
    let parsed = std::str::from_utf8(&request.body).map_err(|error| error.to_string()).and_then(Json::parse);
    let answer = match parsed {
        Ok(call) => ask(context, call)?,
        Err(error) => failure(&Json::Null, -32700, &format!("not JSON: {error}")).to_string(),
    };
    Ok(Response::ok("application/json", answer))
}

/// Leaves a call for the tool, and waits for its reply.
fn ask(context: &Context, request: Json) -> Result<String, Refused> {
    let (reply, answer) = sync_channel(1);
    let (patient, since) = (request.get("patient") == Some(&Json::Bool(true)), Instant::now());
    if !context.shared.leave(Call { request, patient, since, reply }) {
        return Err(Refused(503, "too many requests wait for an answer"));
    }
    let answer = answer.recv_timeout(ANSWER_TIME);
    answer.map(|json| json.to_string()).map_err(|_| Refused(504, "the app ran no frame for ten seconds"))
}

/// Sends each new state, until the page goes away or does not read.
fn events(stream: &mut TcpStream, shared: &Arc<Shared>, _place: Place) -> io::Result<()> {
    let _looking = shared.stream();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{COMMON}\r\nretry: 1000\n\n");
    http::write_all(stream, head.as_bytes())?;
    let mut seen = 0;
    while !shared.is_closing() {
        let (number, state) = shared.next_state(seen);
        // A line now and then shows whether the client is still there.
        let line = if number == seen { ": still here\n\n".to_owned() } else { format!("data: {state}\n\n") };
        seen = number;
        http::write_all(stream, line.as_bytes())?;
    }
    Ok(())
}
