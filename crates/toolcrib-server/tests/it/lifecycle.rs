//! Beginning, ending and what is left behind.

use std::path::Path;
use std::time::Duration;

use axum::http::Method;
use futures_util::StreamExt as _;
use serde_json::json;
use toolcrib_server::assemble::Installation;
use toolcrib_server::client::Connection;
use toolcrib_server::config::Config;
use toolcrib_server::environment::Environment;
use toolcrib_server::serve::Server;

use crate::harness::{Running, code, content};
use crate::upstream::{Reply, Upstream, says, text};

#[tokio::test]
async fn a_client_that_leaves_cancels_model_and_run() {
    let upstream = Upstream::start(vec![Reply::StreamThenStall(vec![text("Once")])]).await;
    let server = Running::with(&upstream).await;
    let connection = server.connection();
    let body = json!({"model": "openai/m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = connection.send(Method::POST, "/v1/chat/completions", &[], Some(&body)).await.expect("begun");
    let mut events = reply.events();
    while let Some(Ok(event)) = events.next().await {
        if event["choices"][0]["delta"]["content"] == "Once" {
            break;
        }
    }
    drop(events);
    drop(connection);
    upstream.idle().await;
    assert_eq!(server.last_run().await["state"], "cancelled");
}

#[tokio::test]
async fn a_client_that_leaves_before_the_whole_answer_cancels_too() {
    let upstream = Upstream::start(vec![Reply::Stall]).await;
    let server = Running::with(&upstream).await;
    let asked = tokio::time::timeout(Duration::from_millis(300), server.chat("Hi", json!({}))).await;
    assert!(asked.is_err(), "the provider does not answer");
    upstream.idle().await;
    assert_eq!(server.last_run().await["state"], "cancelled");
}

#[tokio::test]
async fn stopping_ends_running_answers_and_records_them() {
    let upstream = Upstream::start(vec![Reply::StreamThenStall(vec![text("Once")])]).await;
    let server = Running::with_config(&upstream, "[server]\ngrace_seconds = 0\n").await;
    let connection = server.connection();
    let body = json!({"model": "openai/m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = connection.send(Method::POST, "/v1/chat/completions", &[], Some(&body)).await.expect("begun");
    let mut events = reply.events();
    events.next().await.expect("an event").expect("a chunk");
    let key = server.key.clone();
    let folder = server.stop().await;
    let rest: Vec<_> = events.collect().await;
    assert!(rest.iter().flatten().any(|event| event["error"]["code"] == "run_cancelled"), "{rest:?}");
    let again = Running::start_on(folder, "", &[]).await;
    let runs =
        again.connection_with(Some(&key)).json(Method::GET, "/api/v1/runs", None).await.expect("listed");
    assert_eq!(runs["runs"][0]["state"], "cancelled");
}

#[tokio::test]
async fn programs_of_the_same_user_find_the_running_server_and_a_second_server_is_refused() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with(&upstream).await;
    let found = Connection::to_running(server.data.path()).await.expect("found");
    assert!(found.json(Method::GET, "/api/v1/tools", None).await.is_ok());
    let second =
        Installation::assemble(Config::default(), server.data.path().to_owned(), &Environment::default())
            .await;
    let error = second.err().expect("refused").to_string();
    assert!(error.contains(&server.address), "{error}");
    let folder = server.stop().await;
    assert!(Connection::to_running(folder.path()).await.is_none(), "the announcement is gone");
}

#[tokio::test]
async fn only_loopback_is_listened_on_and_a_taken_port_is_named() {
    let bind = async |listen: &str| {
        let data = tempfile::tempdir().expect("a folder");
        let text = format!("[server]\nlisten = \"{listen}\"\n");
        let config =
            Config::parse(&text, Path::new("toolcrib.toml"), &Environment::default()).expect("valid");
        let assembled = Installation::assemble(config, data.path().to_owned(), &Environment::default()).await;
        Server::bind(assembled.expect("assembled"), data.path()).await.err().expect("refused").to_string()
    };
    let error = bind("0.0.0.0:0").await;
    assert!(error.contains("refusing to listen on 0.0.0.0:0") && error.contains("ssh -L"), "{error}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let error = bind(&address).await;
    assert!(error.contains(&address) && error.contains("--listen"), "{error}");
}

#[tokio::test]
async fn a_call_without_a_model_goes_through_the_same_gates_and_is_recorded() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with_config(&upstream, "[policy]\ndisabled_tools = [\"get_current_time\"]\n").await;
    let call = async |tool: &str, arguments: &str| {
        let body = json!({"arguments": arguments});
        let path = format!("/api/v1/tools/{tool}/call");
        server.connection().json(Method::POST, &path, Some(&body)).await
    };
    let done = call("calculate", r#"{"expression": "0.1 + 0.2"}"#).await.expect("called");
    assert_eq!((&done["status"], &done["result_json"]["result"]), (&json!("SUCCESS"), &json!("0.3")));
    assert_eq!(server.last_run().await["component"], "api");
    let bad = call("calculate", r#"{"expresion": "1"}"#).await.expect("called");
    assert_eq!((&bad["status"], &bad["executed"]), (&json!("ERROR"), &json!(false)));
    let blocked = call("get_current_time", "{}").await.expect("called");
    assert_eq!(blocked["status"], "BLOCKED");
    let private = call("read_web_page", r#"{"url": "http://127.0.0.1:1/"}"#).await.expect("called");
    assert_eq!(private["status"], "BLOCKED", "{private}");
    assert!(call("weather", "{}").await.expect_err("unknown").to_string().contains("calculate"));
}

#[tokio::test]
async fn more_runs_than_a_user_may_have_are_refused_until_one_ends() {
    let upstream =
        Upstream::start(vec![Reply::StreamThenStall(vec![text("Once")]), says("Free again.")]).await;
    let server = Running::with_config(&upstream, "[server]\nmax_runs_per_user = 1\n").await;
    let connection = server.connection();
    let body = json!({"model": "openai/m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let reply = connection.send(Method::POST, "/v1/chat/completions", &[], Some(&body)).await.expect("begun");
    let refused = server.chat("Me too", json!({})).await.expect_err("refused");
    assert_eq!(code(&refused), (429, "rate_limited"));
    drop(reply);
    drop(connection);
    upstream.idle().await;
    server.last_run().await;
    let answer = server.chat("Now?", json!({})).await.expect("answered");
    assert_eq!(content(&answer), "Free again.");
}
