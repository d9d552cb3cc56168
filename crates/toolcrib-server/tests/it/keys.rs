use axum::http::Method;
use serde_json::json;
use toolcrib_server::client::Connection;

use crate::harness::{Running, code};
use crate::upstream::{Upstream, says};

#[tokio::test]
async fn a_key_is_needed_and_a_wrong_or_revoked_one_is_told_apart() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with(&upstream).await;
    let ask = async |key: Option<&str>| {
        server.connection_with(key).json(Method::GET, "/v1/models", None).await.map_err(|error| {
            let (status, code) = code(&error);
            (status, code.to_owned())
        })
    };
    assert_eq!(ask(None).await.expect_err("refused"), (401, "missing_api_key".to_owned()));
    assert_eq!(ask(Some("tc_wrong")).await.expect_err("refused"), (401, "invalid_api_key".to_owned()));
    let made = server
        .connection()
        .json(Method::POST, "/api/v1/keys", Some(&json!({"name": "test"})))
        .await
        .expect("made");
    let (id, key) = (made["id"].as_str().expect("an id"), made["key"].as_str().expect("a key"));
    assert!(ask(Some(key)).await.is_ok());
    let path = format!("/api/v1/keys/{id}");
    server.connection().json(Method::DELETE, &path, None).await.expect("revoked");
    assert_eq!(ask(Some(key)).await.expect_err("refused"), (401, "revoked_api_key".to_owned()));
}

#[tokio::test]
async fn a_key_is_shown_once_and_stored_as_a_hash() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with(&upstream).await;
    let list = server.get("/api/v1/keys").await;
    assert_eq!(list["keys"].as_array().map(Vec::len), Some(1));
    assert!(!list.to_string().contains(&server.key));
    let key = server.key.clone();
    let folder = server.stop().await;
    for entry in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("readable");
        assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()), "{}", path.display());
    }
}

#[tokio::test]
async fn the_first_key_is_made_once() {
    let server = Running::start("", &[]).await;
    let first = server.key.clone();
    let again = Running::start_on(server.stop().await, "", &[]).await;
    assert_eq!(again.key, "", "a second start makes no key");
    let connection = again.connection_with(Some(&first));
    assert!(
        connection.json(Method::GET, "/api/v1/tools", None).await.is_ok(),
        "the first key goes on working"
    );
    let keys = connection.json(Method::GET, "/api/v1/keys", None).await.expect("listed");
    let path = format!("/api/v1/keys/{}", keys["keys"][0]["id"].as_str().expect("an id"));
    connection.json(Method::DELETE, &path, None).await.expect("revoked");
    drop(connection);
    let third = Running::start_on(again.stop().await, "", &[]).await;
    assert_eq!(third.key, "", "whoever revokes all keys wants none");
}

#[tokio::test]
async fn a_key_acts_as_the_api_the_chat_or_an_assistant_only() {
    let upstream = Upstream::start((0..4).map(|_| says("Hello.")).collect()).await;
    let server = Running::with_config(&upstream, "[policy]\ntools_off = [\"api\"]\n").await;
    for component in ["cli", "mcp"] {
        let wishes = json!({"toolcrib": {"component": component}});
        let error = server.chat("Hi", wishes).await.expect_err(component);
        assert_eq!(code(&error), (403, "forbidden"), "{error}");
        assert!(error.to_string().contains("an assistant"), "{error}");
    }
    for component in ["api", "chat", "email_assistant"] {
        let wishes = json!({"toolcrib": {"component": component}});
        server.chat("Hi", wishes).await.expect(component);
    }
    let local = Connection::to_running(server.data.path()).await.expect("found");
    let body = json!({"model": "openai/m", "messages": [{"role": "user", "content": "Hi"}],
        "toolcrib": {"component": "cli"}});
    local.json(Method::POST, "/v1/chat/completions", Some(&body)).await.expect("answered");
}
