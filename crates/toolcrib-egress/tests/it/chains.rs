//! Properties: whatever chains and answers an attacker makes up, no forbidden socket is opened.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use toolcrib_egress::address::{AddressKind, kind_of};
use toolcrib_egress::reexports::CancellationToken;
use toolcrib_egress::testing::{Reply, Scenario};
use toolcrib_egress::{Egress, EgressSettings, FetchRequest, Policy};

use crate::support::scenario;

/// What every test run generates of each kind.
const CASES: u32 = 1_000;

/// The figures of the specification, for a run that may take minutes.
const ALL_CHAINS: u32 = 100_000;
const ALL_REBINDINGS: u32 = 10_000;

const PUBLIC: &[&str] = &["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "8.8.8.8", "223.255.255.255"];
const FORBIDDEN: &[&str] = &[
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "fd00:ec2::254",
    "64:ff9b::7f00:1",
    "100.64.0.1",
    "0.0.0.0",
    "192.168.1.1",
    "2002:7f00:1::1",
    "2001:470:1f0b:1:0:5efe:7f00:1",
];

/// Targets of redirects, and whether they may be followed.
const TARGETS: &[(&str, bool)] = &[
    ("http://pub.example.com/a", true),
    ("/relative", true),
    ("//pub.example.com/b", true),
    ("http://8.8.8.8/", true),
    ("https://pub.example.com/", true),
    ("?query", true),
    ("http://127.0.0.1/", false),
    ("//127.0.0.1/", false),
    ("http://0x7f.1/", false),
    ("http://[::ffff:7f00:1]/", false),
    ("http://2130706433:8080/", false),
    ("http://priv.example.com/", false),
    ("//mixed.example.com/", false),
    ("http://localhost/", false),
    ("http://metadata.google.internal/", false),
    ("/\\127.0.0.1/", false),
    ("http://user@pub.example.com/", false),
    ("http://pub.example.com:22/", false),
    ("gopher://127.0.0.1/", false),
    ("http://①②⑦.0.0.1/", false),
];

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
}

fn forbidden_attempts(scenario: &Scenario) -> Vec<std::net::SocketAddr> {
    let attempts = scenario.connector.attempts().into_iter();
    attempts.filter(|attempt| kind_of(attempt.ip()) != AddressKind::Public).collect()
}

async fn get(egress: &Egress, url: &str) -> bool {
    egress.fetch(FetchRequest::new(url, &Policy::Public), &CancellationToken::new()).await.is_ok()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn no_redirect_chain_reaches_a_forbidden_address() {
    check_chains(CASES);
}

#[test]
#[ignore = "takes minutes"]
fn none_of_very_many_redirect_chains_reaches_a_forbidden_address() {
    check_chains(ALL_CHAINS);
}

fn check_chains(cases: u32) {
    let runtime = runtime();
    let names = "dns pub.example.com=93.184.215.14; dns priv.example.com=10.0.0.7; \
        dns mixed.example.com=93.184.215.14,127.0.0.1";
    let (scenario, egress) = runtime.block_on(async {
        let scenario = scenario(names, Reply::html("end")).await;
        let egress = scenario.egress(EgressSettings::default()).unwrap();
        (scenario, egress)
    });
    let chains = proptest::collection::vec(0..TARGETS.len(), 0..8);
    let result = runner(cases).run(&chains, |chain| {
        let mut follows = true;
        let mut secure = false;
        for (position, &index) in chain.iter().enumerate() {
            let (target, allowed) = TARGETS[index];
            // https may not be given up again.
            follows &= allowed && position < 5 && !(secure && target.starts_with("http://"));
            secure |= target.starts_with("https://");
        }
        let fetched = runtime.block_on(async {
            for &index in &chain {
                scenario.server.push(Reply::redirect(302, TARGETS[index].0));
            }
            let fetched = get(&egress, "http://pub.example.com/").await;
            scenario.server.clear();
            fetched
        });
        prop_assert_eq!(forbidden_attempts(&scenario), vec![]);
        prop_assert!(!scenario.connector.attempts().is_empty());
        scenario.connector.clear();
        prop_assert_eq!(
            fetched,
            follows,
            "{:?}",
            chain.iter().map(|&index| TARGETS[index].0).collect::<Vec<_>>()
        );
        Ok(())
    });
    result.unwrap();
}

#[test]
fn no_rebinding_name_reaches_a_forbidden_address() {
    check_rebinding(CASES);
}

#[test]
#[ignore = "takes minutes"]
fn none_of_very_many_rebinding_names_reaches_a_forbidden_address() {
    check_rebinding(ALL_REBINDINGS);
}

fn check_rebinding(cases: u32) {
    let runtime = runtime();
    let (scenario, egress) = runtime.block_on(async {
        let scenario = scenario("", Reply::redirect(302, "http://rebind.example.com/again")).await;
        let egress = scenario.egress(EgressSettings::default()).unwrap();
        (scenario, egress)
    });
    let address =
        prop_oneof![4 => proptest::sample::select(PUBLIC), 1 => proptest::sample::select(FORBIDDEN)];
    let answers = proptest::collection::vec(proptest::collection::vec(address, 1..4), 1..7);
    let result = runner(cases).run(&answers, |answers| {
        let script: Vec<String> = answers.iter().map(|addresses| addresses.join(",")).collect();
        scenario.connector.set_dns("rebind.example.com", &script.join("|")).unwrap();
        runtime.block_on(get(&egress, "http://rebind.example.com/"));
        // The chain goes on exactly as long as whole answers are public, and asks once for each hop.
        let is_public = |position: usize| {
            let answer = answers.get(position).or(answers.last()).unwrap();
            answer.iter().all(|address| PUBLIC.contains(address))
        };
        let public = (0..6).take_while(|&position| is_public(position)).count();
        prop_assert_eq!(scenario.server.requests().len(), public);
        prop_assert_eq!(scenario.connector.lookups().len(), (public + 1).min(6));
        prop_assert_eq!(forbidden_attempts(&scenario), vec![]);
        scenario.connector.clear();
        scenario.server.clear();
        Ok(())
    });
    result.unwrap();
}

#[test]
fn no_text_at_all_reaches_a_forbidden_address_or_panics() {
    let runtime = runtime();
    let (scenario, egress) = runtime.block_on(async {
        let scenario = scenario("dns *=127.0.0.1,93.184.215.14", Reply::html("end")).await;
        let egress = scenario.egress(EgressSettings::default()).unwrap();
        (scenario, egress)
    });
    let noise = r"(https?:)?[/\\]{0,3}[a-z0-9@:.%\[\]①。\t -]{0,24}[/?#]?\PC{0,12}";
    let result = runner(CASES).run(&noise, |text| {
        runtime.block_on(get(&egress, &text));
        Ok(())
    });
    result.unwrap();
    assert_eq!(forbidden_attempts(&scenario), []);
}
