//! Work that is done before the model runs: what it should know already goes into the system prompt.
//!
//! To add a source, implement [`ContextSource`] and name the tool under whose gates it works: it is asked only when
//! every gate lets that tool through, but for the model's ability to call functions, which it does without. What it
//! brings is capped, framed when strangers wrote it, and its labels hold from the first request on.

use std::sync::Arc;

use async_trait::async_trait;

use crate::caller::Caller;
use crate::confidence::Confidence;
use crate::labels::Labels;
use crate::message::Message;
use crate::tool::{Settings, Source, ToolError};

/// Something that knows what a model should know before it is asked.
#[async_trait]
pub trait ContextSource: Send + Sync {
    /// The heading under which its text stands in the system prompt.
    fn heading(&self) -> &str;

    /// The id of the tool under whose gates this works.
    fn tool_id(&self) -> &str;

    /// What the model should know to answer; `None` when there is nothing. An error leaves the context out, and the
    /// run goes on without it.
    async fn gather(&self, request: &ContextRequest<'_>) -> Result<Option<Gathered>, ToolError>;
}

/// What a source may go by.
pub struct ContextRequest<'r> {
    /// Who asks.
    pub caller: &'r Caller,
    /// The run.
    pub run_id: &'r str,
    /// The conversation, when there is one.
    pub conversation_id: Option<&'r str>,
    /// The conversation so far; the last message is usually the one to be answered.
    pub messages: &'r [Message],
    /// The tool's settings: complete, valid, secrets resolved.
    pub settings: &'r Arc<Settings>,
    /// The confidence of the provider that will read the text.
    pub confidence: Confidence,
    /// That provider instance is listed as trusted.
    pub provider_trusted: bool,
    /// The most Unicode scalar values that are of use.
    pub characters: usize,
}

/// What a source found.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// The text for the system prompt.
    pub text: String,
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// What it demands of the conversation from now on.
    pub labels: Labels,
}

impl Gathered {
    /// Text with no sources and no demands.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), sources: Vec::new(), labels: Labels::default() }
    }
}
