//! A client that speaks as little HTTP as possible, so that it can also speak it wrongly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::json::Json;

/// Where an inspector is, and its token.
#[derive(Clone, Debug)]
pub struct Address {
    pub port: u16,
    pub token: String,
}

impl Address {
    /// Takes `http://127.0.0.1:PORT/?token=TOKEN` apart.
    pub fn of(url: &str) -> Self {
        let rest = url.strip_prefix("http://127.0.0.1:").expect("an address on loopback");
        let (port, token) = rest.split_once("/?token=").expect("a token");
        Self { port: port.parse().expect("a port"), token: token.to_owned() }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
        stream
    }

    /// Sends bytes and returns whatever comes back.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The other side may have refused before all was sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status of the answer to a request with these headers.
    pub fn status(&self, line: &str, headers: &str) -> u16 {
        status(&self.raw(format!("{line} HTTP/1.1\r\n{headers}\r\n").as_bytes()))
    }

    pub fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    /// A well-formed request of the page's kind.
    pub fn post(&self, body: &str) -> String {
        let Self { port, token } = self;
        self.raw(
            format!(
                "POST /api HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nAuthorization: \
                 Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        )
    }

    /// Calls a method, and returns the whole answer.
    pub fn answer(&self, method: &str, params: &str) -> Json {
        let text = self
            .post(&format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{method}\",\"params\":{params}}}"));
        assert_eq!(status(&text), 200, "{text}");
        let body = text.split_once("\r\n\r\n").expect("a body").1;
        Json::parse(body).expect("JSON")
    }

    /// Calls a method that has a result.
    pub fn call(&self, method: &str, params: &str) -> Json {
        let answer = self.answer(method, params);
        answer.get("result").unwrap_or_else(|| panic!("{method} {params}: {answer}")).clone()
    }

    /// Calls a method that fails: its code and reason.
    pub fn fails(&self, method: &str, params: &str) -> (i128, String) {
        let answer = self.answer(method, params);
        let error = answer.get("error").unwrap_or_else(|| panic!("{method} {params}: {answer}"));
        let code = match error.get("code") {
            Some(Json::Int(code)) => *code,
            other => panic!("{other:?}"),
        };
        (code, error.get("message").and_then(Json::as_text).expect("a reason").to_owned())
    }
}

/// The status of an answer; 0 without one.
pub fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// The resident memory of this process in bytes; 0 where it is unknown.
pub fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).map_or(0, |pages| pages * 4096)
}
