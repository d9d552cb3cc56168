//! The client against a server that misbehaves in every way that was seen in the wild.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use secrecy::SecretString;
use serde_json::json;
use toolcrib_providers::client::{Provider, ProviderSettings, RetrySettings, Timeouts};
use toolcrib_providers::profile::Profile;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::model::{FinishReason, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ToolSpec};

use crate::server::{Server, Step, events, head, json, response};

const KEY: &str = "sk-secret-0123456789";

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const DONE: &str = "[DONE]";

fn provider_of(server: &Server, family: &str) -> Arc<Provider> {
    let profile = Profile::by_family(family).unwrap();
    let mut settings = ProviderSettings::new("host", profile, Confidence::Medium);
    settings.base_url = Some(server.url.clone());
    settings.key = Some(SecretString::from(format!("{KEY}\n")));
    settings.timeouts = Timeouts {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(3),
        idle: Duration::from_millis(500),
        listing: Duration::from_secs(3),
        after_finish: Duration::from_millis(200),
    };
    settings.retry = RetrySettings {
        attempts: 3,
        first_wait: Duration::from_millis(4),
        longest_wait: Duration::from_secs(2),
    };
    Provider::new(settings, 1).unwrap()
}

fn provider(server: &Server) -> Arc<Provider> {
    provider_of(server, "openai_compatible")
}

fn with_tool() -> ModelRequest {
    let tool = ToolSpec {
        name: "f".to_owned(),
        description: None,
        parameters: json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        strict: Some(true),
    };
    let tools = vec![Arc::new(tool)].into();
    ModelRequest { messages: vec![Message::user("Hi")], tools, ..ModelRequest::default() }
}

async fn ask(provider: &Arc<Provider>, request: ModelRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut stream = match provider.model("m").ask(request).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut found = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => found.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "nothing follows an error");
                return (found, Some(error));
            }
        }
    }
    (found, None)
}

async fn check_hello(exchanges: Vec<Vec<Step>>) -> Server {
    let server = Server::start(exchanges).await;
    let (found, error) = ask(&provider(&server), with_tool()).await;
    assert_eq!(error, None);
    assert_eq!(found.first(), Some(&ModelEvent::Text("Hello".to_owned())));
    assert_eq!(found.last(), Some(&ModelEvent::Finished(FinishReason::Stop)));
    server
}

async fn check_error(exchanges: Vec<Vec<Step>>, kind: ModelErrorKind, said: &str) -> (Server, ModelError) {
    let server = Server::start(exchanges).await;
    let (_, error) = ask(&provider(&server), with_tool()).await;
    let error = error.expect("an error");
    assert_eq!(error.kind, kind, "{error:?}");
    assert!(error.message.starts_with("provider `host` "), "{error}");
    assert!(error.message.contains(said), "{error}");
    (server, error)
}

#[tokio::test]
async fn a_request_reaches_the_path_with_the_key_and_usage_is_asked_for() {
    let server = check_hello(vec![events(&[TEXT, STOP, DONE])]).await;
    let request = server.requests().remove(0);
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    let headers = request.headers.to_ascii_lowercase();
    assert!(headers.contains(&format!("authorization: bearer {KEY}\r\n")), "{headers}");
    assert!(headers.contains("content-type: application/json"), "{headers}");
    let body = request.json();
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(body["parallel_tool_calls"], json!(false));
    assert_eq!(body["stream"], json!(true));
}

#[tokio::test]
async fn a_complete_answer_in_json_is_read_whatever_its_declared_type() {
    let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;
    check_hello(vec![json("200 OK", body)]).await;
    check_hello(vec![response("200 OK", "content-type: text/event-stream\r\n", body)]).await;
    check_hello(vec![response("200 OK", "", &format!("\n  {body}"))]).await;
}

#[tokio::test]
async fn streams_without_an_end_mark_end_by_their_finish_reason() {
    check_hello(vec![events(&[TEXT, STOP])]).await;
    let mut held = events(&[TEXT, STOP]);
    held.push(Step::Hold);
    check_hello(vec![held]).await;
    let mut after_done = events(&[TEXT, STOP, DONE]);
    after_done.push(Step::Hold);
    check_hello(vec![after_done]).await;
}

#[tokio::test]
async fn failures_before_the_answer_are_retried() {
    let good = || events(&[TEXT, STOP, DONE]);
    for status in [
        "408 Request Timeout",
        "425 Too Early",
        "429 Too Many Requests",
        "502 Bad Gateway",
        "503 Unavailable",
        "504 Timeout",
        "529 Overloaded",
    ] {
        let server = check_hello(vec![json(status, "{}"), good()]).await;
        assert_eq!(server.requests().len(), 2, "{status}");
    }
    let server = check_hello(vec![vec![], vec![], good()]).await;
    assert_eq!(server.requests().len(), 3, "a connection that was closed before an answer");
}

#[tokio::test]
async fn retries_end_and_some_failures_are_final_at_once() {
    let overloaded = r#"{"error":{"message":"Overloaded"}}"#;
    let (server, _) = check_error(
        vec![json("503 Unavailable", overloaded)],
        ModelErrorKind::ProviderFailed,
        "failed (503): Overloaded",
    )
    .await;
    assert_eq!(server.requests().len(), 4);
    let cases = [
        ("500 Error", r#"{"error":{"message":"boom"}}"#, ModelErrorKind::ProviderFailed),
        ("401 Unauthorized", r#"{"error":{"message":"bad key"}}"#, ModelErrorKind::Unauthorized),
        (
            "429 Quota",
            r#"{"error":{"code":"insufficient_quota","message":"x"}}"#,
            ModelErrorKind::QuotaExhausted,
        ),
        (
            "404 Not Found",
            r#"{"error":{"code":"model_not_found","message":"x"}}"#,
            ModelErrorKind::ModelNotFound,
        ),
        ("400 Bad Request", r#"{"error":{"message":"no"}}"#, ModelErrorKind::BadRequest),
    ];
    for (status, body, kind) in cases {
        let (server, _) = check_error(vec![json(status, body)], kind, "").await;
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn retry_after_is_respected_or_told() {
    let limited = |after: &str| response("429 Too Many Requests", &format!("retry-after: {after}\r\n"), "{}");
    let started = tokio::time::Instant::now();
    check_hello(vec![limited("0.3"), events(&[TEXT, STOP, DONE])]).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    let (server, error) =
        check_error(vec![limited("60")], ModelErrorKind::RateLimited, "too many requests").await;
    assert_eq!(server.requests().len(), 1);
    assert_eq!(error.retry_after, Some(Duration::from_mins(1)));
}

#[tokio::test]
async fn nothing_is_retried_after_the_first_byte() {
    let (server, _) = check_error(vec![events(&[TEXT])], ModelErrorKind::Cut, "broke off").await;
    assert_eq!(server.requests().len(), 1);
    let cut = vec![
        Step::Send(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9000\r\n\r\n".to_owned(),
        ),
        Step::Send(format!("data: {TEXT}\n\n")),
    ];
    let (server, _) = check_error(vec![cut], ModelErrorKind::Cut, "broke off").await;
    assert_eq!(server.requests().len(), 1, "a content length that is wrong");
    let error = r#"{"error":{"message":"Overloaded","code":503}}"#;
    let (server, _) =
        check_error(vec![events(&[TEXT, error])], ModelErrorKind::ProviderFailed, "Overloaded").await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn stalls_are_timeouts_and_comments_keep_a_stream_alive() {
    let mut stalled = events(&[TEXT]);
    stalled.push(Step::Hold);
    check_error(vec![stalled], ModelErrorKind::Timeout, "stopped sending").await;
    check_error(vec![vec![Step::Hold]], ModelErrorKind::Timeout, "did not answer in time").await;
    let mut slow = events(&[TEXT]);
    for _ in 0..4 {
        slow.extend([Step::Pause(Duration::from_millis(200)), Step::Send(": keep-alive\n\n".to_owned())]);
    }
    slow.extend([STOP, DONE].map(|payload| Step::Send(format!("data: {payload}\n\n"))));
    check_hello(vec![slow]).await;
}

#[tokio::test]
async fn answers_that_are_not_of_the_dialect_are_told_apart() {
    let page = "<!doctype html><html><title>Sign in</title></html>";
    let (_, error) = check_error(
        vec![response("200 OK", "content-type: text/html\r\n", page)],
        ModelErrorKind::BadResponse,
        "base URL is probably wrong",
    )
    .await;
    assert!(error.detail.unwrap().contains("Sign in"));
    check_error(
        vec![response("404 Not Found", "content-type: text/html\r\n", page)],
        ModelErrorKind::BadResponse,
        "base URL",
    )
    .await;
    check_error(vec![events(&[TEXT, "{\"a\" broken"])], ModelErrorKind::BadResponse, "not JSON").await;
    check_error(vec![response("200 OK", "", "")], ModelErrorKind::EmptyAnswer, "answered with nothing").await;
    check_error(vec![events(&[DONE])], ModelErrorKind::EmptyAnswer, "answered with nothing").await;
    check_error(
        vec![vec![Step::Send("SSH-2.0-OpenSSH_9.6\r\n".to_owned())]],
        ModelErrorKind::BadResponse,
        "HTTP",
    )
    .await;
    check_error(
        vec![response("302 Found", "location: https://elsewhere.example/\r\n", "")],
        ModelErrorKind::BadResponse,
        "",
    )
    .await;
}

#[tokio::test]
async fn an_unreachable_provider_says_so() {
    let mut server = Server::start(Vec::new()).await;
    server.url = "http://127.0.0.1:9".to_owned();
    let (_, error) = ask(&provider(&server), with_tool()).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Unreachable);
    assert_eq!(error.message, "provider `host` cannot be reached");
    assert!(error.detail.unwrap().contains("127.0.0.1"));
}

#[tokio::test]
async fn a_refused_field_is_left_out_from_then_on() {
    let refusals = [
        ("openai", "Unknown parameter: 'parallel_tool_calls'", "/parallel_tool_calls"),
        ("openai", "stream_options is not supported", "/stream_options"),
        ("openai", "extra fields not permitted: strict", "/tools/0/function/strict"),
    ];
    for (family, said, pointer) in refusals {
        let refusal = json("400 Bad Request", &json!({"error": {"message": said}}).to_string());
        let server = Server::start(vec![refusal, events(&[TEXT, STOP, DONE])]).await;
        let provider = provider_of(&server, family);
        for _ in 0..2 {
            assert_eq!(ask(&provider, with_tool()).await.1, None, "{said}");
        }
        let sent: Vec<_> =
            server.requests().iter().map(|request| request.json().pointer(pointer).is_some()).collect();
        assert_eq!(sent, [true, false, false], "{said}");
    }
}

#[tokio::test]
async fn a_refusal_that_stays_is_final_and_nothing_is_learned_from_it() {
    let refusal = json("400 Bad Request", r#"{"error":{"message":"parallel_tool_calls: bad request"}}"#);
    let server = Server::start(vec![refusal.clone(), refusal, events(&[TEXT, STOP, DONE])]).await;
    let provider = provider(&server);
    assert_eq!(ask(&provider, with_tool()).await.1.unwrap().kind, ModelErrorKind::BadRequest);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(ask(&provider, with_tool()).await.1, None);
    assert_eq!(server.requests()[2].json()["parallel_tool_calls"], json!(false));
}

#[tokio::test]
async fn a_model_without_tools_is_remembered() {
    let refusal = json(
        "400 Bad Request",
        r#"{"error":{"message":"registry.ollama.ai/library/m does not support tools"}}"#,
    );
    let server = Server::start(vec![refusal, events(&[TEXT, STOP, DONE])]).await;
    let provider = provider_of(&server, "ollama");
    assert!(provider.model("m").capabilities().functions);
    let (_, error) = ask(&provider, with_tool()).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::ToolsUnsupported);
    assert!(!provider.model("m").capabilities().functions);
    assert!(provider.model("other").capabilities().functions);
    let (_, error) = ask(&provider, ModelRequest { tools: Vec::new().into(), ..with_tool() }).await;
    assert_eq!(error, None);
}

#[tokio::test]
async fn duplicate_and_missing_ids_become_unique_and_differ_between_answers() {
    let calls = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":2,"function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let server = Server::start(vec![events(&[calls, STOP, DONE])]).await;
    let provider = provider(&server);
    let mut generated = Vec::new();
    for _ in 0..2 {
        let (found, error) = ask(&provider, with_tool()).await;
        assert_eq!(error, None);
        let ids: Vec<_> = found
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Call(call) => Some(call.id.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(ids[..2], ["a".to_owned(), "a_2".to_owned()]);
        assert!(ids[2].starts_with("call_") && ids[2].len() == 37, "{ids:?}");
        assert_eq!(found.last(), Some(&ModelEvent::Finished(FinishReason::ToolCalls)));
        generated.push(ids[2].clone());
    }
    assert_ne!(generated[0], generated[1]);
}

#[tokio::test]
async fn models_are_listed_from_the_provider_or_the_configuration() {
    let server =
        Server::start(vec![json("200 OK", r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#)]).await;
    assert_eq!(provider(&server).list_models().await.unwrap(), ["a", "b"]);
    assert_eq!(server.requests()[0].line, "GET /v1/models HTTP/1.1");
    let anthropic = provider_of(&server, "anthropic");
    anthropic.list_models().await.unwrap();
    let headers = server.requests()[1].headers.to_ascii_lowercase();
    assert!(
        headers.contains(&format!("x-api-key: {KEY}")) && headers.contains("anthropic-version: 2023-06-01"),
        "{headers}"
    );
    assert!(!headers.contains("authorization"), "{headers}");
    let mut settings = provider(&server).settings().clone();
    settings.models = Some(vec!["mine".to_owned()]);
    assert_eq!(Provider::new(settings, 1).unwrap().list_models().await.unwrap(), ["mine"]);
    let page = Server::start(vec![response("200 OK", "content-type: text/html\r\n", "<html></html>")]).await;
    assert_eq!(provider(&page).list_models().await.unwrap_err().kind, ModelErrorKind::BadResponse);
}

#[tokio::test]
async fn a_key_never_stands_in_an_error_or_debug_output() {
    let echo = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}).to_string();
    let in_stream = json!({"error": {"message": format!("bad {KEY}"), "code": 401}}).to_string();
    let broken = format!("{{\"broken {KEY}");
    let page = format!("<html>{KEY}</html>");
    let exchanges = [
        json("401 Unauthorized", &echo),
        json("400 Bad Request", &format!("plain {KEY}")),
        events(&[TEXT, &in_stream]),
        events(&[&broken]),
        response("200 OK", "content-type: text/html\r\n", &page),
        json("200 OK", &in_stream),
    ];
    for exchange in exchanges {
        let server = Server::start(vec![exchange]).await;
        let provider = provider(&server);
        let error = ask(&provider, with_tool()).await.1.expect("an error");
        let listing = provider.list_models().await;
        let shown = format!("{error} {error:?} {listing:?} {provider:?} {:?}", provider.settings());
        assert!(!shown.contains(KEY), "{shown}");
        assert!(!shown.contains("0123456789"), "{shown}");
    }
}

#[tokio::test]
async fn a_host_that_drops_streamed_calls_is_asked_without_streaming_and_gets_the_extra_parameters() {
    let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;
    let server = Server::start(vec![json("200 OK", body)]).await;
    let mut settings = provider(&server).settings().clone();
    settings.profile.streams_tool_calls = false;
    let extra = json!({"keep_alive": "5m", "stream": true, "temperature": 1});
    settings.extra_parameters = extra.as_object().unwrap().clone();
    let provider = Provider::new(settings, 1).unwrap();
    let (found, error) = ask(&provider, with_tool()).await;
    assert_eq!((found.first(), error), (Some(&ModelEvent::Text("Hello".to_owned())), None));
    let sent = server.requests()[0].json();
    assert_eq!((&sent["stream"], &sent["keep_alive"]), (&json!(false), &json!("5m")));
    assert_eq!(sent.get("stream_options"), None);
    ask(&provider, ModelRequest { tools: Vec::new().into(), ..with_tool() }).await;
    assert_eq!(server.requests()[1].json()["stream"], json!(true));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let mut held = vec![head("text/event-stream"), Step::Send(format!("data: {TEXT}\n\n"))];
    held.push(Step::Hold);
    let server = Server::start(vec![held]).await;
    let mut stream = provider(&server).model("m").ask(with_tool()).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelEvent::Text("Hello".to_owned()))));
    drop(stream);
    assert_eq!(server.requests().len(), 1);
}
