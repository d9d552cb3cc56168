use std::path::Path as FilePath;
use std::time::Duration;

use async_trait::async_trait;
use axum::http::Request as HttpRequest;
use tempfile::TempDir;
use tokio::sync::Notify;
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::tool::{Display, Tool, ToolContext, ToolError, ToolOutput};
use toolcrib_storage::record::{Owner, RunFilter, RunRecord};
use toolcrib_storage::store::{Page, RunStore};
use tower::ServiceExt as _;

use super::*;
use crate::assemble::Installation;
use crate::config::Config;
use crate::environment::Environment;

const DEFINITION: &str = r#"{
  "schemaVersion": 1,
  "id": "calculate",
  "implementationKey": "calculate",
  "function": {
    "name": "calculate",
    "descriptionForLLM": "Evaluates an expression. Use it for every calculation.",
    "parameters": {
      "type": "object",
      "properties": { "expression": { "type": "string", "description": "For example 2^64 - 1." } },
      "required": ["expression"],
      "additionalProperties": false
    }
  }
}"#;

/// A tool that never ends by itself.
struct Endless {
    begun: Arc<Notify>,
}

#[async_trait]
impl Tool for Endless {
    fn implementation_key(&self) -> &'static str {
        "calculate"
    }

    fn display(&self, _locale: &str) -> Display {
        Display { name: "Endless".into(), description: String::new(), icon: String::new() }
    }

    async fn call(&self, _arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.begun.notify_one();
        std::future::pending().await
    }
}

async fn installation(data: &TempDir) -> Installation {
    let environment = Environment::default();
    let text = "[server]\ngrace_seconds = 0\n[providers.x]\nbase_url = \"http://127.0.0.1:9\"\n";
    let config = Config::parse(text, FilePath::new("toolcrib.toml"), &environment).expect("valid");
    Installation::assemble(config, data.path().to_owned(), &environment).await.expect("assembled")
}

/// An installation whose one tool is endless, and what says that a call of it has begun.
async fn with_endless_tool(data: &TempDir) -> (Installation, Arc<Notify>) {
    let installation = installation(data).await;
    let begun = Arc::new(Notify::new());
    let tool: Arc<dyn Tool> = Arc::new(Endless { begun: Arc::clone(&begun) });
    let file = DefinitionFile::added("calculate.json", DEFINITION);
    let (catalog, problems) =
        Catalog::build(&[file], &[tool], &toolcrib_runtime::caller::Components::default());
    assert!(problems.is_empty(), "{problems:?}");
    installation.app.registry.publish(catalog);
    (installation, begun)
}

/// Sends the request as a program of the same user; the status of the answer.
async fn send(installation: &Installation) -> u16 {
    let request = HttpRequest::post("/api/v1/tools/calculate/call")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", installation.local_token()))
        .body(Body::from(r#"{"arguments": {"expression": "1+1"}}"#))
        .expect("a request");
    let Ok(response) = installation.router().oneshot(request).await;
    response.status().as_u16()
}

async fn runs(installation: &Installation) -> Vec<RunRecord> {
    let page = Page { limit: 10, after: None };
    installation.app.store.runs(&Owner::first(), &RunFilter::default(), &page).await.expect("listed").items
}

#[tokio::test]
async fn a_caller_who_leaves_cancels_the_call_and_it_is_written_down() {
    let data = tempfile::tempdir().expect("a folder");
    let (installation, begun) = with_endless_tool(&data).await;
    tokio::select! {
        status = send(&installation) => panic!("the tool does not end: {status}"),
        () = begun.notified() => {}
    }
    installation.app.runs.close();
    tokio::time::timeout(Duration::from_secs(10), installation.app.runs.wait()).await.expect("stopped");
    let runs = runs(&installation).await;
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].state, runs[0].component.as_str()), (RunState::Cancelled, Component::CLI));
    let traces = installation.app.store.run_traces(&Owner::first(), &runs[0].id).await.expect("read");
    assert_eq!(traces.expect("a run")[0].status, TraceStatus::Cancelled);
    assert_eq!(send(&installation).await, 503, "whoever is stopping begins nothing new");
}

#[tokio::test]
async fn stopping_waits_until_a_call_is_written_down() {
    let data = tempfile::tempdir().expect("a folder");
    let (installation, begun) = with_endless_tool(&data).await;
    let stopping = async {
        begun.notified().await;
        installation.shut_down().await;
    };
    let ended = futures_util::future::join(send(&installation), stopping);
    let (status, ()) = tokio::time::timeout(Duration::from_secs(10), ended).await.expect("stopped");
    assert_eq!(status, 200, "the trace says that the call was cancelled");
    drop(installation);
    let again = self::installation(&data).await;
    let runs = runs(&again).await;
    assert_eq!(runs[0].state, RunState::Cancelled);
    assert_eq!(runs[0].reason.as_deref(), Some("the call was cancelled"), "not recovered as after a crash");
}
