//! Messages, as they are kept: JSON with a format number beside it.
//!
//! What is read back is exactly what was written. A change of this JSON needs a new format number, and the old one
//! stays readable.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, Message, Part, ToolCall, ToolResult};

use super::trace::{ContentError, decode_json, encode_json};

/// The format that is written.
pub(crate) const FORMAT: i64 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredMessage {
    System(String),
    User(Vec<StoredPart>),
    Assistant(StoredAnswer),
    ToolResult(StoredResult),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPart {
    Text(String),
    Image {
        url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    Opaque(Value),
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredAnswer {
    parts: Vec<StoredAnswerPart>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    opaque: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAnswerPart {
    Text(String),
    Reasoning(String),
    Call(StoredCall),
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredCall {
    id: String,
    name: String,
    arguments: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    opaque: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredResult {
    call_id: String,
    text: String,
    is_error: bool,
}

/// The kind of a message, by which databases can tell messages apart.
pub(crate) fn kind(message: &Message) -> &'static str {
    match message {
        Message::System(_) => "system",
        Message::User(_) => "user",
        Message::Assistant(_) => "assistant",
        Message::ToolResult(_) => "tool_result",
    }
}

/// The JSON of a message, in [`FORMAT`].
pub(crate) fn encode(message: Message) -> Result<String, ContentError> {
    encode_json(&StoredMessage::from(message))
}

/// The message of stored JSON.
pub(crate) fn decode(format: i64, json: &str) -> Result<Message, ContentError> {
    match format {
        FORMAT => decode_json::<StoredMessage>(json).map(Message::from),
        found => Err(ContentError::Format { found, known: FORMAT }),
    }
}

impl From<Message> for StoredMessage {
    fn from(message: Message) -> Self {
        match message {
            Message::System(text) => Self::System(text),
            Message::User(parts) => Self::User(parts.into_iter().map(StoredPart::from).collect()),
            Message::Assistant(answer) => Self::Assistant(StoredAnswer {
                parts: answer.parts.into_iter().map(StoredAnswerPart::from).collect(),
                opaque: answer.opaque,
            }),
            Message::ToolResult(ToolResult { call_id, text, is_error }) => {
                Self::ToolResult(StoredResult { call_id, text, is_error })
            }
        }
    }
}

impl From<StoredMessage> for Message {
    fn from(stored: StoredMessage) -> Self {
        match stored {
            StoredMessage::System(text) => Self::System(text),
            StoredMessage::User(parts) => Self::User(parts.into_iter().map(Part::from).collect()),
            StoredMessage::Assistant(answer) => Self::Assistant(AssistantMessage {
                parts: answer.parts.into_iter().map(AssistantPart::from).collect(),
                opaque: answer.opaque,
            }),
            StoredMessage::ToolResult(StoredResult { call_id, text, is_error }) => {
                Self::ToolResult(ToolResult { call_id, text, is_error })
            }
        }
    }
}

impl From<Part> for StoredPart {
    fn from(part: Part) -> Self {
        match part {
            Part::Text(text) => Self::Text(text),
            Part::Image { url, detail } => Self::Image { url, detail },
            Part::Opaque(value) => Self::Opaque(value),
        }
    }
}

impl From<StoredPart> for Part {
    fn from(stored: StoredPart) -> Self {
        match stored {
            StoredPart::Text(text) => Self::Text(text),
            StoredPart::Image { url, detail } => Self::Image { url, detail },
            StoredPart::Opaque(value) => Self::Opaque(value),
        }
    }
}

impl From<AssistantPart> for StoredAnswerPart {
    fn from(part: AssistantPart) -> Self {
        match part {
            AssistantPart::Text(text) => Self::Text(text),
            AssistantPart::Reasoning(text) => Self::Reasoning(text),
            AssistantPart::Call(ToolCall { id, name, arguments, opaque }) => {
                Self::Call(StoredCall { id, name, arguments, opaque })
            }
        }
    }
}

impl From<StoredAnswerPart> for AssistantPart {
    fn from(stored: StoredAnswerPart) -> Self {
        match stored {
            StoredAnswerPart::Text(text) => Self::Text(text),
            StoredAnswerPart::Reasoning(text) => Self::Reasoning(text),
            StoredAnswerPart::Call(StoredCall { id, name, arguments, opaque }) => {
                Self::Call(ToolCall { id, name, arguments, opaque })
            }
        }
    }
}

#[cfg(test)]
mod tests;
