//! A model provider on loopback that answers by script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One scripted answer to `POST /v1/chat/completions`.
pub(crate) enum Reply {
    /// A stream of chunks, each a JSON object, then `[DONE]`.
    Stream(Vec<Value>),
    /// These bytes as they are, then the connection is closed.
    Raw(Vec<u8>),
    /// Nothing, for ever.
    Stall,
    /// Some chunks, then nothing for ever.
    StreamThenStall(Vec<Value>),
}

pub(crate) struct Upstream {
    pub(crate) base_url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What `GET /v1/models` lists; `None` answers that there is no such thing.
    models: Option<Vec<&'static str>>,
    script: VecDeque<Reply>,
    requests: Vec<Value>,
    open: usize,
}

impl Upstream {
    /// A provider that lists the model `m`.
    pub(crate) async fn start(script: Vec<Reply>) -> Self {
        Self::listing(Some(vec!["m"]), script).await
    }

    /// A provider that lists these models; with `None` it cannot list any.
    pub(crate) async fn listing(models: Option<Vec<&'static str>>, script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State { models, script: script.into(), ..State::default() }));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                tokio::spawn(async move {
                    let _ = serve(stream, state).await;
                });
            }
        });
        Self { base_url, state }
    }

    /// The bodies of the chat requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.state.lock().expect("not poisoned").requests.clone()
    }

    /// Waits until no chat request is open any more.
    pub(crate) async fn idle(&self) {
        for _ in 0..400 {
            if self.state.lock().expect("not poisoned").open == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("a request to the provider stayed open");
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let (head, body) = read_request(&mut stream).await?;
    if head.starts_with("GET /v1/models") {
        let models = state.lock().expect("not poisoned").models.clone();
        let Some(models) = models else {
            return stream.write_all(&http("404 Not Found", "application/json", b"{}")).await;
        };
        let data: Vec<_> = models.iter().map(|id| json!({"id": id, "object": "model"})).collect();
        let list = json!({"object": "list", "data": data}).to_string();
        return stream.write_all(&http("200 OK", "application/json", list.as_bytes())).await;
    }
    let reply = {
        let mut state = state.lock().expect("not poisoned");
        state.requests.push(serde_json::from_slice(&body).unwrap_or_default());
        state.open += 1;
        state.script.pop_front()
    };
    let outcome = answer(&mut stream, reply).await;
    state.lock().expect("not poisoned").open -= 1;
    outcome
}

async fn answer(stream: &mut TcpStream, reply: Option<Reply>) -> std::io::Result<()> {
    let beginning = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    match reply.unwrap_or(Reply::Stall) {
        Reply::Raw(bytes) => stream.write_all(&bytes).await,
        Reply::Stream(chunks) => {
            stream.write_all(beginning).await?;
            for chunk in chunks {
                stream.write_all(format!("data: {chunk}\n\n").as_bytes()).await?;
            }
            stream.write_all(b"data: [DONE]\n\n").await
        }
        Reply::StreamThenStall(chunks) => {
            stream.write_all(beginning).await?;
            for chunk in chunks {
                stream.write_all(format!("data: {chunk}\n\n").as_bytes()).await?;
            }
            until_closed(stream).await
        }
        Reply::Stall => until_closed(stream).await,
    }
}

/// Waits until the other side closes the connection.
async fn until_closed(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut rest = [0; 64];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece).await?;
        bytes.extend_from_slice(&piece[..read]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let mut body = bytes.split_off(end + 4);
        while body.len() < length.unwrap_or(0) {
            let read = stream.read(&mut piece).await?;
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            body.extend_from_slice(&piece[..read]);
        }
        return Ok((head, body));
    }
}

/// A whole HTTP response.
pub(crate) fn http(status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A chunk of text.
pub(crate) fn text(delta: &str) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": delta}}]})
}

/// A chunk with one whole call.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Value {
    let call =
        json!({"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
}

/// The last chunk.
pub(crate) fn finish(reason: &str) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// The answer to a model that the provider does not have.
pub(crate) fn no_such_model() -> Reply {
    let body = br#"{"error":{"message":"The model does not exist","code":"model_not_found"}}"#;
    Reply::Raw(http("404 Not Found", "application/json", body))
}

/// An answer of plain text.
pub(crate) fn says(words: &str) -> Reply {
    Reply::Stream(vec![text(words), finish("stop")])
}

/// An answer that calls a tool.
pub(crate) fn calls(id: &str, name: &str, arguments: &str) -> Reply {
    Reply::Stream(vec![call(id, name, arguments), finish("tool_calls")])
}
