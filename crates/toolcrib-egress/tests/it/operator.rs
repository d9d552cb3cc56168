//! The client for configured endpoints.

use std::time::Duration;

use futures_util::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use toolcrib_egress::reexports::{CancellationToken, HeaderName, HeaderValue, Method, SecretString, Url};
use toolcrib_egress::testing::{Reply, Step, StubServer, TlsMode};
use toolcrib_egress::{OperatorClient, OperatorError, OperatorRequest, OperatorResponse, OperatorSettings};

fn settings(server: &StubServer, base_path: &str) -> OperatorSettings {
    let base = format!("http://{}{base_path}", server.address()).parse().unwrap();
    OperatorSettings {
        secret_headers: vec![(
            HeaderName::from_static("authorization"),
            SecretString::from("Bearer hunter2"),
        )],
        header_timeout: Duration::from_millis(800),
        idle_timeout: Duration::from_millis(600),
        ..OperatorSettings::new(base)
    }
}

fn client(server: &StubServer) -> OperatorClient {
    OperatorClient::new(settings(server, "/v1")).unwrap()
}

async fn get(client: &OperatorClient, path: &str) -> Result<OperatorResponse, OperatorError> {
    client.send(OperatorRequest::new(Method::GET, path), &CancellationToken::new()).await
}

async fn server(reply: Reply) -> StubServer {
    let server = StubServer::start().await.unwrap();
    server.set_default(reply);
    server
}

async fn closes_soon(server: &StubServer) -> bool {
    for _ in 0..200 {
        if server.open_connections() == 0 {
            return true;
        }
        sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn a_request_is_sent_relative_to_the_base_with_its_secret() {
    let server = server(Reply::html("answer")).await;
    let mut settings = settings(&server, "/v1/");
    settings.headers = vec![(HeaderName::from_static("x-team"), HeaderValue::from_static("mill"))];
    let client = OperatorClient::new(settings).unwrap();
    let mut request = OperatorRequest::new(Method::POST, "/chat/completions?x=1");
    request.headers.insert("authorization", HeaderValue::from_static("Bearer somebody else's"));
    request.headers.insert("host", HeaderValue::from_static("evil.example.com"));
    request.body = "{\"question\":1}".into();
    let response = client.send(request, &CancellationToken::new()).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(response.collect(100).await.unwrap(), "answer");
    let seen = server.requests().pop().unwrap();
    assert_eq!(seen.line(), "POST /v1/chat/completions?x=1 HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some("Bearer hunter2"));
    assert_eq!(seen.header("x-team"), Some("mill"));
    assert_eq!(seen.header("host"), Some(server.address().to_string().as_str()));
    assert_eq!(seen.body, b"{\"question\":1}");
    assert!(!format!("{client:?}").contains("hunter2"));
}

#[tokio::test]
async fn no_path_leaves_the_origin() {
    let server = server(Reply::html("answer")).await;
    let client = client(&server);
    for path in
        ["//evil.example.com/x", "https://evil.example.com/", "@evil.example.com", "../../x", "\\\\evil"]
    {
        get(&client, path).await.unwrap();
        assert_eq!(server.requests().pop().unwrap().header("host").unwrap(), server.address().to_string());
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_an_error_and_the_secret_stays() {
    let other = server(Reply::html("thief")).await;
    let server = server(Reply::html("answer")).await;
    for location in [
        format!("http://{}/v1/x", other.address()),
        format!("https://{}/v1/x", server.address()),
        format!("//{}/", other.address()),
        "http://localhost/".to_owned(),
    ] {
        server.push(Reply::redirect(307, &location));
        let error = get(&client(&server), "models").await.unwrap_err();
        assert!(matches!(error, OperatorError::CrossOriginRedirect { .. }), "{location}: {error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
    assert_eq!(other.accepted_connections(), 0);
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_if_the_request_stays_the_same() {
    let server = server(Reply::html("answer")).await;
    let client = client(&server);
    server.push(Reply::redirect(301, "/v1/models/"));
    assert_eq!(get(&client, "models").await.unwrap().collect(100).await.unwrap(), "answer");
    for (status, follows) in [(301, false), (302, false), (303, false), (307, true), (308, true)] {
        server.push(Reply::redirect(status, "/v1/other"));
        let mut request = OperatorRequest::new(Method::POST, "chat");
        request.body = "body".into();
        let result = client.send(request, &CancellationToken::new()).await;
        assert_eq!(result.is_ok(), follows, "{status}: {result:?}");
        if follows {
            assert_eq!(server.requests().pop().unwrap().body, b"body");
        }
        server.clear();
    }
    server.set_default(Reply::redirect(302, "/v1/loop"));
    let error = get(&client, "models").await.unwrap_err();
    assert!(matches!(error, OperatorError::BadResponse { .. }), "{error}");
}

#[tokio::test]
async fn pieces_of_a_stream_are_passed_on_when_they_arrive() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        .then(Step::Pause(Duration::from_millis(500)))
        .then(Step::Send("3\r\ntwo\r\n0\r\n\r\n".into()));
    let server = server(reply).await;
    let started = Instant::now();
    let mut body = get(&client(&server), "stream").await.unwrap().body;
    assert_eq!(body.next().await.unwrap().unwrap(), "one");
    assert!(started.elapsed() < Duration::from_millis(400), "{:?}", started.elapsed());
    assert_eq!(body.next().await.unwrap().unwrap(), "two");
    assert!(body.next().await.is_none());
    assert!(body.next().await.is_none());
}

#[tokio::test]
async fn dropping_a_body_closes_the_connection() {
    let endless =
        Step::Repeat { bytes: "x".repeat(100).into(), times: None, pause: Duration::from_millis(5) };
    let server = server(Reply::raw("HTTP/1.1 200 OK\r\n\r\n").then(endless)).await;
    let mut response = get(&client(&server), "stream").await.unwrap();
    response.body.next().await.unwrap().unwrap();
    assert_eq!(server.open_connections(), 1);
    drop(response);
    assert!(closes_soon(&server).await);
}

#[tokio::test]
async fn cancelling_ends_a_request_and_a_body() {
    let server = server(Reply::steps(vec![Step::Hang])).await;
    let client = client(&server);
    let cancel = CancellationToken::new();
    let (result, ()) = tokio::join!(client.send(OperatorRequest::new(Method::GET, "x"), &cancel), async {
        sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    assert!(matches!(result, Err(OperatorError::Cancelled { .. })), "{result:?}");
    assert!(closes_soon(&server).await);

    server.set_default(Reply::raw("HTTP/1.1 200 OK\r\n\r\nbeginning").then(Step::Hang));
    let cancel = CancellationToken::new();
    let mut response = client.send(OperatorRequest::new(Method::GET, "x"), &cancel).await.unwrap();
    assert_eq!(response.body.next().await.unwrap().unwrap(), "beginning");
    cancel.cancel();
    assert!(matches!(response.body.next().await, Some(Err(OperatorError::Cancelled { .. }))));
    assert!(response.body.next().await.is_none());
    assert!(closes_soon(&server).await);
}

#[tokio::test]
async fn a_stream_that_is_cut_says_so() {
    for head in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        let server = server(Reply::raw(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n5\r\nstart\r\n"))).await;
        let response = get(&client(&server), "stream").await.unwrap();
        let error = response.collect(1000).await.unwrap_err();
        assert!(matches!(error, OperatorError::Cut { .. }), "{head}: {error}");
    }
    let server = server(Reply::raw("")).await;
    let error = get(&client(&server), "x").await.unwrap_err();
    assert!(matches!(error, OperatorError::Cut { .. }), "{error}");
}

#[tokio::test]
async fn silence_is_a_timeout_before_and_within_a_body() {
    let server = server(Reply::steps(vec![Step::Hang])).await;
    let client = client(&server);
    let error = get(&client, "x").await.unwrap_err();
    assert!(matches!(error, OperatorError::Timeout { .. }), "{error}");

    server.set_default(Reply::raw("HTTP/1.1 200 OK\r\n\r\nbeginning").then(Step::Hang));
    let error = get(&client, "x").await.unwrap().collect(100).await.unwrap_err();
    assert!(matches!(error, OperatorError::Timeout { .. }), "{error}");

    for pause in [Duration::from_millis(20), Duration::ZERO] {
        let endless = Step::Repeat { bytes: "x".into(), times: None, pause };
        server.set_default(Reply::raw("HTTP/1.1 200 OK\r\n\r\n").then(endless));
        let mut request = OperatorRequest::new(Method::GET, "x");
        request.deadline = Some(Instant::now() + Duration::from_millis(500));
        let response = client.send(request, &CancellationToken::new()).await.unwrap();
        let error = response.collect(1_000_000_000).await.unwrap_err();
        assert!(matches!(error, OperatorError::Timeout { .. }), "{pause:?}: {error}");
    }
}

#[tokio::test]
async fn a_body_above_the_callers_limit_is_an_error() {
    let server = server(Reply::html("0123456789")).await;
    let client = client(&server);
    assert_eq!(get(&client, "x").await.unwrap().collect(10).await.unwrap().len(), 10);
    let error = get(&client, "x").await.unwrap().collect(9).await.unwrap_err();
    assert!(matches!(error, OperatorError::TooLarge { limit: 9, .. }), "{error}");
}

#[tokio::test]
async fn nobody_listening_and_no_such_name_are_unreachable() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    for base in [format!("http://127.0.0.1:{port}/"), "http://no-such-name.invalid/".to_owned()] {
        let client = OperatorClient::new(OperatorSettings::new(base.parse().unwrap())).unwrap();
        let error = get(&client, "x").await.unwrap_err();
        assert!(matches!(error, OperatorError::Unreachable { .. }), "{base}: {error}");
    }
}

#[tokio::test]
async fn answers_that_are_not_http_are_bad_responses() {
    for raw in ["SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"] {
        let server = server(Reply::raw(raw)).await;
        let error = get(&client(&server), "x").await.unwrap_err();
        assert!(matches!(error, OperatorError::BadResponse { .. }), "{raw}: {error}");
    }
}

#[tokio::test]
async fn tls_is_verified_against_the_configured_roots() {
    let server = server(Reply::html("answer")).await;
    let base: Url = format!("https://localhost:{}/", server.address().port()).parse().unwrap();
    let trusting = OperatorSettings {
        additional_roots: vec![server.authority().certificate()],
        ..OperatorSettings::new(base.clone())
    };
    let client = OperatorClient::new(trusting.clone()).unwrap();
    assert_eq!(get(&client, "x").await.unwrap().status, 200);
    let strict = OperatorClient::new(OperatorSettings::new(base)).unwrap();
    let error = get(&strict, "x").await.unwrap_err();
    assert!(matches!(error, OperatorError::Tls { .. }), "{error}");
    server.set_tls(TlsMode::Expired);
    let error = get(&OperatorClient::new(trusting).unwrap(), "x").await.unwrap_err();
    assert!(matches!(error, OperatorError::Tls { .. }), "{error}");
}

#[tokio::test]
async fn a_connection_is_used_again_for_the_next_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    // One connection only is ever accepted.
    let serving = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        while stream.read(&mut request).await.unwrap() > 0 {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
        }
    };
    let asking = async {
        let client = OperatorClient::new(OperatorSettings::new(base)).unwrap();
        for _ in 0..5 {
            assert_eq!(get(&client, "x").await.unwrap().collect(10).await.unwrap(), "ok");
        }
    };
    tokio::select! { () = serving => panic!("the server ended first"), () = asking => {} }
}

#[test]
fn settings_that_would_leak_or_cannot_work_are_refused() {
    for base in ["ftp://x/", "http://user:hunter2@x/", "http://x/?key=hunter2", "http://x/#f", "data:x"] {
        let error = OperatorClient::new(OperatorSettings::new(base.parse().unwrap())).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
    let mut settings = OperatorSettings::new("http://x/".parse().unwrap());
    settings.secret_headers =
        vec![(HeaderName::from_static("x-api-key"), SecretString::from("hunter2\r\nX-Injected: 1"))];
    let error = OperatorClient::new(settings).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
}
