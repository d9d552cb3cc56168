//! Bad requests, and what protects the server.

use std::sync::{Arc, Mutex};

use axum::http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::Running;
use crate::upstream::{Upstream, calls, says};

/// Sends bytes and reads the response to its end.
async fn raw(server: &Running, request: &str) -> String {
    let mut stream =
        TcpStream::connect(server.address.trim_start_matches("http://")).await.expect("connected");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    String::from_utf8_lossy(&response).into_owned()
}

fn post(server: &Running, body: &str, headers: &str) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        server.key,
        body.len()
    )
}

async fn server() -> Running {
    let upstream = Upstream::start(vec![]).await;
    Running::with_config(&upstream, "[server]\nmax_body_bytes = 20000\n").await
}

#[tokio::test]
async fn bodies_that_are_wrong_get_an_error_that_says_where() {
    let server = server().await;
    let check = async |body: &str, status: &str, parts: &[&str]| {
        let response = raw(&server, &post(&server, body, "")).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{body}: {response}");
        for part in parts {
            assert!(response.contains(part), "{body}: {response}");
        }
        assert!(response.contains("\"request_id\":\"req_"), "{response}");
    };
    check("", "400", &["invalid_json", "empty"]).await;
    check("{", "400", &["invalid_json", "line 1"]).await;
    check("[]", "400", &["invalid_request"]).await;
    check("{}", "400", &["invalid_request", "messages"]).await;
    check(r#"{"model":"openai/m","messages":"hi"}"#, "400", &["\"param\":\"messages\""]).await;
    check(
        r#"{"model":"openai/m","messages":[{"role":"user","content":5}]}"#,
        "400",
        &["messages[0].content"],
    )
    .await;
    check(r#"{"model":"openai/m","messages":[{"role":"king","content":"x"}]}"#, "400", &["messages[0].role"])
        .await;
    check(
        r#"{"model":"openai/m","messages":[{"role":"user","content":"x"}],"n":2}"#,
        "400",
        &["\"param\":\"n\""],
    )
    .await;
    check(
        r#"{"model":"openai/m","messages":[{"role":"user","content":"x"}],"toolcrib":{"tool":[]}}"#,
        "400",
        &["toolcrib.tool"],
    )
    .await;
    check(
        r#"{"model":"openai/m","messages":[{"role":"user","content":"x"}],"toolcrib":{"tools":["weather"]}}"#,
        "400",
        &["there is no tool", "calculate"],
    )
    .await;
    check(
        r#"{"model":"openai/m","messages":[{"role":"user","content":"x"}],"toolcrib":{"conversation":"conv_x"}}"#,
        "404",
        &["not_found"],
    )
    .await;
    check(&"x".repeat(30_000), "413", &["body_too_large", "20000"]).await;
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_told_apart() {
    let server = server().await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(raw(&server, &get("/nowhere")).await.contains("\"code\":\"not_found\""));
    assert!(raw(&server, &get("/v1/chat/completions")).await.contains("\"code\":\"method_not_allowed\""));
    assert!(raw(&server, &get("/livez")).await.ends_with("ok"));
    assert!(raw(&server, &get("/readyz")).await.ends_with("ok"));
}

#[tokio::test]
async fn other_host_names_and_pages_of_other_sites_are_refused() {
    let server = server().await;
    let get = |headers: &str| format!("GET / HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n");
    let refused = [
        "Host: evil.example",
        "Host: localhost.evil.example",
        "Host: ",
        "Host: localhost\r\nOrigin: http://evil.example",
        "Host: localhost\r\nOrigin: null",
    ];
    for headers in refused {
        let response = raw(&server, &get(headers)).await;
        assert!(response.contains("403") && response.contains("wrong_host"), "{headers}: {response}");
    }
    assert!(
        raw(&server, &get("Host: localhost:1\r\nOrigin: http://localhost:1"))
            .await
            .starts_with("HTTP/1.1 200")
    );
}

#[tokio::test]
async fn the_page_needs_no_key_on_loopback_and_its_session_opens_the_api() {
    let server = server().await;
    let page = raw(&server, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>"), "{page}");
    let lower = page.to_lowercase();
    assert!(lower.contains("content-security-policy: default-src 'none'"), "{page}");
    assert!(lower.contains("httponly; samesite=strict"), "{page}");
    let cookie =
        page.split("toolcrib_session_80=").nth(1).and_then(|rest| rest.split(';').next()).expect("a session");
    let with = |session: &str| {
        format!(
            "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nCookie: toolcrib_session_80={session}\r\n\r\n"
        )
    };
    let basic = with(cookie).replace("Cookie:", "Authorization: Basic dTpw\r\nCookie:");
    assert!(raw(&server, &basic).await.starts_with("HTTP/1.1 200"), "another scheme is a proxy's business");
    let basic = basic.replace(cookie, "guessed");
    assert!(raw(&server, &basic).await.contains("invalid_api_key"), "{basic}");
    assert!(raw(&server, &with(cookie)).await.starts_with("HTTP/1.1 200"));
    assert!(raw(&server, &with("guessed")).await.starts_with("HTTP/1.1 401"));
    for (path, part) in
        [("/assets/app.js", "javascript"), ("/assets/app.css", "css"), ("/assets/icon.svg", "svg")]
    {
        let asset =
            raw(&server, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"))
                .await;
        assert!(asset.starts_with("HTTP/1.1 200") && asset.contains(part), "{path}");
    }
}

#[tokio::test]
async fn a_body_that_never_arrives_is_not_waited_for() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with_config(&upstream, "[server]\nbody_seconds = 1\n").await;
    let request = post(&server, "", "").replace("Content-Length: 0", "Content-Length: 100");
    let response = raw(&server, &request).await;
    assert!(response.starts_with("HTTP/1.1 408") && response.contains("body_timeout"), "{response}");
}

#[tokio::test]
async fn the_session_is_not_handed_to_a_proxy_and_belongs_to_one_port() {
    let server = server().await;
    let page = async |headers: &str| {
        raw(&server, &format!("GET / HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n")).await
    };
    assert!(page("Host: localhost:8420").await.contains("toolcrib_session_8420="));
    assert!(page("Host: [::1]:9000").await.contains("toolcrib_session_9000="));
    for header in ["Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: a.example"] {
        let answer = page(&format!("Host: localhost:8420\r\n{header}")).await;
        assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("toolcrib_session"), "{header}");
    }
    for header in ["X-Real-IP: 1.2.3.4", "Via: 1.1 proxy"] {
        let answer = page(&format!("Host: localhost:8420\r\n{header}")).await;
        assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("toolcrib_session"), "{header}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_read_gets_the_envelope_too() {
    let server = server().await;
    for path in ["/api/v1/runs/%FF", "/api/v1/tools/%FF", "/v1/models/%FF"] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
            server.key
        );
        let response = raw(&server, &request).await;
        assert!(response.starts_with("HTTP/1.1 400"), "{path}: {response}");
        assert!(
            response.contains("\"code\":\"invalid_request\"") && response.contains("UTF-8"),
            "{response}"
        );
    }
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn every_line_of_a_request_and_its_run_carries_its_id() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone());
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    let upstream =
        Upstream::start(vec![calls("c1", "calculate", r#"{"expression":"6*7"}"#), says("It is 42.")]).await;
    let server = Running::with(&upstream).await;
    server.chat("What is 6 times 7?", json!({})).await.expect("answered");
    let log = String::from_utf8_lossy(&log.0.lock().expect("not poisoned")).into_owned();
    for part in ["run begins", "a tool succeeded", "path=\"/v1/chat/completions\""] {
        let line = log.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {log}"));
        assert!(line.contains("request{id=\"req_"), "{line}");
    }
}

#[tokio::test]
async fn tools_are_shown_in_the_callers_language() {
    let server = Running::demo().await;
    let read = async |path: &str, language: &str| {
        let connection = server.connection();
        let headers = [("accept-language", language)];
        let reply = connection.send(Method::GET, path, &headers, None).await.expect(path);
        reply.json().await.expect("JSON")
    };
    for (language, name, label) in [
        ("de-AT,de;q=0.9,en;q=0.8", "Webseite lesen", "Zeit je Seite (Sekunden)"),
        ("en", "Read web page", "Time per page (seconds)"),
        ("tlh", "Read web page", "Time per page (seconds)"),
    ] {
        let named = |answer: &Value| {
            let mut tools = answer["tools"].as_array().expect("tools").iter();
            tools.find(|tool| tool["id"] == "read_web_page").expect("the tool")["name"].clone()
        };
        assert_eq!(named(&read("/api/v1/tools", language).await), name, "{language}");
        assert_eq!(
            named(&read("/api/v1/tools/explain?model=toolcrib/demo", language).await),
            name,
            "{language}"
        );
        let shown = read("/api/v1/tools/read_web_page", language).await;
        assert_eq!(shown["name"], name, "{language}");
        assert_eq!(shown["settings"][0]["name"], "timeoutSeconds");
        assert_eq!(shown["settings"][0]["label"], label, "{language}");
        assert!(shown["settings"][0]["help"].as_str().is_some_and(|help| help.ends_with('.')), "{shown:#}");
        assert_eq!(shown["settings"][0]["maximum"], 240);
    }
}
