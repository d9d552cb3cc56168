//! A provider that misbehaves: every case ends in a clear error and a recorded run.

use serde_json::json;

use crate::harness::{Running, code, streamed};
use crate::upstream::{Reply, Upstream, finish, http, no_such_model, text};

/// The errors of one misbehavior, whole and streamed, with the recorded state of the runs.
async fn check(script: impl Fn() -> Reply, expected: (u16, &str)) {
    let upstream = Upstream::start((0..8).map(|_| script()).collect()).await;
    let server = Running::with(&upstream).await;
    let whole = server.chat("Hi", json!({})).await.expect_err(expected.1);
    assert_eq!(code(&whole), expected, "{whole}");
    assert!(!whole.to_string().contains("canary"));
    assert_eq!(server.last_run().await["state"], "failed");
    let stream = server.stream("Hi", json!({})).await.expect_err(expected.1);
    assert_eq!(code(&stream).1, expected.1, "{stream}");
    assert_eq!(server.last_run().await["state"], "failed");
    upstream.idle().await;
}

#[tokio::test]
async fn a_web_page_instead_of_an_answer() {
    check(
        || Reply::Raw(http("200 OK", "text/html", b"<!doctype html><p>Welcome")),
        (502, "provider_bad_response"),
    )
    .await;
}

#[tokio::test]
async fn an_answer_without_anything() {
    check(|| Reply::Raw(http("200 OK", "application/json", b"")), (502, "provider_empty_answer")).await;
}

#[tokio::test]
async fn a_stream_without_text_and_calls() {
    check(|| Reply::Stream(vec![finish("stop")]), (502, "provider_empty_answer")).await;
}

#[tokio::test]
async fn malformed_chunks() {
    let bytes = || {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        Reply::Raw(format!("{head}data: {{\"choices\": [oops\n\n").into_bytes())
    };
    check(bytes, (502, "provider_bad_response")).await;
}

#[tokio::test]
async fn a_refused_key() {
    let body = br#"{"error":{"message":"Incorrect API key provided: sk-canary","code":"invalid_api_key"}}"#;
    check(|| Reply::Raw(http("401 Unauthorized", "application/json", body)), (502, "provider_unauthorized"))
        .await;
}

#[tokio::test]
async fn a_request_that_the_provider_finds_wrong() {
    let body = br#"{"error":{"message":"temperature is too hot"}}"#;
    check(
        || Reply::Raw(http("400 Bad Request", "application/json", body)),
        (400, "provider_rejected_request"),
    )
    .await;
}

#[tokio::test]
async fn an_empty_account() {
    let body = br#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
    check(
        || Reply::Raw(http("429 Too Many Requests", "application/json", body)),
        (429, "insufficient_quota"),
    )
    .await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_shows_what_came_and_then_the_error() {
    let bytes = || {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        Reply::Raw(format!("{head}data: {}\n\n", text("Half an")).into_bytes())
    };
    check(bytes, (502, "provider_answer_cut")).await;
}

#[tokio::test]
async fn a_provider_that_is_down() {
    let variables = [("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"), ("OPENAI_API_KEY", "sk-canary")];
    let server = Running::start("", &variables).await;
    let error = server.chat("Hi", json!({})).await.expect_err("down");
    assert_eq!(code(&error), (502, "provider_unreachable"), "{error}");
    assert!(error.to_string().contains("openai"), "{error}");
}

#[tokio::test]
async fn a_provider_that_is_slow_ends_with_the_time_of_the_run() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with_config(&upstream, "[limits]\nrun_seconds = 1\n").await;
    let error = server.chat("Hi", json!({})).await.expect_err("slow");
    assert_eq!(code(&error), (504, "run_timeout"), "{error}");
    upstream.idle().await;
}

#[tokio::test]
async fn a_stream_that_stalls_is_ended_by_the_time_of_the_run_and_marked_incomplete() {
    let upstream = Upstream::start(vec![Reply::StreamThenStall(vec![text("Once upon")])]).await;
    let server = Running::with_config(&upstream, "[limits]\nrun_seconds = 1\n").await;
    let chunks = server.stream("Hi", json!({"toolcrib": {"events": true}})).await.expect("what there is");
    assert_eq!(streamed(&chunks), "Once upon");
    let finished = chunks.iter().find(|chunk| chunk["toolcrib"]["type"] == "finished").expect("finished");
    assert_eq!(finished["toolcrib"]["incomplete"]["code"], "max_run_time");
    assert_eq!(server.last_run().await["state"], "incomplete");
    upstream.idle().await;
}

#[tokio::test]
async fn a_model_that_nobody_has() {
    let upstream = Upstream::start(vec![no_such_model()]).await;
    let server = Running::with(&upstream).await;
    for model in ["nothing-like-it", "openai/other", "nobody/m"] {
        let error = server.chat("Hi", json!({"model": model})).await.expect_err(model);
        assert_eq!(code(&error), (404, "model_not_found"), "{error}");
    }
    assert_eq!(upstream.requests().len(), 1, "only the provider that was named is asked");
}
