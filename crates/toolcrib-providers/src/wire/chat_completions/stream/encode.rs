//! Writes the chunks of a streamed answer for a client.
//!
//! Every chunk holds exactly one choice, except the chunk of usage that was asked for; there are no named events and
//! no empty payloads. Strict clients break on anything else.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolcrib_runtime::message::{ToolCall, Usage};
use toolcrib_runtime::model::FinishReason;

use crate::wire::chat_completions::WIRE_ID_FIELD;
use crate::wire::chat_completions::response::{annotations, encode_error};
use crate::wire::chat_completions::types::{
    ErrorBody, UrlCitation, add_missing, call_json, finish_text, usage_json,
};

/// Writes one streamed answer. Each method gives the bytes of whole events, empty when there is nothing to say.
#[derive(Debug)]
pub struct ChunkEncoder {
    id: String,
    created: i64,
    model: String,
    include_usage: bool,
    role_sent: bool,
    calls: HashMap<String, SentCall>,
}

/// What the client has of a call.
#[derive(Debug)]
struct SentCall {
    index: usize,
    arguments: String,
}

impl ChunkEncoder {
    /// An encoder for one answer: its id (`chatcmpl-…`), seconds since 1970, the model's name as the client asked
    /// for it, and whether the client asked for usage.
    pub fn new(id: impl Into<String>, created: i64, model: impl Into<String>, include_usage: bool) -> Self {
        Self {
            id: id.into(),
            created,
            model: model.into(),
            include_usage,
            role_sent: false,
            calls: HashMap::new(),
        }
    }

    /// The first chunk, which names the role. Other chunks send it when it was not sent yet.
    pub fn role(&mut self) -> Bytes {
        self.delta(Map::new())
    }

    /// More text.
    pub fn text(&mut self, text: &str) -> Bytes {
        self.field("content", text)
    }

    /// More reasoning.
    pub fn reasoning(&mut self, text: &str) -> Bytes {
        self.field("reasoning_content", text)
    }

    /// A call of the client's own tool grows.
    pub fn call_progress(&mut self, id: &str, name: &str, arguments: &str) -> Bytes {
        if let Some(sent) = self.calls.get_mut(id) {
            if arguments.is_empty() {
                return Bytes::new();
            }
            sent.arguments.push_str(arguments);
            let call = json!({"index": sent.index, "function": {"arguments": arguments}});
            return self.call_delta(call);
        }
        let call = ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            opaque: Map::new(),
        };
        self.start_call(&call)
    }

    /// A call of the client's own tool is complete: whatever of it was not sent yet.
    pub fn call(&mut self, call: &ToolCall) -> Bytes {
        let Some(sent) = self.calls.get_mut(&call.id) else { return self.start_call(call) };
        let rest = call.arguments.strip_prefix(sent.arguments.as_str()).unwrap_or_default().to_owned();
        sent.arguments.push_str(&rest);
        let index = sent.index;
        let mut fields = Map::new();
        add_missing(&mut fields, &call.opaque, &["index", "id", "type", "function", WIRE_ID_FIELD]);
        if rest.is_empty() && fields.is_empty() {
            return Bytes::new();
        }
        let mut delta = Map::from_iter([("index".to_owned(), Value::from(index))]);
        if !rest.is_empty() {
            delta.insert("function".to_owned(), json!({"arguments": rest}));
        }
        delta.append(&mut fields);
        self.call_delta(delta.into())
    }

    /// Our extension object, on a chunk that says nothing else.
    pub fn extension(&mut self, toolcrib: &Value) -> Bytes {
        let mut chunk = self.chunk(Map::new(), None);
        if let Value::Object(fields) = &mut chunk {
            fields.insert("toolcrib".to_owned(), toolcrib.clone());
        }
        event(&chunk)
    }

    /// The last chunk of the choice: its finish reason, the citations, and the fields that only the provider
    /// understands. Calls imply `tool_calls`, unless the answer was cut: what was sent of them is then incomplete.
    pub fn finish(
        &mut self,
        finish: &FinishReason,
        citations: &[UrlCitation],
        opaque: &Map<String, Value>,
    ) -> Bytes {
        let mut delta = Map::new();
        let annotations = annotations(citations, opaque);
        if !annotations.is_empty() {
            delta.insert("annotations".to_owned(), annotations.into());
        }
        let ours = ["annotations", "role", "content", "tool_calls", "function_call", WIRE_ID_FIELD];
        add_missing(&mut delta, opaque, &ours);
        let reason = match finish {
            FinishReason::Stop | FinishReason::ToolCalls if !self.calls.is_empty() => "tool_calls",
            FinishReason::ToolCalls => "stop",
            finish => finish_text(finish),
        };
        let chunk = self.chunk(delta, Some(reason));
        event(&chunk)
    }

    /// The chunk of usage; nothing unless the client asked for it.
    pub fn usage(&mut self, usage: &Usage) -> Bytes {
        if !self.include_usage {
            return Bytes::new();
        }
        let mut chunk = self.head();
        chunk.insert("choices".to_owned(), Value::Array(Vec::new()));
        chunk.insert("usage".to_owned(), usage_json(usage));
        event(&chunk.into())
    }

    /// The end of the stream.
    pub fn done(&self) -> Bytes {
        Bytes::from_static(b"data: [DONE]\n\n")
    }

    /// An error; nothing may follow it.
    pub fn error(&self, error: &ErrorBody) -> Bytes {
        event(&encode_error(error))
    }

    /// A comment, which clients ignore; it keeps the connection open.
    pub fn comment(&self, text: &str) -> Bytes {
        let line = text.replace(['\r', '\n'], " ");
        Bytes::from(format!(": {line}\n\n"))
    }

    fn field(&mut self, name: &str, text: &str) -> Bytes {
        if text.is_empty() {
            return Bytes::new();
        }
        self.delta(Map::from_iter([(name.to_owned(), Value::from(text))]))
    }

    fn start_call(&mut self, call: &ToolCall) -> Bytes {
        let index = self.calls.len();
        self.calls.insert(call.id.clone(), SentCall { index, arguments: call.arguments.clone() });
        let mut fields = Map::from_iter([("index".to_owned(), Value::from(index))]);
        if let Value::Object(mut call) = call_json(call, &call.id) {
            fields.append(&mut call);
        }
        self.call_delta(fields.into())
    }

    fn call_delta(&mut self, call: Value) -> Bytes {
        self.delta(Map::from_iter([("tool_calls".to_owned(), Value::Array(vec![call]))]))
    }

    fn delta(&mut self, delta: Map<String, Value>) -> Bytes {
        let chunk = self.chunk(delta, None);
        event(&chunk)
    }

    fn chunk(&mut self, delta: Map<String, Value>, finish: Option<&str>) -> Value {
        let mut fields = Map::new();
        if !self.role_sent {
            self.role_sent = true;
            fields.insert("role".to_owned(), "assistant".into());
            fields.insert("content".to_owned(), "".into());
        }
        // What the delta says wins over the empty content beside the role.
        fields.extend(delta);
        let mut chunk = self.head();
        let choice = json!({"index": 0, "delta": fields, "logprobs": null, "finish_reason": finish});
        chunk.insert("choices".to_owned(), vec![choice].into());
        chunk.into()
    }

    fn head(&self) -> Map<String, Value> {
        Map::from_iter([
            ("id".to_owned(), Value::from(self.id.clone())),
            ("object".to_owned(), "chat.completion.chunk".into()),
            ("created".to_owned(), self.created.into()),
            ("model".to_owned(), self.model.clone().into()),
        ])
    }
}

fn event(payload: &Value) -> Bytes {
    Bytes::from(format!("data: {payload}\n\n"))
}
