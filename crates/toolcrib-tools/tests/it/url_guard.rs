//! Every row of `url-guard.tsv`, fed as a string to the real tool.

use toolcrib_egress::EgressSettings;
use toolcrib_egress::address::{AddressKind, kind_of};
use toolcrib_egress::testing::cases::{Expected, UrlCase, url_guard};
use toolcrib_egress::testing::{Reply, Scenario};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::links::Links;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::tool::{Tool, ToolError};
use toolcrib_tools::builtin::ReadWebPage;

use crate::page::{arguments, context, shown};

/// The cases stand with the egress, which decides them.
const CASES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../toolcrib-egress/tests/cases/url-guard.tsv"));

#[tokio::test]
async fn every_url_case_is_decided_as_written_and_opens_no_forbidden_connection() {
    let cases = url_guard(CASES).unwrap();
    assert!(cases.len() > 450, "only {} rows", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        if let Err(failure) = check(case).await {
            failures.push(format!("{}: {failure} ({})", case.id, case.why));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_allowed_url_is_known_where_it_stands_in_a_message() {
    let cases = url_guard(CASES).unwrap();
    let allowed = cases.iter().filter(|case| case.expected == Expected::Allow);
    let unknown: Vec<_> = allowed
        .filter(|case| {
            let message = Message::user(format!("Please read {} for me.", case.url));
            !Links::of(&[message]).contain(&case.url)
        })
        .map(|case| format!("{}: {:?}", case.id, case.url))
        .collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

async fn check(case: &UrlCase) -> Result<(), String> {
    let fixture = &case.fixture;
    // The list of private hosts is this tool's own; rows about other tools run without it.
    let is_own = fixture.tool.as_deref().is_none_or(|tool| tool == "read_web_page");
    let allowed = if is_own { fixture.allowed_hosts.join(",") } else { String::new() };
    let may_reach_private = !allowed.is_empty() && fixture.trusted;

    let scenario = Scenario::start(fixture, Reply::html("<title>Page</title><p>page</p>")).await.unwrap();
    let tool = ReadWebPage::new(scenario.egress(EgressSettings::default()).unwrap());
    let result = tool.call(arguments(&case.url), &context(&allowed, fixture.trusted)).await;

    let mut reached_private = false;
    for attempt in scenario.connector.attempts() {
        let private = kind_of(attempt.ip()) == AddressKind::Private;
        let forbidden = matches!(kind_of(attempt.ip()), AddressKind::Forbidden(_));
        if forbidden || fixture.own_addresses.contains(&attempt.ip()) || (private && !may_reach_private) {
            return Err(format!("connected to {attempt}"));
        }
        reached_private |= private;
    }
    if result.is_err() {
        no_leak(&case.url, &shown(&result))?;
    }
    match (case.expected, result) {
        (Expected::Allow, Ok(output)) => {
            let demanded = if reached_private { Confidence::High } else { Confidence::None };
            if output.required_confidence == demanded && output.untrusted && output.sources.len() == 1 {
                Ok(())
            } else {
                Err(format!("wrong labels: {output:?}"))
            }
        }
        (Expected::Allow, Err(error)) if ends_with_status(case, &error) => Ok(()),
        (Expected::Allow, Err(error)) => Err(format!("not fetched: {error}")),
        (Expected::Block | Expected::RejectParse, Ok(output)) => Err(format!("fetched {:?}", output.sources)),
        (
            Expected::Block | Expected::RejectParse,
            Err(ToolError::Blocked { .. } | ToolError::Failed { .. }),
        ) => Ok(()),
    }
}

/// Whether the chain was followed to a last answer that is no page, and the model is told its status.
fn ends_with_status(case: &UrlCase, error: &ToolError) -> bool {
    let Some(last) = case.fixture.hops.last() else { return false };
    let is_final = last.locations.is_empty() || matches!(last.status, 300 | 304);
    let told = format!("answered with HTTP status {}", last.status);
    is_final && matches!(error, ToolError::Failed { for_model, .. } if for_model.contains(&told))
}

/// Nothing of an address, and no query, in what the model reads.
fn no_leak(url: &str, text: &str) -> Result<(), String> {
    let query = url.split_once('?').map(|(_, query)| query).filter(|query| query.len() > 2);
    if query.is_some_and(|query| text.contains(query)) {
        return Err(format!("the text holds the query: {text}"));
    }
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let has_address =
        text.split(|c: char| !digits(c)).any(|word| word.trim_matches('.').matches('.').count() == 3);
    if has_address { Err(format!("the text holds an address: {text}")) } else { Ok(()) }
}
