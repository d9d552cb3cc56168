//! Pages over the real egress, against a stub server.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolcrib_egress::testing::{Fixture, Reply, Scenario, Step};
use toolcrib_egress::{Budgets, EgressSettings, Policy, Zone};
use toolcrib_web::{Document, PageError, PageRequest, Status, Warning, fetch_document};

const FIXTURE: &str = "dns *=93.184.215.14";

async fn fetch_with(fixture: &str, page: Reply, settings: EgressSettings) -> Result<Document, PageError> {
    let scenario = Scenario::start(&Fixture::parse(fixture).unwrap(), page).await.unwrap();
    let egress = scenario.egress(settings).unwrap();
    let request = PageRequest::new("https://notes.example.com/creek", &Policy::Public);
    fetch_document(&egress, request, &CancellationToken::new()).await
}

async fn fetch(page: Reply) -> Result<Document, PageError> {
    fetch_with(FIXTURE, page, EgressSettings::default()).await
}

#[tokio::test]
async fn a_page_becomes_a_document() {
    let page = Reply::html(
        "<title>Creek</title><main><h1>The creek</h1><p>It is <a href=/map>tidal</a>.</p></main>",
    );
    let fixture = format!("{FIXTURE}; hop 302 /mills/creek");
    let document = fetch_with(&fixture, page, EgressSettings::default()).await.unwrap();
    assert_eq!(document.final_url.as_str(), "https://notes.example.com/mills/creek");
    assert_eq!((document.status_code, document.zone), (Some(200), Some(Zone::Public)));
    assert_eq!(document.markdown, "# The creek\n\nIt is [tidal](https://notes.example.com/map).");
    assert_eq!(document.status, Status::Partial);
    assert_eq!(document.warnings, [Warning::LittleContent]);
    assert_eq!(document.links[0].text, "tidal");
}

#[tokio::test]
async fn error_statuses_are_named_and_a_sign_in_is_explained() {
    for (status, words) in
        [(404, "there is no such page"), (503, "the server has a fault"), (418, "HTTP status 418")]
    {
        let error =
            fetch(Reply::new(status).header("Content-Type", "text/html").body("<p>sorry")).await.unwrap_err();
        assert!(error.public_message().contains(words), "{}", error.public_message());
        assert!(error.public_message().contains(&status.to_string()));
    }
    let error = fetch(Reply::new(401).header("Content-Type", "text/html").body("x")).await.unwrap_err();
    assert!(matches!(error, PageError::SignInNeeded { .. }));
    assert!(error.public_message().contains("sign-in"));
}

#[tokio::test]
async fn unreadable_types_are_refused_by_name() {
    let error = fetch(Reply::new(200).header("Content-Type", "image/png").body("x")).await.unwrap_err();
    assert!(
        matches!(&error, PageError::Unsupported { media_type } if media_type == "image/png"),
        "{error:?}"
    );
    assert!(error.public_message().contains("image/png"));
    let error = fetch(Reply::html("%PDF-1.7 and so on")).await.unwrap_err();
    assert!(
        matches!(&error, PageError::Unsupported { media_type } if media_type == "application/pdf"),
        "{error:?}"
    );
    let error = fetch(Reply::new(200).body(&b"\x00\x01\x02\x03\x00\x00\x00binary"[..])).await.unwrap_err();
    assert!(matches!(&error, PageError::Unsupported { .. }), "{error:?}");
    let document = fetch(Reply::new(200).body("<!doctype html><p>no type, but a page")).await.unwrap();
    assert_eq!(document.metadata.media_type.as_deref(), Some("text/html"));
    let error = fetch(Reply::html("  \n ")).await.unwrap_err();
    assert!(matches!(error, PageError::Empty));
}

#[tokio::test]
async fn what_breaks_off_is_partial() {
    let words = "<p>words that fill the page</p>".repeat(4_000);
    let budgets = Budgets { decoded_bytes: 64 * 1024, ..Budgets::default() };
    let settings = EgressSettings { budgets, ..EgressSettings::default() };
    let document = fetch_with(FIXTURE, Reply::html(words), settings).await.unwrap();
    assert_eq!(document.status, Status::Partial);
    assert!(document.warnings.contains(&Warning::TruncatedByFetchLimit));
    assert!(document.markdown.len() > 10_000);
}

#[tokio::test]
async fn cancelling_ends_the_fetch() {
    let scenario =
        Scenario::start(&Fixture::parse(FIXTURE).unwrap(), Reply::new(200).then(Step::Hang)).await.unwrap();
    let egress = scenario.egress(EgressSettings::default()).unwrap();
    let cancellation = CancellationToken::new();
    let request = PageRequest {
        timeout: Some(Duration::from_secs(20)),
        ..PageRequest::new("https://notes.example.com/", &Policy::Public)
    };
    let canceller = cancellation.clone();
    let (result, ()) = tokio::join!(fetch_document(&egress, request, &cancellation), async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        canceller.cancel();
    });
    assert!(matches!(result, Err(PageError::Fetch(_))));
    let refused = PageRequest::new("http://127.0.0.1/", &Policy::Public);
    let error = fetch_document(&egress, refused, &CancellationToken::new()).await.unwrap_err();
    assert!(!error.public_message().contains("127.0.0.1"), "{}", error.public_message());
}
