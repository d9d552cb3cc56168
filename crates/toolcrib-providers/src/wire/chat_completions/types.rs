//! What a client asks for and what it gets, between the wire and the runtime.

use std::fmt;

use serde_json::{Map, Value, json};
use toolcrib_runtime::message::{ToolCall, Usage};
use toolcrib_runtime::model::{FinishReason, ModelRequest};
use toolcrib_runtime::tool::Source;

/// A client's request.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The model's name, as the client wrote it.
    pub model: String,
    /// The request itself. `tools` holds the client's own functions, `native_tools` everything of another type, and
    /// `extra` the fields that only a provider understands. `parallel_calls` is false: whoever serves decides.
    pub request: ModelRequest,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Whether a streamed answer ends with a chunk of usage (`stream_options.include_usage`).
    pub include_usage: bool,
    /// How many answers are wanted.
    pub n: u32,
    /// The client's own wish for several calls in one round.
    pub parallel_tool_calls: Option<bool>,
    /// Our extension object, unjudged.
    pub toolcrib: Option<Value>,
}

/// A request that cannot be understood. Its text names every problem that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    /// The path of the field, for example `messages[2].content`; empty for the body as a whole.
    pub param: String,
    /// What was found, what is allowed, and what to do.
    pub message: String,
    /// Further problems of the same request.
    pub also: Vec<Self>,
}

/// An answer for a client, complete.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// The id, `chatcmpl-…`.
    pub id: String,
    /// Seconds since 1970.
    pub created: i64,
    /// The model's name, as the client asked for it.
    pub model: String,
    /// The text.
    pub text: String,
    /// The reasoning, where the model showed it.
    pub reasoning: String,
    /// Calls of the client's own tools.
    pub calls: Vec<ToolCall>,
    /// Fields of the message that only the provider understands, for the client to send back.
    pub opaque: Map<String, Value>,
    /// Why the answer ended; calls imply [`FinishReason::ToolCalls`].
    pub finish: Option<FinishReason>,
    /// Tokens of all rounds.
    pub usage: Option<Usage>,
    /// Where the answer comes from.
    pub citations: Vec<UrlCitation>,
    /// Our extension object, as a top-level field `toolcrib`.
    pub toolcrib: Option<Value>,
}

/// A page that an answer is based on, as an annotation of type `url_citation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlCitation {
    /// The page's title.
    pub title: String,
    /// The page's address.
    pub url: String,
    /// The first character in the text that the citation belongs to.
    pub start: usize,
    /// The character after the last one.
    pub end: usize,
}

/// An error as `OpenAI`'s envelope tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorBody {
    /// What went wrong.
    pub message: String,
    /// The class, for example `invalid_request_error`.
    pub kind: String,
    /// The field that is wrong.
    pub param: Option<String>,
    /// The machine-readable code.
    pub code: Option<String>,
}

/// One citation per source: where its address stands in the text, else at the text's end.
pub fn url_citations(sources: &[Source], text: &str) -> Vec<UrlCitation> {
    let length = text.chars().count();
    let citation = |source: &Source| {
        let found = if source.url.is_empty() { None } else { text.find(&source.url) };
        let start = found.map_or(length, |start| text[..start].chars().count());
        let end = found.map_or(length, |_| start + source.url.chars().count());
        UrlCitation { title: source.title.clone(), url: source.url.clone(), start, end }
    };
    sources.iter().map(citation).collect()
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |error: &Self| {
            let message = &error.message;
            if error.param.is_empty() { message.clone() } else { format!("`{}`: {message}", error.param) }
        };
        f.write_str(&one(self))?;
        self.also.iter().try_for_each(|error| write!(f, "; {}", one(error)))
    }
}

impl std::error::Error for WireError {}

impl WireError {
    /// A problem of one field.
    pub fn new(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: param.into(), message: message.into(), also: Vec::new() }
    }

    /// The same as an error body for the client.
    pub fn body(&self) -> ErrorBody {
        ErrorBody {
            message: self.to_string(),
            kind: "invalid_request_error".to_owned(),
            param: (!self.param.is_empty()).then(|| self.param.clone()),
            code: None,
        }
    }
}

impl UrlCitation {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "type": "url_citation",
            "url_citation": {
                "start_index": self.start,
                "end_index": self.end,
                "title": self.title,
                "url": self.url,
            },
        })
    }
}

pub(super) fn usage_json(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}

pub(super) fn finish_text(finish: &FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
    }
}

/// A call as it stands in a message. Ids that were told apart within a round stay apart.
pub(super) fn call_json(call: &ToolCall, id: &str) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), call.name.clone().into());
    function.insert("arguments".to_owned(), call.arguments.clone().into());
    if let Some(fields) = call.opaque.get("function").and_then(Value::as_object) {
        add_missing(&mut function, fields, &[]);
    }
    let mut fields = Map::new();
    fields.insert("id".to_owned(), id.into());
    fields.insert("type".to_owned(), "function".into());
    fields.insert("function".to_owned(), function.into());
    add_missing(&mut fields, &call.opaque, &["index", super::WIRE_ID_FIELD]);
    fields.into()
}

/// Adds fields that are neither there nor in `except`.
pub(super) fn add_missing(target: &mut Map<String, Value>, fields: &Map<String, Value>, except: &[&str]) {
    for (name, value) in fields {
        if !except.contains(&name.as_str()) && !target.contains_key(name) {
            target.insert(name.clone(), value.clone());
        }
    }
}

/// A number of 64 bits that depends on nothing but its input (the finalizer of `SplitMix64`, Steele et al. 2014).
pub(crate) fn mix(seed: u64) -> u64 {
    let seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    seed ^ (seed >> 31)
}

#[cfg(test)]
mod tests {
    use toolcrib_runtime::tool::Origin;

    use super::*;

    #[test]
    fn citations_point_to_the_address_in_the_text_else_to_its_end() {
        let source = |url: &str| Source {
            title: "T".to_owned(),
            url: url.to_owned(),
            origin: Origin::Tool,
            tool_call_id: None,
        };
        let text = "Größe, see https://a.example/x.";
        let found = url_citations(&[source("https://a.example/x"), source("https://b.example/")], text);
        assert_eq!((found[0].start, found[0].end), (11, 30));
        assert_eq!((found[1].start, found[1].end), (31, 31));
    }
}
