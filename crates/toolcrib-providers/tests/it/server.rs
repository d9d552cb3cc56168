//! A scripted HTTP server on loopback: one exchange per connection, written byte by byte as the script says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One step of an exchange. After the last one the connection is closed.
#[derive(Clone)]
pub(crate) enum Step {
    Send(String),
    Pause(Duration),
    /// Keep the connection open for as long as the client does.
    Hold,
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Server {
    /// Answers the first connection with the first exchange, and so on; the last one is repeated.
    pub(crate) async fn start(exchanges: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            for number in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let steps = exchanges.get(number).or(exchanges.last()).cloned().unwrap_or_default();
                tokio::spawn(exchange(stream, steps, Arc::clone(&seen)));
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// A whole response with a right length.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    vec![Step::Send(format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    ))]
}

pub(crate) fn json(status: &str, body: &str) -> Vec<Step> {
    response(status, "content-type: application/json\r\n", body)
}

/// A stream that ends when the connection is closed.
pub(crate) fn events(payloads: &[&str]) -> Vec<Step> {
    let mut steps = vec![head("text/event-stream")];
    steps.extend(payloads.iter().map(|payload| Step::Send(format!("data: {payload}\n\n"))));
    steps
}

pub(crate) fn head(kind: &str) -> Step {
    Step::Send(format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"))
}

async fn exchange(mut stream: TcpStream, steps: Vec<Step>, seen: Arc<Mutex<Vec<Request>>>) {
    let Some(request) = read(&mut stream).await else { return };
    seen.lock().unwrap().push(request);
    for step in steps {
        match step {
            Step::Send(text) => {
                if stream.write_all(text.as_bytes()).await.is_err() {
                    return;
                }
            }
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::Hold => {
                let mut rest = [0; 64];
                while stream.read(&mut rest).await.is_ok_and(|count| count > 0) {}
            }
        }
    }
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) {
            let (line, headers) = head.split_once("\r\n").unwrap();
            return Some(Request {
                line: line.to_owned(),
                headers: headers.to_owned(),
                body: body.to_owned(),
            });
        }
    }
}
