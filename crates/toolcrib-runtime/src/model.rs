//! Asking a model: the request, the events of the answer, and the [`Model`] trait.
//!
//! To connect a model, implement [`Model`] and yield [`ModelEvent`]s as they arrive; never hold one back. The stream
//! ends after [`ModelEvent::Finished`] or with an error, and dropping it cancels the request.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::confidence::Confidence;
use crate::message::{Message, ToolCall, Usage};

/// Something that answers requests: one model of one provider instance.
#[async_trait]
pub trait Model: Send + Sync {
    /// Which model this is, and how far its provider is trusted.
    fn identity(&self) -> &ModelIdentity;

    /// What the model can do, as far as is known now.
    fn capabilities(&self) -> ModelCapabilities;

    /// Sends the request and returns the events of the answer as they arrive.
    async fn ask(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;
}

/// The events of one answer.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Which model, and whose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    /// The provider instance's id.
    pub provider_id: String,
    /// The model's name at its provider.
    pub model: String,
    /// How far the provider is trusted.
    pub confidence: Confidence,
    /// Listed as trusted with protected conversations, whatever the level.
    pub trusted: bool,
}

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCapabilities {
    /// Calls functions.
    pub functions: bool,
    /// Accepts images.
    pub images: bool,
}

/// One request to a model, in no dialect.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// Whether and which tool the model has to call.
    pub tool_choice: ToolChoice,
    /// Whether several calls in one round are allowed.
    pub parallel_calls: bool,
    /// How the answer is to be generated.
    pub sampling: Sampling,
    /// The form that the answer must have.
    pub response_format: Option<ResponseFormat>,
    /// Provider-native tools of the caller, passed through unjudged.
    pub native_tools: Vec<Value>,
    /// Fields of the caller's request that only the provider understands.
    pub extra: Map<String, Value>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The function name.
    pub name: String,
    /// What the tool does, written for the model.
    pub description: Option<String>,
    /// The JSON Schema of the arguments (draft 2020-12).
    pub parameters: Value,
    /// Whether the provider should enforce the schema.
    pub strict: Option<bool>,
}

/// Whether and which tool the model has to call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool.
    None,
    /// Some tool.
    Required,
    /// This tool.
    Named(String),
}

/// How an answer is generated. `None` leaves the provider's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// The most tokens to write.
    pub max_output_tokens: Option<u64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Seed for repeatable sampling.
    pub seed: Option<i64>,
    /// Penalty for tokens by their frequency.
    pub frequency_penalty: Option<f64>,
    /// Penalty for tokens that occurred.
    pub presence_penalty: Option<f64>,
    /// How much to reason (`minimal`, `low`, `medium`, `high`, or what the provider accepts).
    pub reasoning_effort: Option<String>,
}

/// The form that an answer must have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ResponseFormat {
    /// Any JSON object.
    JsonObject,
    /// JSON that a schema accepts.
    JsonSchema {
        /// The schema's name.
        name: String,
        /// What the schema is for.
        description: Option<String>,
        /// The schema.
        schema: Value,
        /// Whether the provider should enforce it.
        strict: Option<bool>,
    },
}

/// Something that happened in an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call grows: its name is known, its arguments may be incomplete.
    CallProgress {
        /// The position of the call among the calls of this answer, from 0.
        position: usize,
        /// The id of the call.
        id: String,
        /// The function name.
        name: String,
        /// More of the arguments.
        arguments_delta: String,
    },
    /// A call is complete. Calls come in the order of their positions.
    Call(ToolCall),
    /// Fields of the assistant message that only the provider understands.
    Opaque(Map<String, Value>),
    /// Tokens so far; a later event of the same answer replaces an earlier one.
    Usage(Usage),
    /// The answer ended.
    Finished(FinishReason),
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The limit of tokens was reached.
    Length,
    /// The model waits for tool results.
    ToolCalls,
    /// The provider withheld content.
    ContentFilter,
}

/// A request to a model failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// What the caller may read: names the provider, carries no secret.
    pub message: String,
    /// More for the operator's log.
    pub detail: Option<String>,
    /// When the provider said to come back.
    pub retry_after: Option<Duration>,
}

/// Kinds of failure of a request to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// No connection to the provider.
    Unreachable,
    /// The provider did not answer in time.
    Timeout,
    /// The provider refused the key.
    Unauthorized,
    /// Too many requests for now.
    RateLimited,
    /// The account at the provider has nothing left.
    QuotaExhausted,
    /// The provider has no such model.
    ModelNotFound,
    /// The provider found the request wrong.
    BadRequest,
    /// The conversation is longer than the model's context.
    ContextTooLong,
    /// The model cannot take tools.
    ToolsUnsupported,
    /// The provider failed or is overloaded.
    ProviderFailed,
    /// The provider's answer is not of its dialect (HTML, malformed chunks, an empty body).
    BadResponse,
    /// The answer broke off in the middle.
    Cut,
    /// The answer held neither text nor calls.
    EmptyAnswer,
}

impl ModelError {
    /// An error of this kind with a message that the caller may read.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), detail: None, retry_after: None }
    }

    /// The same error with more for the operator's log.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

impl ModelIdentity {
    /// The id under which callers ask for the model: `provider/model`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider_id, self.model)
    }
}
