//! A running server on a folder of its own.

use std::path::Path;
use std::time::Duration;

use axum::http::Method;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolcrib_server::assemble::Installation;
use toolcrib_server::client::{ClientError, Connection};
use toolcrib_server::config::Config;
use toolcrib_server::environment::Environment;
use toolcrib_server::serve::Server;

use crate::upstream::Upstream;

pub(crate) struct Running {
    pub(crate) address: String,
    pub(crate) key: String,
    pub(crate) data: TempDir,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// A server with the demo model only.
    pub(crate) async fn demo() -> Self {
        Self::start("", &[("TOOLCRIB_PROVIDERS__NONE__BASE_URL", "http://127.0.0.1:9/v1")]).await
    }

    /// A server whose only provider is this one.
    pub(crate) async fn with(upstream: &Upstream) -> Self {
        Self::with_config(upstream, "").await
    }

    /// The same with more configuration.
    pub(crate) async fn with_config(upstream: &Upstream, config: &str) -> Self {
        let variables = [("OPENAI_BASE_URL", upstream.base_url.as_str()), ("OPENAI_API_KEY", "sk-canary")];
        Self::start(config, &variables).await
    }

    pub(crate) async fn start(config: &str, variables: &[(&str, &str)]) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        Self::start_on(data, config, variables).await
    }

    pub(crate) async fn start_on(data: TempDir, config: &str, variables: &[(&str, &str)]) -> Self {
        let environment: Environment =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut config = Config::parse(config, Path::new("toolcrib.toml"), &environment).expect("valid");
        config.server.listen.set_port(0);
        let assembled = Installation::assemble(config, data.path().to_owned(), &environment).await;
        let server = Server::bind(assembled.expect("assembled"), data.path()).await.expect("bound");
        let key = server.installation().first_key().await.expect("stored").unwrap_or_default();
        let address = format!("http://{}", server.address());
        let stop = CancellationToken::new();
        let task = tokio::spawn(server.run(stop.clone()));
        Self { address, key, data, stop, task }
    }

    pub(crate) fn connection(&self) -> Connection {
        self.connection_with(Some(&self.key))
    }

    pub(crate) fn connection_with(&self, key: Option<&str>) -> Connection {
        Connection::to_server(&self.address, key).expect("an address")
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.connection().json(Method::GET, path, None).await.expect(path)
    }

    /// Sends a chat request; fields of `more` are added to the body.
    pub(crate) async fn chat(&self, prompt: &str, more: Value) -> Result<Value, ClientError> {
        let body = chat_body(prompt, &more);
        self.connection().json(Method::POST, "/v1/chat/completions", Some(&body)).await
    }

    /// The same, streamed; an error event is an error.
    pub(crate) async fn stream(&self, prompt: &str, more: Value) -> Result<Vec<Value>, ClientError> {
        let mut body = chat_body(prompt, &more);
        body["stream"] = json!(true);
        let reply = self.connection().send(Method::POST, "/v1/chat/completions", &[], Some(&body)).await?;
        let mut events = reply.events();
        let mut chunks = Vec::new();
        while let Some(event) = events.next().await {
            let chunk = event?;
            if let Some(error) = chunk.get("error") {
                let text = |field: &str| error[field].as_str().unwrap_or_default().to_owned();
                return Err(ClientError::Refused {
                    status: 200,
                    code: text("code"),
                    message: text("message"),
                    hint: None,
                });
            }
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    /// The latest run, once it has ended.
    pub(crate) async fn last_run(&self) -> Value {
        for _ in 0..400 {
            let runs = self.get("/api/v1/runs?limit=1").await;
            let run = runs["runs"][0].clone();
            if !run.is_null() && run["state"] != "running" {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the run did not end");
    }

    /// The traces of the latest run.
    pub(crate) async fn last_traces(&self) -> Vec<Value> {
        let run = self.last_run().await;
        let path = format!("/api/v1/runs/{}/traces", run["id"].as_str().expect("an id"));
        self.get(&path).await["traces"].as_array().expect("a list").clone()
    }

    /// Stops gracefully and gives the folder back.
    pub(crate) async fn stop(self) -> TempDir {
        self.stop.cancel();
        self.task.await.expect("the server does not panic");
        self.data
    }
}

fn chat_body(prompt: &str, more: &Value) -> Value {
    let mut body = json!({"model": "openai/m", "messages": [{"role": "user", "content": prompt}]});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

/// The text of a whole answer.
pub(crate) fn content(answer: &Value) -> &str {
    answer["choices"][0]["message"]["content"].as_str().expect("text")
}

/// The text of a streamed answer.
pub(crate) fn streamed(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect()
}

/// The code of a refusal.
pub(crate) fn code(error: &ClientError) -> (u16, &str) {
    match error {
        ClientError::Refused { status, code, .. } => (*status, code),
        other => panic!("not a refusal: {other}"),
    }
}
