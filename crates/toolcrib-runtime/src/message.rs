//! What is said: messages, their parts, tool calls, results and token usage.
//!
//! These types know no dialect; `toolcrib-providers` converts them to and from the wire. They are serialized only
//! within the saved state of a run ([`crate::run::SavedRun`]), whose version changes with their shape.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One message of a conversation, in the order in which it was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Instructions by the operator or the caller (`system` and `developer` roles).
    System(String),
    /// What the user said.
    User(Vec<Part>),
    /// What a model answered.
    Assistant(AssistantMessage),
    /// The result of one tool call.
    ToolResult(ToolResult),
}

/// A part of a user message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// An image by URL; `data:` URLs carry the bytes.
    Image {
        /// The URL.
        url: String,
        /// The caller's wish for the resolution (`low`, `high`, `auto`).
        detail: Option<String>,
    },
    /// A part that only the provider understands (audio, file, …), carried unchanged.
    Opaque(Value),
}

/// What a model answered in one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Text, reasoning and calls in the order in which they arrived.
    pub parts: Vec<AssistantPart>,
    /// Fields that only the provider understands; they are sent back unchanged.
    pub opaque: Map<String, Value>,
}

/// A part of a model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AssistantPart {
    /// Text meant for the user.
    Text(String),
    /// The model's thinking, as far as the provider shows it.
    Reasoning(String),
    /// A request to run a tool.
    Call(ToolCall),
}

/// A model's request to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call, unique within its round.
    pub id: String,
    /// The function name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: usually, but not surely, a JSON object.
    pub arguments: String,
    /// Fields that only the provider understands (a thought signature, say); they are sent back unchanged.
    pub opaque: Map<String, Value>,
}

/// The result of a tool call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call that this answers.
    pub call_id: String,
    /// The text for the model.
    pub text: String,
    /// True when the call was blocked or failed.
    pub is_error: bool,
}

/// Tokens that a model read and wrote. Rounds of one run are summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Of the tokens read, those that the provider took from its cache.
    pub cached_input_tokens: u64,
    /// Of the tokens written, those spent on reasoning.
    pub reasoning_tokens: u64,
}

impl Message {
    /// A user message of plain text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Part::Text(text.into())])
    }

    /// The text of the message, without reasoning, calls and images.
    pub fn text(&self) -> String {
        match self {
            Self::System(text) => text.clone(),
            Self::User(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(text.as_str()),
                    Part::Image { .. } | Part::Opaque(_) => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            Self::Assistant(message) => message.text(),
            Self::ToolResult(result) => result.text.clone(),
        }
    }
}

impl AssistantMessage {
    /// An answer of plain text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { parts: vec![AssistantPart::Text(text.into())], opaque: Map::new() }
    }

    /// The text meant for the user.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            AssistantPart::Text(text) => Some(text.as_str()),
            AssistantPart::Reasoning(_) | AssistantPart::Call(_) => None,
        });
        texts.collect()
    }

    /// The reasoning that the provider showed.
    pub fn reasoning(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            AssistantPart::Reasoning(text) => Some(text.as_str()),
            AssistantPart::Text(_) | AssistantPart::Call(_) => None,
        });
        texts.collect()
    }

    /// The calls, in the order in which the model made them.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            AssistantPart::Call(call) => Some(call),
            AssistantPart::Text(_) | AssistantPart::Reasoning(_) => None,
        })
    }

    /// Appends text, joining it to a text part that is still open.
    pub fn push_text(&mut self, delta: &str) {
        if let Some(AssistantPart::Text(text)) = self.parts.last_mut() {
            text.push_str(delta);
        } else if !delta.is_empty() {
            self.parts.push(AssistantPart::Text(delta.to_owned()));
        }
    }

    /// Appends reasoning, joining it to a reasoning part that is still open.
    pub fn push_reasoning(&mut self, delta: &str) {
        if let Some(AssistantPart::Reasoning(text)) = self.parts.last_mut() {
            text.push_str(delta);
        } else if !delta.is_empty() {
            self.parts.push(AssistantPart::Reasoning(delta.to_owned()));
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_input_tokens += other.cached_input_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
    }
}
