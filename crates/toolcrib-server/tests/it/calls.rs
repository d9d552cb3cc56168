//! Calls without a model: whatever happens to the caller, they are written down to their end.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use toolcrib_server::client::Connection;

use crate::harness::{Running, code};
use crate::upstream::Upstream;

/// A call that reads a page of this machine.
fn read_page(address: &str, with_settings: bool) -> Value {
    let mut body = json!({"arguments": {"url": format!("http://{address}/")}});
    if with_settings {
        body["settings"] = json!({"allowedPrivateHosts": "127.0.0.1"});
    }
    body
}

/// A web server that takes connections and never answers.
async fn silent_site() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    (listener, address)
}

#[tokio::test]
async fn a_caller_who_leaves_cancels_the_call() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with(&upstream).await;
    let (site, address) = silent_site().await;
    let local = Connection::to_running(server.data.path()).await.expect("found");
    let body = read_page(&address, true);
    let call = local.json(Method::POST, "/api/v1/tools/read_web_page/call", Some(&body));
    tokio::select! {
        outcome = call => panic!("the site does not answer: {outcome:?}"),
        _ = site.accept() => {}
    }
    let run = server.last_run().await;
    assert_eq!((&run["state"], &run["component"]), (&json!("cancelled"), &json!("cli")));
    assert_eq!(server.last_traces().await[0]["status"], "CANCELLED");
}

#[tokio::test]
async fn stopping_waits_for_calls_and_records_them() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with_config(&upstream, "[server]\ngrace_seconds = 0\n").await;
    let (site, address) = silent_site().await;
    let local = Connection::to_running(server.data.path()).await.expect("found");
    let body = read_page(&address, true);
    let call = tokio::spawn(async move {
        local.json(Method::POST, "/api/v1/tools/read_web_page/call", Some(&body)).await
    });
    site.accept().await.expect("the call has begun");
    let key = server.key.clone();
    let folder = server.stop().await;
    let trace = tokio::time::timeout(Duration::from_secs(5), call).await.expect("ended").expect("no panic");
    if let Ok(trace) = trace {
        assert_eq!(trace["status"], "CANCELLED");
    }
    let again = Running::start_on(folder, "", &[]).await;
    let connection = again.connection_with(Some(&key));
    let runs = connection.json(Method::GET, "/api/v1/runs", None).await.expect("listed");
    assert_eq!(runs["runs"][0]["state"], "cancelled");
    assert_eq!(runs["runs"][0]["reason"], "the call was cancelled", "no crash was recovered from");
}

#[tokio::test]
async fn a_key_opens_no_private_hosts() {
    let upstream = Upstream::start(vec![]).await;
    let config = "[tools.read_web_page]\nallowedPrivateHosts = \"127.0.0.1\"\n";
    let server = Running::with_config(&upstream, config).await;
    let (_site, address) = silent_site().await;
    let path = "/api/v1/tools/read_web_page/call";
    let body = read_page(&address, false);
    let trace = server.connection().json(Method::POST, path, Some(&body)).await.expect("called");
    assert_eq!(trace["status"], "BLOCKED", "{trace}");
    assert_eq!(server.last_run().await["component"], "api");
    let body = read_page(&address, true);
    let error = server.connection().json(Method::POST, path, Some(&body)).await.expect_err("settings");
    assert_eq!(code(&error), (403, "forbidden"), "{error}");
}

#[tokio::test]
async fn the_doctor_names_tools_that_do_not_exist() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with_config(&upstream, "[policy]\ndisabled_tools = [\"calculat\"]\n").await;
    let status = server.get("/api/v1/status").await;
    let checks = status["checks"].as_array().expect("checks");
    let found = checks.iter().find(|check| check["name"] == "configuration policy.disabled_tools");
    let found = found.expect("a finding");
    assert_eq!(found["state"], "warning");
    assert!(found["detail"].as_str().expect("text").contains("did you mean \"calculate\""), "{found}");
}
