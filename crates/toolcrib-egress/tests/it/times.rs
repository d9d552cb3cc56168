//! Servers that take their time: the class `time` of `server-behaviours.tsv`.

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use toolcrib_egress::reexports::CancellationToken;
use toolcrib_egress::testing::{Reply, Route, Step, TlsMode};
use toolcrib_egress::{FetchError, FetchRequest, PartialReason, Phase, Policy};

use crate::support::{
    EXAMPLE, all_closed_within, answered_quickly, fetch_quickly, quick, scenario, settings,
};

/// A cancelled fetch closes its socket within 100 ms; the rest is for busy machines.
const SOON: Duration = Duration::from_millis(500);

fn timed_out_while(result: Result<toolcrib_egress::Fetched, FetchError>, expected: Phase) {
    match result {
        Err(FetchError::Timeout { phase, .. }) => assert_eq!(phase, expected),
        other => panic!("expected a timeout, got {other:?}"),
    }
}

fn repeat(bytes: &'static str, pause: u64) -> Step {
    Step::Repeat { bytes: bytes.into(), times: None, pause: Duration::from_millis(pause) }
}

#[tokio::test]
async fn a_server_that_never_answers_ends_at_the_header_budget_and_its_socket_is_closed() {
    let started = Instant::now();
    let (scenario, result) = answered_quickly(Reply::steps(vec![Step::Hang])).await;
    timed_out_while(result, Phase::Headers);
    assert!(started.elapsed() < Duration::from_millis(1100));
    assert!(all_closed_within(&scenario, SOON).await);
}

#[tokio::test]
async fn a_silent_address_is_overtaken_by_the_next_judged_one() {
    let scenario = scenario("dns example.com=93.184.215.14,93.184.215.15", Reply::html("second")).await;
    scenario.connector.set_route("93.184.215.14".parse().unwrap(), Route::Filtered);
    let page = fetch_quickly(&scenario, "http://example.com/").await.unwrap();
    assert_eq!(page.body, "second");
    assert_eq!(scenario.connector.attempts().len(), 2);
    assert_eq!(scenario.connector.lookups(), ["example.com."]);
}

#[tokio::test]
async fn an_address_that_never_completes_the_handshake_ends_at_the_connect_budget() {
    let scenario = scenario(EXAMPLE, Reply::html("")).await;
    scenario.connector.set_route("93.184.215.14".parse().unwrap(), Route::Filtered);
    let started = Instant::now();
    timed_out_while(fetch_quickly(&scenario, "http://example.com/").await, Phase::Connecting);
    assert!(started.elapsed() < Duration::from_millis(1100));
}

#[tokio::test]
async fn at_most_six_addresses_of_a_name_are_tried() {
    let scenario = scenario(
        "dns example.com=9.9.9.1,9.9.9.2,9.9.9.3,9.9.9.4,9.9.9.5,9.9.9.6,9.9.9.7,9.9.9.8",
        Reply::html(""),
    )
    .await;
    for last in 1..=8 {
        scenario.connector.set_route(IpAddr::from([9, 9, 9, last]), Route::Closed);
    }
    let error = fetch_quickly(&scenario, "http://example.com/").await.unwrap_err();
    assert!(matches!(error, FetchError::Connect { .. }), "{error}");
    assert_eq!(scenario.connector.attempts().len(), 6);
}

#[tokio::test]
async fn a_client_hello_that_is_never_answered_ends_at_the_connect_budget() {
    let scenario = scenario(EXAMPLE, Reply::html("")).await;
    scenario.server.set_tls(TlsMode::Silent);
    timed_out_while(fetch_quickly(&scenario, "https://example.com/").await, Phase::Connecting);
}

#[tokio::test]
async fn a_status_line_that_trickles_ends_at_the_header_budget() {
    let trickle = "HTTP/1.1 200 a very long reason phrase"
        .bytes()
        .map(|byte| Step::Repeat {
            bytes: vec![byte].into(),
            times: Some(1),
            pause: Duration::from_millis(50),
        })
        .collect();
    let started = Instant::now();
    let (_, result) = answered_quickly(Reply::steps(trickle)).await;
    timed_out_while(result, Phase::Headers);
    assert!(started.elapsed() < Duration::from_millis(1100));
}

#[tokio::test]
async fn an_endless_trickling_header_field_ends_at_the_header_budget() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\nX-Slow: ").then(repeat("a", 30));
    let (_, result) = answered_quickly(reply).await;
    timed_out_while(result, Phase::Headers);
}

#[tokio::test]
async fn an_endless_trickling_body_ends_at_the_total_budget_with_what_was_read() {
    let reply = Reply::new(200)
        .header("Content-Type", "text/html")
        .then(Step::Send("\r\n".into()))
        .then(repeat("word ", 50));
    let started = Instant::now();
    let (_, result) = answered_quickly(reply).await;
    let page = result.unwrap();
    assert_eq!(page.partial, Some(PartialReason::TooSlow));
    assert!(page.body.starts_with(b"word word"));
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_body_that_stops_ends_at_the_idle_budget_with_what_was_read() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbeginning").then(Step::Hang);
    let started = Instant::now();
    let (_, result) = answered_quickly(reply).await;
    let page = result.unwrap();
    assert_eq!((page.partial, &page.body[..]), (Some(PartialReason::TooSlow), &b"beginning"[..]));
    assert!(started.elapsed() < Duration::from_millis(1100));
}

#[tokio::test]
async fn a_body_that_never_begins_is_a_timeout() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n").then(Step::Hang);
    timed_out_while(answered_quickly(reply).await.1, Phase::Body);
}

#[tokio::test]
async fn slow_redirects_share_one_clock() {
    let scenario = scenario(EXAMPLE, Reply::html("never reached")).await;
    for _ in 0..5 {
        let slow = Reply::steps(vec![Step::Pause(Duration::from_millis(300))]);
        let redirect = Step::Send("HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\n".into());
        scenario.server.push(slow.then(redirect));
    }
    let started = Instant::now();
    let result = fetch_quickly(&scenario, "http://example.com/").await;
    timed_out_while(result, Phase::Headers);
    let elapsed = started.elapsed();
    assert!(elapsed > Duration::from_millis(1100) && elapsed < Duration::from_secs(3), "{elapsed:?}");
}

#[tokio::test]
async fn an_answer_of_dns_that_never_comes_ends_at_the_dns_budget() {
    let scenario = scenario("dns example.com=TIMEOUT", Reply::html("")).await;
    let started = Instant::now();
    timed_out_while(fetch_quickly(&scenario, "http://example.com/").await, Phase::Resolving);
    assert!(started.elapsed() < Duration::from_millis(1100));
    assert!(scenario.connector.attempts().is_empty());
}

#[tokio::test]
async fn the_callers_timeout_bounds_the_whole_fetch() {
    let scenario = scenario(EXAMPLE, Reply::steps(vec![Step::Hang])).await;
    let egress = scenario.egress(settings(quick())).unwrap();
    let mut request = FetchRequest::new("http://example.com/", &Policy::Public);
    request.timeout = Some(Duration::from_millis(60));
    let started = Instant::now();
    timed_out_while(egress.fetch(request, &CancellationToken::new()).await, Phase::Headers);
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn cancelling_closes_the_socket_at_once_and_leaves_no_task() {
    let scenario = scenario(EXAMPLE, Reply::steps(vec![Step::Hang])).await;
    let egress = scenario.egress(settings(quick())).unwrap();
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let cancel = CancellationToken::new();
    let request = FetchRequest::new("https://example.com/", &Policy::Public);
    let (result, ()) = tokio::join!(egress.fetch(request, &cancel), async {
        sleep(Duration::from_millis(100)).await;
        assert_eq!(scenario.server.open_connections(), 1);
        cancel.cancel();
    });
    assert!(matches!(result, Err(FetchError::Cancelled { .. })), "{result:?}");
    assert!(all_closed_within(&scenario, SOON).await);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks);
}

#[tokio::test]
async fn dropping_a_fetch_closes_the_socket_at_once_and_leaves_no_task() {
    let scenario = scenario(EXAMPLE, Reply::steps(vec![Step::Hang])).await;
    let egress = scenario.egress(settings(quick())).unwrap();
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let cancel = CancellationToken::new();
    let fetch = egress.fetch(FetchRequest::new("http://example.com/", &Policy::Public), &cancel);
    assert!(timeout(Duration::from_millis(100), fetch).await.is_err());
    assert!(all_closed_within(&scenario, SOON).await);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks);
}

#[tokio::test]
async fn one_host_gets_four_connections_at_once_and_the_rest_wait_their_turn() {
    let page = Reply::steps(vec![Step::Pause(Duration::from_millis(20))])
        .then(Step::Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".into()));
    let scenario = scenario(EXAMPLE, page).await;
    let egress = scenario.egress(settings(quick())).unwrap();
    let cancel = CancellationToken::new();
    let fetches =
        (0..24).map(|_| egress.fetch(FetchRequest::new("http://example.com/", &Policy::Public), &cancel));
    let watch = async {
        let mut most = 0;
        while scenario.server.requests().len() < 24 {
            most = most.max(scenario.server.open_connections());
            sleep(Duration::from_millis(1)).await;
        }
        most
    };
    let (results, most) = tokio::join!(futures_util::future::join_all(fetches), watch);
    assert!(results.iter().all(Result::is_ok));
    assert!((1..=4).contains(&most), "{most} connections at once");
}
