//! Servers that send too much: the class `size` of `server-behaviours.tsv`.

use std::time::Duration;

use toolcrib_egress::testing::{Reply, Step};
use toolcrib_egress::{Budgets, Excess, FetchError, FetchRequest, Fetched, PartialReason, Policy};

use crate::support::{EXAMPLE, answered_with, fetch_with, scenario};

fn endless(bytes: impl Into<bytes::Bytes>) -> Step {
    Step::Repeat { bytes: bytes.into(), times: None, pause: Duration::ZERO }
}

fn too_large(result: Result<Fetched, FetchError>, expected: Excess) {
    match result {
        Err(FetchError::TooLarge { excess, .. }) => assert_eq!(excess, expected),
        other => panic!("expected {expected:?}, got {other:?}"),
    }
}

fn bad_response(result: Result<Fetched, FetchError>) {
    assert!(matches!(result, Err(FetchError::BadResponse { .. })), "{result:?}");
}

fn chunked(rest: impl AsRef<[u8]>) -> Reply {
    Reply::raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        .then(Step::Send(rest.as_ref().to_vec().into()))
}

/// Fetches `http://example.com/` with room for 64 KiB.
async fn small(reply: Reply) -> (toolcrib_egress::testing::Scenario, Result<Fetched, FetchError>) {
    let budgets = Budgets { wire_bytes: 64 * 1024, ..Budgets::default() };
    let scenario = scenario(EXAMPLE, reply).await;
    let request = FetchRequest::new("http://example.com/", &Policy::Public);
    let result = fetch_with(&scenario, request, budgets).await;
    (scenario, result)
}

#[tokio::test]
async fn an_announced_length_above_the_budget_is_refused_at_the_header() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n").then(endless("x"));
    too_large(answered_with(reply).await.1, Excess::DeclaredLength);
}

#[tokio::test]
async fn an_endless_body_stops_at_the_budget_with_what_was_read() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\n\r\n").then(endless("0123456789abcdef".repeat(512)));
    let (scenario, result) = small(reply).await;
    let page = result.unwrap();
    assert_eq!(page.partial, Some(PartialReason::TooLarge));
    assert_eq!(page.body.len(), 64 * 1024);
    assert!(page.body.starts_with(b"0123456789abcdef"));
    drop(scenario);
}

#[tokio::test]
async fn a_body_that_ends_exactly_at_the_budget_is_whole() {
    let (_, result) = small(Reply::html("x".repeat(64 * 1024))).await;
    let page = result.unwrap();
    assert_eq!((page.partial, page.body.len()), (None, 64 * 1024));
}

#[tokio::test]
async fn bytes_behind_the_announced_length_are_not_read() {
    let (_, result) = answered_with(Reply::raw(
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npageHTTP/1.1 200 OK\r\n\r\nevil",
    ))
    .await;
    assert_eq!(result.unwrap().body, "page");
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_partial() {
    let (_, result) = answered_with(Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\npage")).await;
    let page = result.unwrap();
    assert_eq!((page.partial, &page.body[..]), (Some(PartialReason::Cut), &b"page"[..]));
}

#[tokio::test]
async fn endless_chunks_of_one_byte_stop_at_the_budget() {
    let reply = chunked("").then(endless("1\r\nx\r\n".repeat(500)));
    let (_, result) = small(reply).await;
    let page = result.unwrap();
    assert_eq!(page.partial, Some(PartialReason::TooLarge));
    assert!(page.body.len() < 64 * 1024 / 5);
}

#[tokio::test]
async fn chunks_are_joined_and_trailers_dropped() {
    let (_, result) = answered_with(chunked("3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Late: 1\r\n\r\n")).await;
    let page = result.unwrap();
    assert_eq!((page.partial, &page.body[..]), (None, &b"abcde"[..]));
    assert_eq!(page.header("x-late"), None);
}

#[tokio::test]
async fn a_chunk_extension_of_a_megabyte_is_an_error() {
    bad_response(answered_with(chunked(format!("3;{}\r\nabc\r\n0\r\n\r\n", "x".repeat(1 << 20)))).await.1);
}

#[tokio::test]
async fn chunk_sizes_that_cannot_be_true_are_errors() {
    for size in ["ffffffffffffffff", "100000000", "10000000000000000000000", "-1", "0x3", "", " 3", "3 4"] {
        bad_response(answered_with(chunked(format!("{size}\r\nabc\r\n0\r\n\r\n"))).await.1);
    }
}

#[tokio::test]
async fn a_chunk_longer_than_its_size_is_an_error() {
    bad_response(answered_with(chunked("3\r\nabcdef\r\n0\r\n\r\n")).await.1);
}

#[tokio::test]
async fn trailers_of_a_megabyte_are_an_error() {
    let trailers = format!("3\r\nabc\r\n0\r\nX-Late: {}\r\n\r\n", "x".repeat(1 << 20));
    too_large(answered_with(chunked(trailers)).await.1, Excess::Header);
}

#[tokio::test]
async fn a_header_field_of_a_megabyte_is_an_error() {
    let reply = Reply::new(200).header("X-Big", "x".repeat(1 << 20)).body("page");
    too_large(answered_with(reply).await.1, Excess::Header);
}

#[tokio::test]
async fn more_than_a_hundred_fields_are_an_error() {
    for (fields, fits) in [(98, true), (99, false), (5_000, false)] {
        // Two more fields: Connection and Content-Length.
        let mut reply = Reply::new(200);
        for number in 0..fields {
            reply = reply.header("X-F", number.to_string());
        }
        let (_, result) = answered_with(reply.body("page")).await;
        if fits {
            assert_eq!(result.unwrap().body, "page");
        } else {
            too_large(result, Excess::Header);
        }
    }
}

#[tokio::test]
async fn interim_responses_are_skipped_up_to_a_limit() {
    for code in [100, 102, 103] {
        let interim = format!("HTTP/1.1 {code} Interim\r\nLink: </x.css>; rel=preload\r\n\r\n");
        for (count, fits) in [(8, true), (9, false)] {
            let reply =
                Reply::raw(interim.repeat(count)).then(Step::Send("HTTP/1.1 200 OK\r\n\r\npage".into()));
            let (scenario, result) = answered_with(reply).await;
            if fits {
                assert_eq!(result.unwrap().body, "page");
            } else {
                too_large(result, Excess::Header);
            }
            assert_eq!(scenario.connector.attempts().len(), 1);
        }
        too_large(answered_with(Reply::steps(vec![endless(interim)])).await.1, Excess::Header);
    }
}
