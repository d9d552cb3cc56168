//! What is told to whom: the class `leak` of `server-behaviours.tsv`, and the audit log.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolcrib_egress::reexports::CancellationToken;
use toolcrib_egress::testing::{Reply, Route, Step};
use toolcrib_egress::{EgressSettings, FetchError, FetchRequest, HostList, Policy, Zone};

use crate::support::{EXAMPLE, Records, fetch_quickly, quick, scenario, settings};

const NAMES: &str = "dns private.example.net=10.1.2.3; dns loop.example.net=127.0.0.1; \
    dns meta.example.net=169.254.169.254; dns mixed.example.net=93.184.215.14,10.1.2.3; \
    dns nothing.example.net=NODATA; dns failing.example.net=SERVFAIL; dns closed.example.net=93.184.215.20; \
    dns filtered.example.net=93.184.215.21; dns silent.example.net=TIMEOUT; self 93.184.215.99";

#[tokio::test]
async fn every_target_that_is_not_public_gets_the_same_sentence() {
    let scenario = scenario(NAMES, Reply::html("page")).await;
    scenario.connector.set_route("93.184.215.20".parse().unwrap(), Route::Closed);
    scenario.connector.set_route("93.184.215.21".parse().unwrap(), Route::Filtered);
    let mut messages = Vec::new();
    for url in [
        "http://127.0.0.1/",
        "http://127.0.0.1:8080/",
        "http://10.0.0.1/?token=hunter2",
        "https://[::1]/",
        "http://localhost/",
        "http://intranet/",
        "http://wiki.corp/",
        "http://93.184.215.99/",
        "http://private.example.net/",
        "http://loop.example.net/",
        "http://meta.example.net/latest/meta-data/",
        "http://mixed.example.net/",
        "http://nothing.example.net/",
        "http://failing.example.net/",
        "http://missing.example.net/",
        "http://closed.example.net/",
        "http://filtered.example.net/",
        "http://silent.example.net/",
    ] {
        let error = fetch_quickly(&scenario, url).await.unwrap_err();
        messages.push(error.public_message());
        let internal = format!("{error} {error:?}");
        assert!(!internal.contains("hunter2"), "{internal}");
    }
    scenario.server.push(Reply::redirect(302, "http://169.254.169.254/?token=hunter2"));
    scenario.connector.set_dns("example.com", "93.184.215.14").unwrap();
    messages.push(fetch_quickly(&scenario, "http://example.com/").await.unwrap_err().public_message());
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(!messages[0].contains(|c: char| c.is_ascii_digit()), "{messages:?}");
}

#[tokio::test]
async fn a_refused_port_takes_as_long_as_any_other_refused_one() {
    let scenario = scenario("", Reply::html("page")).await;
    for url in ["http://10.0.0.1:8080/", "http://10.0.0.2/", "http://127.0.0.1:443/"] {
        let started = Instant::now();
        fetch_quickly(&scenario, url).await.unwrap_err();
        assert!(started.elapsed() < Duration::from_millis(250), "{url}");
    }
    assert!(scenario.connector.attempts().is_empty());
}

#[tokio::test]
async fn a_listed_private_host_tells_closed_and_filtered_in_the_same_sentence() {
    let scenario = scenario("dns wiki.corp.example=10.1.2.3", Reply::html("page")).await;
    let policy = Policy::PublicAndHosts(HostList::parse("wiki.corp.example").unwrap());
    let egress = scenario.egress(settings(quick())).unwrap();
    let mut messages = Vec::new();
    for route in [Route::Closed, Route::Filtered] {
        scenario.connector.set_route("10.1.2.3".parse().unwrap(), route);
        let request = FetchRequest::new("https://wiki.corp.example/", &policy);
        let error = egress.fetch(request, &CancellationToken::new()).await.unwrap_err();
        messages.push(error.public_message());
    }
    assert_eq!(messages[0], messages[1]);
    scenario.connector.set_route("10.1.2.3".parse().unwrap(), Route::Stub);
    let request = FetchRequest::new("https://wiki.corp.example/", &policy);
    let page = egress.fetch(request, &CancellationToken::new()).await.unwrap();
    assert_eq!(page.zone, Zone::Private);
}

#[tokio::test]
async fn no_error_shows_a_query_or_a_password() {
    let secret = "hunter2";
    for (url, reply) in [
        (format!("http://example.com/?k={secret}"), Reply::raw("not http")),
        (format!("http://user:{secret}@example.com/"), Reply::html("")),
        (format!("http://{secret}@"), Reply::html("")),
        (format!("http://user:{secret}?{secret}@example.com:port/"), Reply::html("")),
        (format!("mailto:a?{secret}"), Reply::html("")),
        (format!("example.com?{secret}"), Reply::html("")),
        (format!("http://example.com:99999/?{secret}"), Reply::html("")),
        (format!("http://example.com/#{secret}"), Reply::raw("not http")),
        (format!("http://example.com/?{secret}"), Reply::redirect(302, format!("ftp://x/?{secret}"))),
        (
            format!("http://example.com/?{secret}"),
            Reply::redirect(302, format!("http://u:{secret}@10.0.0.1/")),
        ),
        (format!("http://example.com/?{secret}"), Reply::redirect(302, format!("/next?{secret}"))),
    ] {
        let scenario = scenario(EXAMPLE, reply).await;
        let records = Records::default();
        let audit = std::sync::Arc::new(records.clone());
        let egress = scenario.egress(EgressSettings { audit, ..settings(quick()) }).unwrap();
        let request = FetchRequest::new(&url, &Policy::Public);
        let error = egress.fetch(request, &CancellationToken::new()).await.unwrap_err();
        let shown = format!("{error} {error:?} {} {:?}", error.public_message(), records.all());
        assert!(!shown.contains(secret), "{url}: {shown}");
    }
}

#[tokio::test]
async fn invalid_urls_tell_the_model_what_is_allowed() {
    let scenario = scenario(EXAMPLE, Reply::html("")).await;
    for (url, part) in [
        ("http://example.com:22/", "80, 443, 8080 and 8443"),
        ("ftp://example.com/", "http and https"),
        ("example.com", "absolute URL"),
        ("http://a:b@example.com/", "passwords"),
        ("http:/example.com/", "ambiguous"),
        ("http://exa mple.com/", "host"),
    ] {
        let error = fetch_quickly(&scenario, url).await.unwrap_err();
        assert!(matches!(error, FetchError::InvalidUrl { .. }) && error.is_refusal(), "{url}: {error:?}");
        assert!(error.public_message().contains(part), "{url}: {}", error.public_message());
    }
}

#[tokio::test]
async fn every_fetch_leaves_one_audit_record_with_all_that_was_decided() {
    let scenario = scenario("dns example.com=93.184.215.14,93.184.215.15", Reply::html("page")).await;
    let records = Records::default();
    let audit = std::sync::Arc::new(records.clone());
    let egress = scenario.egress(EgressSettings { audit, ..settings(quick()) }).unwrap();
    let cancel = CancellationToken::new();
    scenario.server.push(Reply::redirect(302, "/next?q=2"));
    let mut request = FetchRequest::new("http://example.com/?q=1", &Policy::Public);
    request.context = vec![("user".to_owned(), "u1".to_owned())];
    egress.fetch(request, &cancel).await.unwrap();
    egress.fetch(FetchRequest::new("http://10.0.0.1/", &Policy::Public), &cancel).await.unwrap_err();
    scenario.server.push(Reply::steps(vec![Step::Hang]));
    let hanging = egress.fetch(FetchRequest::new("http://example.com/", &Policy::Public), &cancel);
    timeout(Duration::from_millis(50), hanging).await.unwrap_err();

    let records = records.all();
    let outcomes: Vec<_> = records.iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, ["fetched", "refused", "dropped"]);
    let fetched = &records[0];
    assert_eq!((fetched.policy, fetched.url.as_str()), ("public", "http://example.com/"));
    assert_eq!(fetched.context, [("user".to_owned(), "u1".to_owned())]);
    assert_eq!((fetched.bytes, fetched.hops.len()), (4, 2));
    assert_eq!(fetched.hops[0].addresses.len(), 2);
    assert_eq!(fetched.hops[0].peer, Some("93.184.215.14:80".parse().unwrap()));
    assert_eq!(fetched.hops[0].status, Some(302));
    assert_eq!(fetched.hops[1].url.as_str(), "http://example.com/next");
    assert!(records[1].rule.as_ref().unwrap().contains("10.0.0.1"), "{:?}", records[1].rule);
}
