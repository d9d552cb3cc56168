//! Every row of `url-guard.tsv`, through a whole fetch.

use toolcrib_egress::address::{AddressKind, kind_of};
use toolcrib_egress::reexports::CancellationToken;
use toolcrib_egress::testing::cases::{Expected, UrlCase, url_guard};
use toolcrib_egress::testing::{Reply, Scenario};
use toolcrib_egress::{EgressSettings, FetchRequest, Policy};

#[tokio::test]
async fn every_url_case_is_decided_as_written_and_opens_no_forbidden_socket() {
    let cases = url_guard(include_str!("../cases/url-guard.tsv")).unwrap();
    assert!(cases.len() > 450, "only {} rows", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        if let Err(failure) = check(case).await {
            failures.push(format!("{}: {failure} ({})", case.id, case.why));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

async fn check(case: &UrlCase) -> Result<(), String> {
    let scenario = Scenario::start(&case.fixture, Reply::html("<p>page</p>")).await.unwrap();
    let egress = scenario.egress(EgressSettings::default()).unwrap();
    let policy = case.policy().unwrap();
    let request = FetchRequest::new(&case.url, &policy);
    let result = egress.fetch(request, &CancellationToken::new()).await;
    for attempt in scenario.connector.attempts() {
        let allowed = match kind_of(attempt.ip()) {
            AddressKind::Public => !case.fixture.own_addresses.contains(&attempt.ip()),
            AddressKind::Private => matches!(policy, Policy::PublicAndHosts(_)),
            AddressKind::Forbidden(_) => false,
        };
        if !allowed {
            return Err(format!("connected to {attempt}"));
        }
    }
    match (case.expected, result) {
        (Expected::Allow, Ok(_)) | (Expected::Block | Expected::RejectParse, Err(_)) => Ok(()),
        (Expected::Allow, Err(error)) => Err(format!("not fetched: {error}")),
        (_, Ok(page)) => Err(format!("fetched {}", page.final_url)),
    }
}
