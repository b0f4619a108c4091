//! HTTP/1.1, as much of it as one page and one interface need: a request read within bounds, an answer written.
//!
//! Each connection carries one request. Whatever is too long, too slow or not HTTP ends with a status that says so;
//! nothing of it is kept. This file knows neither tokens nor worlds.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// No head of a request is longer.
pub const MAX_HEAD: usize = 16 * 1024;
/// No body of a request is longer.
pub const MAX_BODY: usize = 64 * 1024;
/// A request has arrived after this time, or it is given up.
pub const READ_TIME: Duration = Duration::from_secs(5);
/// An answer has been taken after this time, or it is given up.
pub const WRITE_TIME: Duration = Duration::from_secs(5);

/// A request.
#[derive(Debug, Default)]
pub struct Request {
    /// `GET`, `POST`.
    pub method: String,
    /// The path, without what follows `?`.
    pub path: String,
    /// What follows `?`, as pairs, decoded.
    pub query: Vec<(String, String)>,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header that occurs once; `None` when it is missing.
    ///
    /// # Errors
    /// When it occurs more than once: two readers might believe different ones.
    pub fn header(&self, name: &str) -> Result<Option<&str>, Refused> {
        let mut found =
            self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            _ => Err(Refused(400, "a header occurs twice")),
        }
    }

    /// The value of a parameter of the address.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Why a request is not answered: a status and a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub u16, pub &'static str);

/// Reads a request.
///
/// # Errors
/// When it is not one, too long, or too slow.
pub fn read(stream: &mut TcpStream) -> Result<Request, Refused> {
    let deadline = Instant::now() + READ_TIME;
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MAX_HEAD {
            return Err(Refused(431, "the head of the request is too long"));
        }
        read_some(stream, &mut bytes, deadline)?;
    };
    if head > MAX_HEAD {
        return Err(Refused(431, "the head of the request is too long"));
    }
    let mut request = parse_head(&bytes[..head])?;
    if request.header("transfer-encoding")?.is_some() {
        return Err(Refused(501, "bodies in pieces are not supported"));
    }
    let length = match request.header("content-length")? {
        None => 0,
        Some(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map_err(|_| Refused(413, "the body is too long"))?
        }
        Some(_) => return Err(Refused(400, "the length of the body is not a number")),
    };
    if length > MAX_BODY {
        return Err(Refused(413, "the body is too long"));
    }
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        read_some(stream, &mut body, deadline)?;
    }
    body.truncate(length);
    request.body = body;
    Ok(request)
}

fn read_some(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> Result<(), Refused> {
    let slow = Refused(408, "the request took too long");
    let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()).ok_or(slow)?;
    let mut some = [0; 4096];
    stream.set_read_timeout(Some(left)).map_err(|_| slow)?;
    match stream.read(&mut some) {
        Ok(0) => Err(Refused(400, "the request ended early")),
        Ok(count) => {
            bytes.extend_from_slice(&some[..count]);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(_) => Err(slow),
    }
}

fn parse_head(head: &[u8]) -> Result<Request, Refused> {
    let bad = Refused(400, "this is not an HTTP request");
    let head = std::str::from_utf8(head).map_err(|_| bad)?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad);
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || !target.starts_with('/') {
        return Err(bad);
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request { method: method.to_owned(), path: path.to_owned(), ..Request::default() };
    for pair in query.split('&').filter(|pair| !pair.is_empty()).take(16) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        request.query.push((decode(name), decode(value)));
    }
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(bad)?;
        // A space before the colon, or a line that goes on, is where servers have been fooled.
        let is_name = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
        if name.is_empty() || !name.bytes().all(is_name) || value.contains(['\r', '\n', '\0']) {
            return Err(bad);
        }
        if request.headers.len() == 100 {
            return Err(Refused(431, "too many headers"));
        }
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(request)
}

/// Decodes `%41` and `+`; what is no code stays.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                at += 2;
            }
            None => out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] }),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// An answer.
pub struct Response {
    pub status: u16,
    pub content_type: &'static str,
    /// More headers, each with its end of line.
    pub headers: String,
    pub body: Vec<u8>,
}

impl Response {
    /// An answer of this type.
    pub fn ok(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, headers: String::new(), body: body.into() }
    }

    /// Writes the answer; the connection is done then.
    pub fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE_TIME))?;
        let Self { status, content_type, headers, body } = self;
        let reason = reason(*status);
        let mut bytes = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{COMMON}{headers}\r\n",
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        write_all(stream, &bytes)
    }
}

impl From<Refused> for Response {
    fn from(Refused(status, reason): Refused) -> Self {
        Self { status, ..Self::ok("text/plain; charset=utf-8", format!("{reason}\n")) }
    }
}

/// What every answer says: nothing is kept, guessed, framed, or passed to other sites.
pub const COMMON: &str = "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n";

/// Writes everything within [`WRITE_TIME`] altogether, however slowly it is taken.
pub fn write_all(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let deadline = Instant::now() + WRITE_TIME;
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_taken_apart() {
        let head = b"GET /a%20b?token=x%2By&q=1+2 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-A:  b ";
        let request = parse_head(head).expect("well formed");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a%20b"));
        assert_eq!(request.parameter("token"), Some("x+y"));
        assert_eq!(request.parameter("q"), Some("1 2"));
        assert_eq!(request.header("x-a"), Ok(Some("b")));
        assert_eq!(request.header("x-b"), Ok(None));
    }

    #[test]
    fn what_is_not_http_is_refused() {
        for head in [
            "",
            "GET",
            "GET / HTTP/2",
            "GET  / HTTP/1.1",
            "GET http://a/ HTTP/1.1",
            "GET / HTTP/1.1\r\nnocolon",
            "GET / HTTP/1.1\r\nA : b",
            "GET / HTTP/1.1\r\n folded: b",
            "GET / HTTP/1.1\r\n: b",
        ] {
            assert!(parse_head(head.as_bytes()).is_err(), "{head:?}");
        }
        let twice = parse_head(b"GET / HTTP/1.1\r\nHost: a\r\nhost: b").expect("well formed");
        assert!(twice.header("host").is_err());
    }
}
