//! What a tool knows while it runs.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Settings;
use crate::caller::Caller;
use crate::clock::Clock;
use crate::confidence::Confidence;
use crate::links::Links;
use crate::policy::OutboundRestriction;

/// Who asks, with which settings, for which provider, and how much time and room is left.
#[derive(Clone)]
pub struct ToolContext {
    /// Who asks.
    pub caller: Arc<Caller>,
    /// The id of the run, for logs and audit lines.
    pub run_id: String,
    /// The conversation, when there is one.
    pub conversation_id: Option<String>,
    /// The id of the call.
    pub call_id: String,
    /// The tool's settings: complete, valid, secrets resolved.
    pub settings: Arc<Settings>,
    /// The confidence of the provider that will read the result.
    pub confidence: Confidence,
    /// True when that provider instance is listed as trusted, whatever its level.
    pub provider_trusted: bool,
    /// Cancelled when the caller leaves or the call's time is up.
    pub cancellation: CancellationToken,
    /// Reports how far a long call has come.
    pub progress: Progress,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How long the call may still take.
    pub time_left: Duration,
    /// How many Unicode scalar values of result the model can still take.
    pub result_characters_left: usize,
    /// The URLs that stand in the conversation, for tools that fetch what a model chose.
    pub links: Arc<Links>,
    /// How far the conversation restricts outgoing data.
    pub outbound: OutboundRestriction,
}

/// Takes progress reports of a running call.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(&str) + Send + Sync>);

impl Progress {
    /// Progress that goes to `report`.
    pub fn new(report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// Progress that nobody looks at.
    pub fn ignored() -> Self {
        Self::new(|_| {})
    }

    /// Says in a few words what is happening now.
    pub fn report(&self, text: &str) {
        (self.0)(text);
    }
}
