//! Which provider a prompt goes to, and how long its list of models may keep others waiting.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::harness::{Running, code, content};
use crate::upstream::{Upstream, says};

/// Providers `a` and `b`, in this order.
async fn two(a: &str, b: &str) -> Running {
    let config = format!("[providers.a]\nbase_url = \"{a}\"\n[providers.b]\nbase_url = \"{b}\"\n");
    Running::start(&config, &[]).await
}

/// A provider that takes connections and never says anything.
async fn black_hole() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    (listener, base_url)
}

const DOWN: &str = "http://127.0.0.1:9/v1";

#[tokio::test]
async fn the_default_model_is_never_one_of_another_provider_because_the_first_fails() {
    let upstream = Upstream::start(vec![says("from the other")]).await;
    let server = two(DOWN, &upstream.base_url).await;
    let error = server.chat("Hi", json!({"model": "default"})).await.expect_err("the first is down");
    assert_eq!(code(&error), (502, "provider_unreachable"), "{error}");
    assert!(error.to_string().contains("`provider/model`"), "{error}");
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn an_unknown_name_goes_to_a_provider_that_cannot_list_only_when_there_is_no_other() {
    let silent = Upstream::listing(None, vec![says("mine")]).await;
    let other = Upstream::start(vec![says("hers")]).await;
    let server = two(&silent.base_url, &other.base_url).await;
    let error = server.chat("Hi", json!({"model": "unknown"})).await.expect_err("whose?");
    assert_eq!(code(&error), (404, "model_not_found"), "{error}");
    assert!(error.to_string().contains("`provider/model`"), "{error}");
    assert_eq!(silent.requests().len() + other.requests().len(), 0);
    let answer = server.chat("Hi", json!({"model": "m"})).await.expect("one lists it");
    assert_eq!((content(&answer), &answer["model"]), ("hers", &json!("b/m")));
    let alone = Running::with(&silent).await;
    let answer = alone.chat("Hi", json!({"model": "unknown"})).await.expect("there is no other");
    assert_eq!((content(&answer), &answer["model"]), ("mine", &json!("openai/unknown")));
}

#[tokio::test]
async fn a_provider_has_the_last_word_on_the_models_that_it_has() {
    let listed = Some(vec!["llama3.2:latest", "m"]);
    let upstream = Upstream::listing(listed, (0..3).map(|_| says("Hello.")).collect()).await;
    let server = Running::with(&upstream).await;
    server.get("/v1/models").await;
    for (asked, expected) in [
        ("openai/llama3.2", "llama3.2:latest"),
        ("llama3.2", "llama3.2:latest"),
        ("openai/my-fine-tune", "my-fine-tune"),
    ] {
        server.chat("Hi", json!({"model": asked})).await.expect(asked);
        assert_eq!(upstream.requests().last().expect("a request")["model"], expected);
    }
}

#[tokio::test]
async fn configured_models_are_all_there_are() {
    let upstream = Upstream::start(vec![says("Hello.")]).await;
    let config = format!("[providers.a]\nbase_url = \"{}\"\nmodels = [\"n\"]\n", upstream.base_url);
    let server = Running::start(&config, &[]).await;
    let error = server.chat("Hi", json!({"model": "a/m"})).await.expect_err("not configured");
    assert_eq!(code(&error), (404, "model_not_found"), "{error}");
    assert_eq!(upstream.requests().len(), 0);
    server.chat("Hi", json!({"model": "a/n"})).await.expect("configured");
}

#[tokio::test]
async fn a_provider_that_says_nothing_delays_nobody_else() {
    let (_listener, silent) = black_hole().await;
    let upstream = Upstream::start((0..3).map(|_| says("Hello.")).collect()).await;
    let server = two(&silent, &upstream.base_url).await;
    let within = async |seconds: u64, model: &str| {
        let began = Instant::now();
        server.chat("Hi", json!({"model": model})).await.expect(model);
        assert!(began.elapsed() < Duration::from_secs(seconds), "{model}: {:?}", began.elapsed());
    };
    within(2, "b/m").await;
    // The first question about all lists waits for them, but not for ever.
    within(6, "m").await;
    within(2, "m").await;
    let began = Instant::now();
    let list = server.connection().json(Method::GET, "/v1/models", None).await.expect("listed");
    assert!(list["data"].as_array().is_some_and(|models| models.iter().any(|model| model["id"] == "b/m")));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}
