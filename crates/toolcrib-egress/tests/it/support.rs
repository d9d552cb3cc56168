//! What the tests share.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolcrib_egress::reexports::CancellationToken;
use toolcrib_egress::testing::{Fixture, Reply, Scenario};
use toolcrib_egress::{
    AuditRecord, AuditSink, Budgets, EgressSettings, FetchError, FetchRequest, Fetched, Policy,
};

/// Budgets in the proportions of the real ones, scaled down so that the suite takes seconds.
pub(crate) fn quick() -> Budgets {
    Budgets {
        dns: Duration::from_millis(300),
        connect: Duration::from_millis(300),
        headers: Duration::from_millis(400),
        idle: Duration::from_millis(300),
        total: Duration::from_millis(1200),
        ..Budgets::default()
    }
}

pub(crate) fn settings(budgets: Budgets) -> EgressSettings {
    EgressSettings { budgets, ..EgressSettings::default() }
}

pub(crate) async fn scenario(fixture: &str, page: Reply) -> Scenario {
    Scenario::start(&Fixture::parse(fixture).unwrap(), page).await.unwrap()
}

pub(crate) const EXAMPLE: &str = "dns example.com=93.184.215.14";

/// Fetches `url` in a scenario, with the real budgets.
pub(crate) async fn fetch(scenario: &Scenario, url: &str) -> Result<Fetched, FetchError> {
    fetch_with(scenario, FetchRequest::new(url, &Policy::Public), Budgets::default()).await
}

/// Fetches `url` in a scenario, with quick budgets.
pub(crate) async fn fetch_quickly(scenario: &Scenario, url: &str) -> Result<Fetched, FetchError> {
    fetch_with(scenario, FetchRequest::new(url, &Policy::Public), quick()).await
}

pub(crate) async fn fetch_with(
    scenario: &Scenario,
    request: FetchRequest<'_>,
    budgets: Budgets,
) -> Result<Fetched, FetchError> {
    scenario.egress(settings(budgets)).unwrap().fetch(request, &CancellationToken::new()).await
}

/// Fetches `http://example.com/`, which a server answers with `reply`.
pub(crate) async fn answered_with(reply: Reply) -> (Scenario, Result<Fetched, FetchError>) {
    let scenario = scenario(EXAMPLE, reply).await;
    let result = fetch(&scenario, "http://example.com/").await;
    (scenario, result)
}

/// Fetches `http://example.com/`, which a server answers with `reply`, with quick budgets.
pub(crate) async fn answered_quickly(reply: Reply) -> (Scenario, Result<Fetched, FetchError>) {
    let scenario = scenario(EXAMPLE, reply).await;
    let result = fetch_quickly(&scenario, "http://example.com/").await;
    (scenario, result)
}

/// Waits until the server sees no open connection.
pub(crate) async fn all_closed_within(scenario: &Scenario, limit: Duration) -> bool {
    let until = tokio::time::Instant::now() + limit;
    while scenario.server.open_connections() > 0 {
        if tokio::time::Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

/// Keeps audit records.
#[derive(Default, Clone)]
pub(crate) struct Records(Arc<Mutex<Vec<AuditRecord>>>);

impl Records {
    pub(crate) fn all(&self) -> Vec<AuditRecord> {
        self.0.lock().unwrap().clone()
    }
}

impl AuditSink for Records {
    fn record(&self, record: &AuditRecord) {
        self.0.lock().unwrap().push(record.clone());
    }
}
