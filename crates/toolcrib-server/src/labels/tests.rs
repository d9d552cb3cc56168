use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::tool::{Display, Tool, ToolContext, ToolError, ToolOutput};
use toolcrib_storage::store::{ConversationStore as _, LabelStore as _};
use tower::ServiceExt as _;

use super::*;
use crate::assemble::Installation;
use crate::config::Config;
use crate::environment::Environment;

const SECRET: &str = "The quarterly plan of the harbor project moves the pump house to the eastern pier, because the \
                      ground at the old site gives way when the river is high in spring.";

/// A calculator that gives away what only trusted providers may see.
struct Vault;

#[async_trait]
impl Tool for Vault {
    fn implementation_key(&self) -> &'static str {
        "calculate"
    }

    fn display(&self, _locale: &str) -> Display {
        Display::new("🔐", "Vault", "Gives a secret away.")
    }

    async fn call(&self, _arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut output = ToolOutput::text(SECRET);
        output.required_confidence = Confidence::High;
        Ok(output)
    }
}

async fn installation(data: &TempDir) -> Installation {
    let environment = Environment::default();
    let text = "[server]\ngrace_seconds = 0\n\
        [providers.low]\nbase_url = \"http://127.0.0.1:9\"\nmodels = [\"m\"]\nconfidence = \"LOW\"\n\
        [providers.vouched]\nbase_url = \"http://127.0.0.1:9\"\nmodels = [\"m\"]\nconfidence = \"LOW\"\ntrusted = true\n\
        [providers.own]\nbase_url = \"http://127.0.0.1:9\"\nmodels = [\"m\"]\nconfidence = \"HIGH\"\n";
    let config = Config::parse(text, Path::new("toolcrib.toml"), &environment).expect("valid");
    let installation =
        Installation::assemble(config, data.path().to_owned(), &environment).await.expect("assembled");
    let definition = json!({
        "schemaVersion": 1,
        "id": "calculate",
        "implementationKey": "calculate",
        "function": {
            "name": "calculate",
            "descriptionForLLM": "Calculates. Use it for every sum.",
            "strict": false,
            "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}}
        }
    });
    let file = DefinitionFile::added("calculate.json", definition.to_string());
    let (catalog, problems) = Catalog::build(&[file], &[Arc::new(Vault)], &Components::default());
    assert!(problems.is_empty(), "{problems:?}");
    installation.app.registry.publish(catalog);
    installation
}

/// Status and body of a question to a model.
async fn ask(
    installation: &Installation,
    model: &str,
    messages: Value,
    conversation: Option<&str>,
) -> (u16, Value) {
    let mut body = json!({"model": model, "messages": messages});
    if let Some(conversation) = conversation {
        body["toolcrib"] = json!({"conversation": conversation});
    }
    let request = Request::post("/v1/chat/completions")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", installation.local_token()))
        .body(Body::from(body.to_string()))
        .expect("a request");
    let Ok(response) = installation.router().oneshot(request).await;
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).expect("JSON"))
}

/// What the demo model answers to a sum, built on what the vault gave away.
async fn protected_answer(installation: &Installation, conversation: Option<&str>) -> Value {
    let question = json!([{"role": "user", "content": "What is 12.5 % of 80?"}]);
    let (status, answer) = ask(installation, "toolcrib/demo", question, conversation).await;
    assert_eq!(status, 200, "{answer}");
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap_or_default();
    assert!(text.contains("eastern pier"), "{text}");
    answer
}

#[tokio::test]
async fn a_client_that_sends_protected_text_back_is_held_to_what_it_demands() {
    let data = tempfile::tempdir().expect("a folder");
    let installation = installation(&data).await;
    let answer = protected_answer(&installation, None).await;
    let said = &answer["choices"][0]["message"]["content"];
    let history = json!([
        {"role": "user", "content": "What is 12.5 % of 80?"},
        {"role": "assistant", "content": said},
        {"role": "user", "content": "Say it again."},
    ]);
    let (status, refusal) = ask(&installation, "low/m", history.clone(), None).await;
    assert_eq!((status, &refusal["error"]["code"]), (409, &json!("confidence_too_low")), "{refusal}");
    let message = refusal["error"]["message"].as_str().unwrap_or_default();
    for part in
        ["`messages[1]`", "confidence HIGH or more", "low/m has LOW", "own, vouched", "without the messages"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    // Pasted into another question, in another form.
    let pasted = json!([{"role": "user", "content": format!("Is this true?\n> {}", SECRET.to_uppercase())}]);
    assert_eq!(ask(&installation, "low/m", pasted, None).await.0, 409);
    // The shortest answer says nothing alone, and everything behind its question.
    let short = |question: &str| {
        json!([
            {"role": "user", "content": question},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "And then?"},
        ])
    };
    assert_eq!(ask(&installation, "low/m", short("Is it raining?"), None).await.0, 502);
    // Providers that may see it are asked: they are only not there.
    for model in ["own/m", "vouched/m"] {
        assert_eq!(ask(&installation, model, history.clone(), None).await.0, 502, "{model}");
    }
    let question = json!([{"role": "user", "content": "What is 12.5 % of 80?"}]);
    assert_eq!(ask(&installation, "low/m", question, None).await.0, 502, "the question itself is free");
}

#[tokio::test]
async fn a_stored_conversation_keeps_its_demand_and_takes_that_of_pasted_text() {
    let data = tempfile::tempdir().expect("a folder");
    let installation = installation(&data).await;
    let answer = protected_answer(&installation, Some("new")).await;
    let id = answer["toolcrib"]["conversation_id"].as_str().expect("an id").to_owned();
    let next = json!([{"role": "user", "content": "Thanks."}]);
    let (status, refusal) = ask(&installation, "low/m", next, Some(&id)).await;
    let message = refusal["error"]["message"].as_str().unwrap_or_default();
    assert!(status == 409 && message.contains("begin a new conversation"), "{message}");

    let pasted = json!([{"role": "user", "content": SECRET}]);
    let (status, refusal) = ask(&installation, "own/m", pasted, Some("new")).await;
    assert_eq!(status, 502, "{refusal}");
    let owner = Owner::first();
    let page = toolcrib_storage::store::Page::first(1);
    let newest = installation.app.store.conversations(&owner, &page).await.expect("listed").items;
    let labels = installation.app.store.labels(&newest[0].id).await.expect("read");
    assert_eq!(labels.required_confidence, Confidence::High, "though the run itself failed");
}
