//! Servers that do not keep to HTTP, or try to lead further: the class `proto` of `server-behaviours.tsv`.

use toolcrib_egress::testing::Reply;
use toolcrib_egress::{Budgets, FetchError, FetchRequest, Policy, RedirectProblem, Rule};

use crate::support::{EXAMPLE, answered_with, fetch, fetch_with, scenario};

async fn is_bad(raw: impl Into<bytes::Bytes>) {
    let raw = raw.into();
    let (_, result) = answered_with(Reply::raw(raw.clone())).await;
    assert!(matches!(result, Err(FetchError::BadResponse { .. })), "{raw:?}: {result:?}");
}

#[tokio::test]
async fn answers_that_could_be_read_in_two_ways_are_errors() {
    for raw in [
        "<html>an answer in the style of HTTP/0.9</html>",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\npages",
        "HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\npages",
        "HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\npage",
        "HTTP/1.1 200 OK\nContent-Length: 4\n\npage",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\n\r\npage",
        "HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\npage",
        "HTTP/1.1 200 OK\r\n Content-Length: 4\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nX-Bare: a\rb\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\npage",
        "HTTP/1.1 200 OK\r\n: no name\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\npage",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\npage",
        "HTTP/1.2 200 OK\r\n\r\npage",
        "HTTP/1.1  200 OK\r\n\r\npage",
        "HTTP/1.1 20 OK\r\n\r\npage",
        "HTTP/1.1 099 OK\r\n\r\npage",
        "HTTP/1.1 999 OK\r\n\r\npage",
        "HTTP/1.1 200OK\r\n\r\npage",
        "\r\nHTTP/1.1 200 OK\r\n\r\npage",
        "",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
        "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n",
    ] {
        is_bad(raw).await;
    }
}

#[tokio::test]
async fn harmless_liberties_are_taken() {
    for raw in [
        "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\npage",
        "HTTP/1.1 200 \r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\npage",
        "HTTP/1.0 200 OK\r\n\r\npage",
        "HTTP/1.1 200 OK\r\nX-Latin: caf\u{e9}\r\nTransfer-Encoding: Chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\npage",
    ] {
        let (_, result) = answered_with(Reply::raw(raw)).await;
        assert_eq!(result.unwrap().body, "page", "{raw:?}");
    }
}

#[tokio::test]
async fn statuses_without_a_body_have_none() {
    for status in [204, 304] {
        let (_, result) = answered_with(Reply::new(status).body("not a body")).await;
        let page = result.unwrap();
        assert_eq!((page.status, page.body.len()), (status, 0));
    }
}

#[tokio::test]
async fn what_a_page_points_to_is_not_connected_to() {
    let reply = Reply::new(200)
        .header("Alt-Svc", "h3=\"127.0.0.1:443\"")
        .header("Link", "<http://127.0.0.1/>; rel=preload, <http://10.0.0.1>; rel=preconnect")
        .header("Refresh", "0;url=http://127.0.0.1/")
        .header("Location", "http://127.0.0.1/")
        .header("Strict-Transport-Security", "max-age=1000")
        .header("Content-Type", "text/html")
        .body("<base href='http://127.0.0.1/'><img src=x><meta http-equiv=refresh content='0;url=x'>");
    let scenario = scenario(EXAMPLE, reply).await;
    for _ in 0..2 {
        fetch(&scenario, "http://example.com/").await.unwrap();
    }
    let attempts = scenario.connector.attempts();
    assert_eq!(attempts, ["93.184.215.14:80".parse().unwrap(); 2]);
}

#[tokio::test]
async fn nothing_about_anybody_is_sent_and_no_cookie_comes_back() {
    let scenario =
        scenario("dns a.example.com=93.184.215.14; dns b.example.net=93.184.215.15", Reply::html("page"))
            .await;
    let hop = Reply::new(302)
        .header("Set-Cookie", "id=1; Domain=com")
        .header("Set-Cookie", "id=2; Path=/")
        .header("Location", "http://b.example.net/x?y=z#part");
    scenario.server.push(hop.body(""));
    let mut request = FetchRequest::new("http://a.example.com/?secret=1#top", &Policy::Public);
    request.accept = Some("text/html");
    request.accept_language = Some("de-CH, de;q=0.8");
    let page = fetch_with(&scenario, request, Budgets::default()).await.unwrap();
    assert_eq!(page.final_url.as_str(), "http://b.example.net/x?y=z#part");
    let hops: Vec<_> = page.hops.iter().map(url::Url::as_str).collect();
    assert_eq!(hops, ["http://a.example.com/?secret=1#top", "http://b.example.net/x?y=z#part"]);
    let requests = scenario.server.requests();
    assert_eq!(requests[0].line(), "GET /?secret=1 HTTP/1.1");
    assert_eq!(requests[1].line(), "GET /x?y=z HTTP/1.1");
    assert_eq!(requests[1].header("host"), Some("b.example.net"));
    assert_eq!(requests[1].header("accept"), Some("text/html"));
    assert_eq!(requests[1].header("accept-language"), Some("de-CH, de;q=0.8"));
    assert_eq!(requests[1].header("accept-encoding"), Some("gzip, deflate, br, zstd"));
    assert!(requests[1].header("user-agent").unwrap().starts_with("Toolcrib/"));
    for request in requests {
        for name in ["cookie", "referer", "authorization", "origin", "proxy-authorization"] {
            assert_eq!(request.header(name), None, "{name}");
        }
    }
}

#[tokio::test]
async fn a_request_for_credentials_is_the_result_and_gets_none() {
    for scheme in ["Negotiate", "NTLM", "Basic realm=x"] {
        let (scenario, result) =
            answered_with(Reply::new(401).header("WWW-Authenticate", scheme).body("who are you")).await;
        assert_eq!(result.unwrap().status, 401);
        assert_eq!(scenario.server.requests().len(), 1);
    }
}

#[tokio::test]
async fn header_values_that_could_inject_fields_are_not_sent() {
    let scenario = scenario(EXAMPLE, Reply::html("page")).await;
    let mut request = FetchRequest::new("http://example.com/", &Policy::Public);
    request.accept = Some("text/html\r\nX-Injected: 1");
    request.accept_language = Some("de\nX-Injected: 2");
    fetch_with(&scenario, request, Budgets::default()).await.unwrap();
    let head = &scenario.server.requests()[0].head;
    assert!(!head.contains("Injected"), "{head}");
}

#[tokio::test]
async fn redirects_that_cannot_be_followed_say_why() {
    for (location, expected) in
        [("https://example.com/", None), ("http://example.com/", Some(RedirectProblem::Downgrade))]
    {
        let scenario = scenario(EXAMPLE, Reply::html("page")).await;
        scenario.server.push(Reply::redirect(301, location));
        let result = fetch(&scenario, "https://example.com/a").await;
        match (result, expected) {
            (Ok(page), None) => assert_eq!(page.final_url.as_str(), location),
            (Err(FetchError::Redirect { problem, .. }), Some(expected)) => assert_eq!(problem, expected),
            (other, _) => panic!("{location}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_sixth_redirect_is_one_too_many() {
    let scenario = scenario(EXAMPLE, Reply::redirect(302, "/again")).await;
    let error = fetch(&scenario, "http://example.com/").await.unwrap_err();
    assert!(matches!(error, FetchError::TooManyRedirects { limit: 5, .. }), "{error}");
    assert_eq!(scenario.server.requests().len(), 6);
}

#[tokio::test]
async fn a_connection_that_ends_elsewhere_is_refused_before_anything_is_sent() {
    let scenario = scenario(EXAMPLE, Reply::html("page")).await;
    for elsewhere in ["127.0.0.1:80", "93.184.215.15:80", "[::ffff:127.0.0.1]:80", "93.184.215.14:81"] {
        let route = toolcrib_egress::testing::Route::Elsewhere(elsewhere.parse().unwrap());
        scenario.connector.set_route("93.184.215.14".parse().unwrap(), route);
        let error = fetch(&scenario, "http://example.com/").await.unwrap_err();
        assert!(matches!(error, FetchError::Refused { rule: Rule::PeerChanged { .. }, .. }), "{error}");
    }
    // The same address in its mapped form is the same peer.
    let mapped = toolcrib_egress::testing::Route::Elsewhere("[::ffff:93.184.215.14]:80".parse().unwrap());
    scenario.connector.set_route("93.184.215.14".parse().unwrap(), mapped);
    assert_eq!(scenario.server.requests().len(), 0);
    fetch(&scenario, "http://example.com/").await.unwrap();
}

#[tokio::test]
async fn every_fetch_has_its_own_connection_and_lookup() {
    let scenario = scenario(EXAMPLE, Reply::html("page")).await;
    let egress = scenario.egress(crate::support::settings(Budgets::default())).unwrap();
    for expected in 1..=3 {
        let request = FetchRequest::new("https://example.com/", &Policy::Public);
        egress.fetch(request, &toolcrib_egress::reexports::CancellationToken::new()).await.unwrap();
        assert_eq!(scenario.server.accepted_connections(), expected);
        assert_eq!(scenario.connector.lookups().len(), expected);
    }
}
