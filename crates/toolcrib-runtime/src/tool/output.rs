//! What a call that succeeded gives back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::confidence::Confidence;

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The result itself.
    pub content: Content,
    /// Pages and documents that were really read.
    pub sources: Vec<Source>,
    /// The confidence that a provider needs to see this result and what follows from it.
    pub required_confidence: Confidence,
    /// True when the content was written by somebody whom the user does not know.
    pub untrusted: bool,
    /// What was left out and how to get it, when the tool itself shortened its result.
    pub truncation: Option<String>,
    /// What the call really cost, in millionths of a credit; `None` for the definition's price per call. More than the
    /// definition's maximum is never charged.
    pub cost: Option<i64>,
    /// Things that the call put into the user's library.
    pub library_items: Vec<LibraryItem>,
}

/// Something that a call put into the user's library: an image, a recording, a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryItem {
    /// The item's id in the library.
    pub id: String,
    /// Its media type (RFC 6838), for example `image/png`.
    pub media_type: String,
    /// The title that a person would recognize.
    pub title: String,
}

/// A result as text or as JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text as the model reads it.
    Text(String),
    /// JSON, written out compactly for the model, non-ASCII characters unescaped.
    Json(Value),
}

/// A page or document that a tool really read, attached to the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The title that a person would recognize.
    pub title: String,
    /// Where it was read, after redirects.
    pub url: String,
    /// Who brought it in.
    pub origin: Origin,
    /// The call that read it.
    pub tool_call_id: Option<String>,
}

/// Who brought a source in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The model itself, through a provider-native tool.
    Llm,
    /// A tool call.
    Tool,
    /// Knowledge that was put into the prompt.
    Knowledge,
}

impl ToolOutput {
    /// A result of text, with no sources and no demands.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    /// A result of JSON, with no sources and no demands.
    pub fn json(value: Value) -> Self {
        Self::new(Content::Json(value))
    }

    fn new(content: Content) -> Self {
        Self {
            content,
            sources: Vec::new(),
            required_confidence: Confidence::None,
            untrusted: false,
            truncation: None,
            cost: None,
            library_items: Vec::new(),
        }
    }
}

impl Content {
    /// The text that the model reads.
    pub fn to_model_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(value) => value.to_string(),
        }
    }
}

impl Origin {
    /// The name in answers and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Llm => "LLM",
            Self::Tool => "TOOL",
            Self::Knowledge => "KNOWLEDGE",
        }
    }
}
