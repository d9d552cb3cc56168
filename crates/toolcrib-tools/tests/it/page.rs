//! `read_web_page` as the executor calls it, with a scripted network behind it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_runtime::clock::Clock;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::links::Links;
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_runtime::testing::caller;
use toolcrib_runtime::tool::{Progress, SettingValue, Settings, ToolContext, ToolError, ToolOutput};

/// A clock whose date stands still and whose durations are real.
struct TestClock(Instant);

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A call by a provider that may see private hosts or not, with this list of them.
pub(crate) fn context(allowed_hosts: &str, trusted: bool) -> ToolContext {
    let hosts = SettingValue::Plain(Value::from(allowed_hosts));
    ToolContext {
        caller: Arc::new(caller()),
        run_id: "run".to_owned(),
        conversation_id: None,
        call_id: "call".to_owned(),
        settings: Arc::new(Settings::new(BTreeMap::from([("allowedPrivateHosts".to_owned(), hosts)]))),
        confidence: if trusted { Confidence::High } else { Confidence::Medium },
        provider_trusted: false,
        cancellation: CancellationToken::new(),
        progress: Progress::ignored(),
        clock: Arc::new(TestClock(Instant::now())),
        time_left: Duration::from_mins(1),
        result_characters_left: 100_000,
        links: Arc::new(Links::Any),
        outbound: OutboundRestriction::Unrestricted,
    }
}

/// The arguments of a call for a URL.
pub(crate) fn arguments(url: &str) -> Value {
    json!({ "url": url, "offset": null, "max_characters": null, "include_links": null, "include_outline": null })
}

/// What the model reads of a call, as the executor hands it on.
pub(crate) fn shown(result: &Result<ToolOutput, ToolError>) -> String {
    match result {
        Ok(output) => output.content.to_model_text(),
        Err(ToolError::Blocked { reason }) => reason.clone(),
        Err(ToolError::Failed { for_model, .. }) => format!("Tool execution failed: {for_model}"),
    }
}
