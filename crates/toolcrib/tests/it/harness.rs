//! Starts the program, on a data folder that is removed afterwards, with the demo model alone.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A data folder, and the program on it.
pub(crate) struct Home {
    folder: TempDir,
}

/// What a process came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A server that runs until it is dropped.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) ready: Value,
    pub(crate) out: BufReader<ChildStdout>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file beside the data.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// The program on this data folder, without the environment of whoever runs the tests.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.env("TOOLCRIB_DATA", self.path());
        // A configured provider that nothing listens for keeps the usual loopback ports from being looked at.
        command.env("TOOLCRIB_PROVIDERS__NONE__BASE_URL", "http://127.0.0.1:9/v1");
        command
    }

    /// Runs the program to its end, without standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// The same with something piped in.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ended {
        let mut child = piped(&mut self.command(arguments));
        child.stdin.take().unwrap().write_all(input).unwrap();
        ended(child.wait_with_output().unwrap())
    }

    /// Starts a server on any free port.
    pub(crate) fn serve(&self) -> Serving {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        Serving { child, ready, out }
    }
}

impl Serving {
    pub(crate) fn address(&self) -> &str {
        self.ready["address"].as_str().unwrap()
    }

    /// Sends SIGTERM, waits for the end and gives the exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        signal(&self.child, "TERM");
        let code = wait(&mut self.child);
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "more than one line on standard output");
        code
    }

    /// A JSON answer of the API.
    pub(crate) fn get(&self, path: &str, key: &str) -> Value {
        let authority = self.address().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(authority).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{body:?}: {error}"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

/// The program without any environment but a path for programs.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolcrib"));
    command.args(arguments).env_clear();
    command
}

/// Starts a command with all three streams piped.
pub(crate) fn piped(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn ended(output: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Waits for the end, at most [`PATIENCE`]; the exit code.
pub(crate) fn wait(child: &mut Child) -> Option<i32> {
    let mut status = None;
    until("the process ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.and_then(|status| status.code())
}

/// Waits until something holds.
#[expect(clippy::disallowed_methods, reason = "a test waits for a process, in real time")]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal by name, for example `INT`.
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A port of this machine where requests are taken and never answered.
pub(crate) struct Silent {
    pub(crate) address: String,
    /// The head of each request; then an empty text when its connection ends.
    pub(crate) seen: mpsc::Receiver<String>,
}

pub(crate) fn silent() -> Silent {
    answering(String::new())
}

/// A server that answers every request with these events of a stream, and then ends the connection.
pub(crate) fn streaming(events: &[Value]) -> Silent {
    let events = events.iter().fold(String::new(), |text, event| format!("{text}data: {event}\n\n"));
    answering(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}"
    ))
}

fn answering(answer: String) -> Silent {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (send, seen) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, send, answer) = (stream.unwrap(), send.clone(), answer.clone());
            std::thread::spawn(move || {
                let mut bytes = vec![0; 64 * 1024];
                while let Ok(read) = stream.read(&mut bytes) {
                    let _ = send.send(String::from_utf8_lossy(&bytes[..read]).into_owned());
                    if read == 0 || (!answer.is_empty() && stream.write_all(answer.as_bytes()).is_ok()) {
                        break;
                    }
                }
            });
        }
    });
    Silent { address, seen }
}

impl Silent {
    /// Waits for a request that holds this text.
    pub(crate) fn wait_for(&self, text: &str) {
        while !self.seen.recv_timeout(PATIENCE).unwrap().contains(text) {}
    }

    /// Waits for the end of a connection.
    pub(crate) fn wait_for_end(&self) {
        while !self.seen.recv_timeout(PATIENCE).unwrap().is_empty() {}
    }
}
