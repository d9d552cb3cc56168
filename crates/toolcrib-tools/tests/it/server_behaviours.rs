//! The rows of `server-behaviours.tsv` that a caller of `read_web_page` notices, through the real tool.

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use toolcrib_egress::testing::cases::rows;
use toolcrib_egress::testing::{Fixture, Reply, Route, Scenario, Step, TlsMode};
use toolcrib_egress::{Budgets, EgressSettings};
use toolcrib_runtime::tool::{Tool, ToolError};
use toolcrib_tools::builtin::ReadWebPage;

use crate::page::{arguments, context, shown};

const ROWS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../toolcrib-egress/tests/cases/server-behaviours.tsv"
));
const DNS: &str = "dns *=93.184.215.14";
const URL: &str = "https://example.org/page?token=s3cret";

/// What a caller must notice.
enum Notice {
    /// An error whose text contains this.
    Error(&'static str),
    /// An error, or what was read so far with a warning.
    ErrorOrPartial,
    /// A page whose text contains this.
    Page(&'static str),
}

use Notice::{Error, ErrorOrPartial, Page};

/// Short budgets, so that slow servers are noticed soon.
fn settings() -> EgressSettings {
    let budgets = Budgets {
        dns: Duration::from_millis(400),
        connect: Duration::from_millis(400),
        headers: Duration::from_millis(500),
        idle: Duration::from_millis(500),
        total: Duration::from_millis(1_500),
        ..Budgets::default()
    };
    EgressSettings { budgets, ..EgressSettings::default() }
}

fn html() -> Reply {
    Reply::new(200).header("Content-Type", "text/html")
}

fn typed(media_type: &str, body: &'static [u8]) -> Reply {
    Reply::new(200).header("Content-Type", media_type).body(body)
}

fn endless(bytes: &'static [u8], pause: u64) -> Step {
    Step::Repeat { bytes: bytes.into(), times: None, pause: Duration::from_millis(pause) }
}

fn send(bytes: &'static str) -> Step {
    Step::Send(bytes.into())
}

fn encoded(coding: &str) -> Reply {
    html().header("Content-Encoding", coding).body("<p>plain bytes</p>")
}

/// The row (its class and the beginning of what the server does), the server's answer, and what must be noticed.
type Case = (&'static str, &'static str, Reply, Notice);

/// Slow and large answers.
fn without_bounds() -> Vec<Case> {
    let many_fields = (0..5_000).fold(html(), |reply, number| reply.header(&format!("X-{number}"), "y"));
    let long_field = html().header("X-Long", "y".repeat(1 << 20)).body("<p>page</p>");
    vec![
        ("time", "accepts TCP and never answers", Reply::steps(vec![Step::Hang]), Error("took too long")),
        (
            "time",
            "status line one byte per second",
            Reply::steps(vec![endless(b"H", 1_000)]),
            Error("took too long"),
        ),
        (
            "time",
            "body one byte per 100 ms, endless",
            html().then(send("\r\n<p>slow ")).then(endless(b"word ", 100)),
            ErrorOrPartial,
        ),
        (
            "size",
            "Content-Length 10 GiB",
            html().header("Content-Length", "10737418240").then(send("\r\n")).then(Step::Hang),
            Error("too large"),
        ),
        (
            "size",
            "no length, endless body",
            html().then(send("\r\n<p>")).then(endless(&[b'w'; 8_192], 0)),
            ErrorOrPartial,
        ),
        (
            "size",
            "Content-Length larger than the body",
            html().header("Content-Length", "1000").then(send("\r\n<p>Only a part.</p>")),
            ErrorOrPartial,
        ),
        ("size", "one header of 1 MiB", long_field, Error("too large")),
        ("size", "5,000 headers", many_fields.body("<p>page</p>"), Error("too large")),
        (
            "size",
            "endless 103 Early Hints",
            Reply::steps(vec![endless(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0)]),
            Error("too large"),
        ),
        (
            "size",
            "100 Continue flood",
            Reply::steps(vec![endless(b"HTTP/1.1 100 Continue\r\n\r\n", 0)]),
            Error("too large"),
        ),
    ]
}

/// Odd codings and content.
fn unreadable() -> Vec<Case> {
    vec![
        ("bomb", "Content-Encoding: gzip, but plain bytes", encoded("gzip"), Error("cannot be read")),
        ("bomb", "Content-Encoding: gzip, gzip", encoded("gzip, gzip"), Error("cannot be read")),
        ("bomb", "Content-Encoding: unknown", encoded("unknown"), Error("cannot be read")),
        (
            "parse",
            "PDF, image, zip, octet-stream",
            typed("image/png", b"\x89PNG\r\n\x1a\n"),
            Error("image/png"),
        ),
        (
            "parse",
            "PDF, image, zip, octet-stream",
            typed("application/zip", b"PK\x03\x04"),
            Error("application/zip"),
        ),
        (
            "parse",
            "PDF, image, zip, octet-stream",
            typed("text/html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            Error("cannot be read"),
        ),
        (
            "parse",
            "Content-Type missing",
            Reply::new(200).body("<!doctype html><p>Sniffed page.</p>"),
            Page("Sniffed page."),
        ),
        (
            "parse",
            "Content-Type missing",
            Reply::new(200).body(&b"\x7fELF\x02\x01\x01\0\0\0"[..]),
            Error("cannot be read"),
        ),
        (
            "parse",
            "SVG / XML with external entities",
            typed(
                "application/xml",
                b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><a>Entity: &x; end</a>",
            ),
            Page("end"),
        ),
    ]
}

/// Odd HTTP.
fn odd_protocol() -> Vec<Case> {
    vec![
        ("proto", "HTTP/0.9 style answer", Reply::raw("<p>no header</p>"), Error("not valid HTTP")),
        (
            "proto",
            "HTTP/1.1 with both Content-Length and Transfer-Encoding",
            html()
                .header("Content-Length", "3")
                .header("Transfer-Encoding", "chunked")
                .then(send("\r\n0\r\n\r\n")),
            Error("not valid HTTP"),
        ),
        (
            "proto",
            "two different Content-Length headers",
            html().header("Content-Length", "3").header("Content-Length", "4").then(send("\r\nabcd")),
            Error("not valid HTTP"),
        ),
        ("proto", "101 Switching Protocols", Reply::new(101).then(send("\r\n")), Error("not valid HTTP")),
        (
            "proto",
            "401 WWW-Authenticate",
            Reply::new(401)
                .header("WWW-Authenticate", "Negotiate")
                .header("Content-Type", "text/html")
                .body("no"),
            Error("sign-in"),
        ),
        (
            "proto",
            "407 Proxy-Authenticate",
            Reply::new(407)
                .header("Proxy-Authenticate", "Basic")
                .header("Content-Type", "text/html")
                .body("no"),
            Error(""),
        ),
        (
            "proto",
            "Link: preload / preconnect",
            html().header("Link", "</x>; rel=preload").body(
                "<base href='https://other.example.org/'><meta http-equiv=refresh content='0;url=/away'>\
                 <p>Text stays.</p><img src=/i.png><iframe src=/frame></iframe>",
            ),
            Page("Text stays."),
        ),
    ]
}

fn assert_row_exists(class: &str, beginning: &str) {
    let found = rows(ROWS).any(|row| {
        let mut columns = row.split('\t');
        columns.next() == Some(class) && columns.next().is_some_and(|does| does.starts_with(beginning))
    });
    assert!(found, "no row {class} {beginning}");
}

#[tokio::test]
async fn the_rows_end_as_written_with_one_connection_and_no_leak() {
    let mut failures = Vec::new();
    let cases = without_bounds().into_iter().chain(unreadable()).chain(odd_protocol());
    for (class, row, reply, notice) in cases {
        assert_row_exists(class, row);
        let scenario = Scenario::start(&Fixture::parse(DNS).unwrap(), reply).await.unwrap();
        let tool = ReadWebPage::new(scenario.egress(settings()).unwrap());
        let context = context("", false);
        let call = tool.call(arguments(URL), &context);
        let Ok(result) = timeout(Duration::from_secs(20), call).await else {
            failures.push(format!("{row}: hangs"));
            continue;
        };
        let text = shown(&result);
        let as_written = match (&notice, &result) {
            (Error(part), Err(_)) => text.contains(part) && !text.contains("s3cret"),
            (ErrorOrPartial, Err(_)) => !text.contains("s3cret"),
            (ErrorOrPartial, Ok(_)) => text.contains("\"status\":\"partial\"") && text.contains("warnings"),
            (Page(part), Ok(_)) => text.contains(part),
            _ => false,
        };
        if !as_written {
            failures.push(format!("{class} {row}: {}", text.chars().take(300).collect::<String>()));
        }
        if scenario.connector.attempts().len() != 1 {
            failures.push(format!("{row}: {:?}", scenario.connector.attempts()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn tls_that_cannot_be_trusted_is_an_error() {
    assert_row_exists("tls", "expired, self-signed, wrong host");
    assert_row_exists("tls", "plain HTTP answer on a TLS port");
    for mode in
        [TlsMode::Expired, TlsMode::SelfSigned, TlsMode::For("other.example.org".to_owned()), TlsMode::Plain]
    {
        let scenario =
            Scenario::start(&Fixture::parse(DNS).unwrap(), Reply::html("<p>page</p>")).await.unwrap();
        scenario.server.set_tls(mode.clone());
        let tool = ReadWebPage::new(scenario.egress(settings()).unwrap());
        let result = tool.call(arguments(URL), &context("", false)).await;
        assert!(matches!(result, Err(ToolError::Failed { .. })), "{mode:?}: {result:?}");
        assert!(shown(&result).contains("secure connection"), "{}", shown(&result));
        assert!(scenario.server.requests().is_empty());
    }
}

#[tokio::test]
async fn cancelling_closes_the_connection_at_once() {
    assert_row_exists("time", "caller cancels");
    let scenario =
        Scenario::start(&Fixture::parse(DNS).unwrap(), Reply::steps(vec![Step::Hang])).await.unwrap();
    let tool = ReadWebPage::new(scenario.egress(EgressSettings::default()).unwrap());
    let context = context("", false);
    let cancel = async {
        while scenario.server.requests().is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
        context.cancellation.cancel();
        Instant::now()
    };
    let (result, cancelled) = tokio::join!(tool.call(arguments(URL), &context), cancel);
    assert!(result.is_err());
    assert!(cancelled.elapsed() < Duration::from_millis(100), "{:?}", cancelled.elapsed());
    for _ in 0..20 {
        if scenario.server.open_connections() == 0 {
            return;
        }
        sleep(Duration::from_millis(5)).await;
    }
    panic!("the connection is still open");
}

/// One sentence for everything private: refused by its address, by its name, by the lack of the list, closed,
/// filtered.
#[tokio::test]
async fn private_targets_cannot_be_told_apart() {
    assert_row_exists("leak", "blocked private name");
    assert_row_exists("leak", "closed vs filtered vs refused private port");
    assert_row_exists("leak", "URL with token in query fails");
    let fixture = "dns wiki.example.org=10.0.0.5; dns intern.example.net=192.168.1.7; \
                   dns mixed.example.net=93.184.215.14,10.0.0.9; dns self.example.net=93.184.215.20; \
                   self 93.184.215.20";
    let listed = Some("wiki.example.org");
    let mut texts = Vec::new();
    for (url, hosts, route) in [
        ("http://127.0.0.1/?token=s3cret", None, Route::Stub),
        ("http://[::1]:8080/?token=s3cret", None, Route::Stub),
        ("http://169.254.169.254/latest?token=s3cret", None, Route::Stub),
        ("http://10.0.0.5/?token=s3cret", None, Route::Stub),
        ("https://localhost/?token=s3cret", None, Route::Stub),
        ("https://printer.local/?token=s3cret", None, Route::Stub),
        ("https://intern.example.net/?token=s3cret", None, Route::Stub),
        ("https://mixed.example.net/?token=s3cret", None, Route::Stub),
        ("https://self.example.net/?token=s3cret", None, Route::Stub),
        ("https://wiki.example.org/?token=s3cret", None, Route::Stub),
        ("https://intern.example.net/?token=s3cret", listed, Route::Stub),
        ("https://wiki.example.org/?token=s3cret", listed, Route::Closed),
        ("https://wiki.example.org/?token=s3cret", listed, Route::Filtered),
    ] {
        let scenario =
            Scenario::start(&Fixture::parse(fixture).unwrap(), Reply::html("<p>page</p>")).await.unwrap();
        scenario.connector.set_route("10.0.0.5".parse::<IpAddr>().unwrap(), route);
        let tool = ReadWebPage::new(scenario.egress(settings()).unwrap());
        let result = tool.call(arguments(url), &context(hosts.unwrap_or_default(), hosts.is_some())).await;
        assert!(matches!(result, Err(ToolError::Blocked { .. })), "{url}: {result:?}");
        texts.push(shown(&result));
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(!texts[0].contains("s3cret"));
}
