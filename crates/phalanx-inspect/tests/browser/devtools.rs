//! As much of the DevTools protocol as the test needs: a websocket, commands, and their answers.
//!
//! Clicks and keys are real events of the browser, at the place of the element, so that what covers an element is noticed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::json::Json;

/// No step of the test takes longer, or it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Chromium, if there is one.
pub fn find() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    std::env::split_paths(&paths).flat_map(|dir| names.map(|name| dir.join(name))).find(|path| path.is_file())
}

/// A browser that ends with the test.
pub struct Browser {
    child: Child,
    port: u16,
    profile: PathBuf,
}

impl Browser {
    pub fn start(program: &Path) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let profile = std::env::temp_dir().join(format!("phalanx-browser-{}-{number}", std::process::id()));
        let mut child = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-port=0",
                "--no-first-run",
            ])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Chromium starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert!(lines.read_line(&mut line).expect("text") > 0, "Chromium ended early");
            if let Some(rest) = line.strip_prefix("DevTools listening on ws://127.0.0.1:") {
                break rest.split('/').next().and_then(|port| port.parse().ok()).expect("a port");
            }
        };
        // What it says later does not matter, but must be read.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self { child, port, profile }
    }

    /// Opens an address in the one page there is.
    pub fn open(self, url: &str) -> Page {
        let path = loop {
            let targets = self.get("/json");
            let Ok(Json::List(targets)) = Json::parse(&targets) else { panic!("{targets}") };
            let page = targets.iter().find(|target| target.get("type") == Some(&Json::from("page")));
            if let Some(socket) =
                page.and_then(|page| page.get("webSocketDebuggerUrl")).and_then(Json::as_text)
            {
                break socket.splitn(4, '/').nth(3).expect("a path").to_owned();
            }
        };
        let mut page = Page { socket: connect(self.port, &path), id: 0, browser: self };
        page.command("Page.enable", "{}");
        page.command("Runtime.enable", "{}");
        let watch = "window.phalanxErrors = []; addEventListener('error', (e) => phalanxErrors.push(e.message)); \
                     addEventListener('unhandledrejection', (e) => phalanxErrors.push(String(e.reason))); \
                     addEventListener('securitypolicyviolation', (e) => phalanxErrors.push(e.violatedDirective));";
        page.command(
            "Page.addScriptToEvaluateOnNewDocument",
            &Json::object([("source", watch.into())]).to_string(),
        );
        page.command("Page.navigate", &Json::object([("url", url.into())]).to_string());
        page.wait("location.protocol === 'http:' && document.readyState === 'complete'");
        page
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("Chromium listens");
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port);
        stream.write_all(request.as_bytes()).expect("it is taken");
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a head");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        String::from_utf8(body).expect("text")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn connect(port: u16, path: &str) -> TcpStream {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("Chromium listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let request = format!(
        "GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: cGhhbGFueCBpbnNwZWN0IQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).expect("it is taken");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("an answer");
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    socket
}

/// An open page.
pub struct Page {
    socket: TcpStream,
    id: u32,
    #[expect(dead_code, reason = "ends when it is dropped")]
    browser: Browser,
}

impl Page {
    fn command(&mut self, method: &str, params: &str) -> Json {
        self.id += 1;
        let text = format!("{{\"id\":{},\"method\":\"{method}\",\"params\":{params}}}", self.id);
        self.send(text.as_bytes());
        loop {
            let message = self.receive();
            // Events come in between; those are not for us.
            if message.starts_with(&format!("{{\"id\":{},", self.id)) {
                let answer = Json::parse(&message).expect("JSON");
                assert_eq!(answer.get("error"), None, "{method} {params}");
                return answer.get("result").cloned().unwrap_or(Json::Null);
            }
        }
    }

    fn send(&mut self, text: &[u8]) {
        let mut frame = vec![0x81, 0xff];
        frame.extend_from_slice(&(text.len() as u64).to_be_bytes());
        // A mask of zeros is a mask, too.
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(text);
        self.socket.write_all(&frame).expect("it is taken");
    }

    fn receive(&mut self) -> String {
        let mut message = Vec::new();
        loop {
            let mut head = [0; 2];
            self.socket.read_exact(&mut head).expect("a message");
            let length = match head[1] & 0x7f {
                126 => {
                    let mut length = [0; 2];
                    self.socket.read_exact(&mut length).expect("a length");
                    u64::from(u16::from_be_bytes(length))
                }
                127 => {
                    let mut length = [0; 8];
                    self.socket.read_exact(&mut length).expect("a length");
                    u64::from_be_bytes(length)
                }
                length => length.into(),
            };
            let mut part = vec![0; usize::try_from(length).expect("a length")];
            self.socket.read_exact(&mut part).expect("a message");
            assert_ne!(head[0] & 0xf, 8, "the page was closed");
            if head[0] & 0xf < 3 {
                message.extend_from_slice(&part);
                if head[0] & 0x80 != 0 {
                    return String::from_utf8(message).expect("text");
                }
            }
        }
    }

    /// The value of an expression.
    pub fn eval(&mut self, expression: &str) -> Json {
        let params = Json::object([("expression", expression.into()), ("returnByValue", true.into())]);
        let answer = self.command("Runtime.evaluate", &params.to_string());
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer.get("result").and_then(|result| result.get("value")).cloned().unwrap_or(Json::Null)
    }

    /// Waits until an expression holds.
    pub fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        while self.eval(expression) != Json::Bool(true) {
            if start.elapsed() > PATIENCE {
                self.picture(&std::env::temp_dir().join("phalanx-inspect-failed.png"));
                panic!(
                    "never true: {expression}; errors: {}",
                    self.eval("JSON.stringify(window.phalanxErrors)")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lets the page draw what it has.
    pub fn settle(&mut self) {
        std::thread::sleep(Duration::from_millis(700));
    }

    /// Clicks the middle of the first element that a selector finds.
    pub fn click(&mut self, selector: &str) {
        let selector = Json::from(selector);
        self.wait(&format!("document.querySelector({selector}) !== null"));
        self.eval(&format!("document.querySelector({selector}).scrollIntoView({{block: 'nearest'}})"));
        let place = self.eval(&format!(
            "(() => {{ const r = document.querySelector({selector}).getBoundingClientRect(); \
             return Math.round(r.x + r.width / 2) + ',' + Math.round(r.y + r.height / 2); }})()"
        ));
        let place =
            place.as_text().and_then(|text| text.split_once(',')).map(|(x, y)| (x.to_owned(), y.to_owned()));
        let (x, y) = place.expect("a place");
        for kind in ["mousePressed", "mouseReleased"] {
            let params =
                format!("{{\"type\":\"{kind}\",\"x\":{x},\"y\":{y},\"button\":\"left\",\"clickCount\":1}}");
            self.command("Input.dispatchMouseEvent", &params);
        }
    }

    /// Clicks a field, and types over what is there.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.eval(&format!("document.querySelector({}).select()", Json::from(selector)));
        self.command("Input.insertText", &Json::object([("text", text.into())]).to_string());
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        let text = if key == "Enter" { ",\"text\":\"\\r\",\"windowsVirtualKeyCode\":13" } else { "" };
        self.command("Input.dispatchKeyEvent", &format!("{{\"type\":\"keyDown\",\"key\":\"{key}\"{text}}}"));
        self.command("Input.dispatchKeyEvent", &format!("{{\"type\":\"keyUp\",\"key\":\"{key}\"}}"));
    }

    pub fn size(&mut self, width: u32, height: u32) {
        let mobile = width < 500;
        let params =
            format!("{{\"width\":{width},\"height\":{height},\"deviceScaleFactor\":1,\"mobile\":{mobile}}}");
        self.command("Emulation.setDeviceMetricsOverride", &params);
    }

    pub fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let params =
            format!("{{\"features\":[{{\"name\":\"prefers-color-scheme\",\"value\":\"{value}\"}}]}}");
        self.command("Emulation.setEmulatedMedia", &params);
    }

    /// Writes what is to be seen to a file.
    pub fn picture(&mut self, file: &Path) {
        let answer = self.command("Page.captureScreenshot", "{\"format\":\"png\"}");
        let data = answer.get("data").and_then(Json::as_text).expect("a picture");
        let bytes = base64(data);
        assert!(bytes.starts_with(b"\x89PNG"), "a picture");
        std::fs::write(file, bytes).expect("a file");
    }
}

fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> =
        text.bytes().filter(|byte| *byte != b'=').map(|byte| u32::from(value(byte))).collect();
    let group = |four: &[u32]| {
        let joined = four.iter().enumerate().fold(0, |joined, (at, digit)| joined | digit << (18 - 6 * at));
        joined.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
