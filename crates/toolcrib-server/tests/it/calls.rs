//! What a call without a model may do depends on who calls; what the configuration gets wrong is told.

use axum::http::Method;
use serde_json::json;
use toolcrib_server::client::Connection;

use crate::harness::{Running, code};
use crate::upstream::Upstream;

#[tokio::test]
async fn a_key_does_not_open_what_needs_high_confidence() {
    let upstream = Upstream::start(vec![]).await;
    let config = "[policy.minimum_confidence]\ncalculate = \"HIGH\"\n";
    let server = Running::with_config(&upstream, config).await;
    let path = "/api/v1/tools/calculate/call";
    let body = json!({"arguments": {"expression": "1+1"}});
    let trace = server.connection().json(Method::POST, path, Some(&body)).await.expect("called");
    assert_eq!(trace["status"], "BLOCKED", "{trace}");
    assert_eq!(server.last_run().await["component"], "api");
    let local = Connection::to_running(server.data.path()).await.expect("found");
    let trace = local.json(Method::POST, path, Some(&body)).await.expect("called");
    assert_eq!(trace["status"], "SUCCESS", "{trace}");
    assert_eq!(server.last_run().await["component"], "cli");
    let with_settings = json!({"arguments": {"expression": "1+1"}, "settings": {}});
    let refused = server.connection().json(Method::POST, path, Some(&with_settings)).await;
    assert_eq!(code(&refused.expect_err("settings")), (403, "forbidden"));
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
