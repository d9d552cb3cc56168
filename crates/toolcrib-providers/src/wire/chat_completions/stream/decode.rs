//! Reads the chunks of a streamed answer.
//!
//! Text is passed on as it comes; calls, opaque fields and the end are held until the stream is over, since hosts
//! send usage, or more of a call, after the finish reason. The presence of calls decides what a finish reason means.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcrib_runtime::message::Usage;
use toolcrib_runtime::model::{FinishReason, ModelError, ModelErrorKind, ModelEvent};

use super::calls::Calls;
use crate::wire::problem::{ErrorSource, looks_like_html};

/// Fields of a delta that are read; everything else is the provider's own.
const READ_OF_DELTA: [&str; 11] = [
    "role",
    "content",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "reasoning",
    "refusal",
    "index",
    "name",
    "finish_reason",
    "stop_reason",
];

/// Turns the payloads of an event stream into events.
#[derive(Debug)]
pub struct ChunkDecoder {
    source: Arc<ErrorSource>,
    calls: Calls,
    opaque: Map<String, Value>,
    finish: Option<Finish>,
    saw_choice: bool,
    saw_output: bool,
    done: bool,
}

/// What a finish reason means before calls are taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finish {
    Regular,
    Length,
    ContentFilter,
    Failed,
}

impl ChunkDecoder {
    /// A decoder for one answer. `seed` decides the ids of calls that have none; it must differ between answers.
    pub fn new(source: Arc<ErrorSource>, seed: u64) -> Self {
        Self {
            source,
            calls: Calls::new(seed),
            opaque: Map::new(),
            finish: None,
            saw_choice: false,
            saw_output: false,
            done: false,
        }
    }

    /// Whether `[DONE]` was read: nothing that follows belongs to the answer.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether a finish reason was read: only usage and `[DONE]` are still expected.
    pub fn is_finishing(&self) -> bool {
        self.finish.is_some()
    }

    /// Reads the payload of one event. An error object in it is an error here.
    pub fn decode(&mut self, payload: &[u8]) -> Result<Vec<ModelEvent>, ModelError> {
        let payload = payload.trim_ascii();
        if self.done || payload.is_empty() {
            return Ok(Vec::new());
        }
        if payload == b"[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        let chunk: Value =
            serde_json::from_slice(payload).map_err(|error| self.malformed(payload, &error))?;
        let mut events = Vec::new();
        match chunk {
            Value::Null => {}
            Value::Object(chunk) => self.take_chunk(&chunk, &mut events)?,
            // Some hosts answer an error as an array around the object.
            Value::Array(ref items) if items.first().is_some_and(|item| item.get("error").is_some()) => {
                return Err(self.source.reported(&chunk));
            }
            _ => return Err(self.source.bad_response("sent a chunk that is not a JSON object", payload)),
        }
        Ok(events)
    }

    /// The events that the end of the stream brings, or what is wrong with an answer that ends here.
    pub fn finish(self) -> Result<Vec<ModelEvent>, ModelError> {
        if !self.done && self.finish.is_none() && self.saw_choice {
            return Err(self.source.error(ModelErrorKind::Cut, "broke off in the middle of its answer"));
        }
        self.finish_complete()
    }

    /// The same for an answer that is known to be complete.
    pub(crate) fn finish_complete(mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if !self.saw_choice {
            return Err(self.source.error(ModelErrorKind::EmptyAnswer, "answered with nothing"));
        }
        let mut events = Vec::new();
        if !self.opaque.is_empty() {
            events.push(ModelEvent::Opaque(std::mem::take(&mut self.opaque)));
        }
        let finish = match self.finish {
            Some(Finish::Failed) => {
                return Err(self
                    .source
                    .error(ModelErrorKind::ProviderFailed, "gave up in the middle of its answer"));
            }
            // Calls that may be incomplete are not handed out.
            Some(Finish::Length) => FinishReason::Length,
            Some(Finish::ContentFilter) => FinishReason::ContentFilter,
            Some(Finish::Regular) | None => {
                let calls = self.calls.complete();
                let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
                events.extend(calls.into_iter().map(ModelEvent::Call));
                finish
            }
        };
        events.push(ModelEvent::Finished(finish));
        Ok(events)
    }

    fn malformed(&self, payload: &[u8], error: &serde_json::Error) -> ModelError {
        if looks_like_html(payload) {
            return self.source.web_page(payload);
        }
        let what =
            if error.is_eof() { "sent JSON that breaks off" } else { "sent something that is not JSON" };
        self.source.bad_response(what, payload)
    }

    fn take_chunk(
        &mut self,
        chunk: &Map<String, Value>,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if is_error(chunk) {
            return Err(self.source.reported(&Value::Object(chunk.clone())));
        }
        let choices = chunk.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let first =
            choices.iter().find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
        if let Some(choice) = first.and_then(Value::as_object) {
            if is_error(choice) {
                return Err(self.source.reported(&Value::Object(choice.clone())));
            }
            self.take_choice(choice, events);
        }
        let places = [chunk.get("usage"), chunk.get("x_groq").and_then(|own| own.get("usage"))];
        let of_choice = first.and_then(|choice| choice.get("usage"));
        let usage = places.into_iter().chain([of_choice]).flatten().find_map(read_usage);
        events.extend(usage.map(ModelEvent::Usage));
        Ok(())
    }

    fn take_choice(&mut self, choice: &Map<String, Value>, events: &mut Vec<ModelEvent>) {
        self.saw_choice = true;
        let delta = choice.get("delta").and_then(Value::as_object).filter(|delta| !delta.is_empty());
        let message = choice.get("message").and_then(Value::as_object);
        match (delta, message) {
            (Some(delta), _) => self.take_message(delta, false, events),
            // Some hosts repeat the whole message in the last chunk.
            (None, Some(message)) if !self.saw_output => self.take_message(message, true, events),
            _ => {}
        }
        let reasons = [choice.get("finish_reason"), delta.and_then(|delta| delta.get("finish_reason"))];
        if let Some(reason) =
            reasons.into_iter().flatten().filter_map(Value::as_str).find(|text| !text.is_empty())
        {
            self.finish = Some(finish(reason));
        }
    }

    fn take_message(
        &mut self,
        message: &Map<String, Value>,
        is_complete: bool,
        events: &mut Vec<ModelEvent>,
    ) {
        let before = events.len();
        let reasoning =
            ["reasoning_content", "reasoning"].iter().filter_map(|field| message.get(*field)?.as_str());
        if let Some(reasoning) = reasoning.into_iter().find(|text| !text.is_empty()) {
            events.push(ModelEvent::Reasoning(reasoning.to_owned()));
        }
        push_content(message.get("content"), events);
        push_text(message.get("refusal").and_then(Value::as_str), events);
        if let Some(calls) = message.get("tool_calls").and_then(Value::as_array) {
            self.calls.take(calls, is_complete, events);
        }
        if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
            let call = serde_json::json!({"index": 0, "function": call});
            self.calls.take(&[call], is_complete, events);
        }
        self.saw_output |= events.len() > before || !self.calls.is_empty();
        merge_unknown(&mut self.opaque, message, &READ_OF_DELTA);
    }
}

/// Adds the fields that are not known: arrays and objects grow, everything else is replaced.
pub(super) fn merge_unknown(target: &mut Map<String, Value>, fields: &Map<String, Value>, known: &[&str]) {
    let unknown = fields.iter().filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    for (name, value) in unknown {
        match (target.get_mut(name), value) {
            (Some(Value::Array(old)), Value::Array(new)) => old.extend(new.iter().cloned()),
            (Some(Value::Object(old)), Value::Object(new)) => merge_unknown(old, new, &[]),
            _ => {
                target.insert(name.clone(), value.clone());
            }
        }
    }
}

fn is_error(object: &Map<String, Value>) -> bool {
    let has_error = object.get("error").is_some_and(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    });
    has_error || object.get("object").is_some_and(|object| object == "error")
}

fn push_text(text: Option<&str>, events: &mut Vec<ModelEvent>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        events.push(ModelEvent::Text(text.to_owned()));
    }
}

/// Content is text, or an array of parts of text and thinking.
fn push_content(content: Option<&Value>, events: &mut Vec<ModelEvent>) {
    match content {
        Some(Value::String(text)) => push_text(Some(text), events),
        Some(Value::Array(parts)) => {
            for part in parts {
                match part.get("thinking").or(part.get("reasoning")) {
                    Some(thinking) => {
                        let mut inner = Vec::new();
                        push_content(Some(thinking), &mut inner);
                        events.extend(inner.into_iter().map(|event| match event {
                            ModelEvent::Text(text) => ModelEvent::Reasoning(text),
                            other => other,
                        }));
                    }
                    None => push_text(part.as_str().or_else(|| part.get("text")?.as_str()), events),
                }
            }
        }
        _ => {}
    }
}

fn finish(reason: &str) -> Finish {
    match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" | "max_output_tokens" => Finish::Length,
        "content_filter" | "content-filter" | "safety" | "recitation" | "sensitive" => Finish::ContentFilter,
        "error" | "network_error" | "insufficient_system_resource" => Finish::Failed,
        _ => Finish::Regular,
    }
}

fn read_usage(usage: &Value) -> Option<Usage> {
    let usage = usage.as_object()?;
    let number = |names: &[&str]| names.iter().find_map(|name| usage.get(*name)?.as_u64());
    let detail = |object: &str, name: &str| usage.get(object).and_then(|details| details.get(name)?.as_u64());
    let input = number(&["prompt_tokens", "input_tokens"]);
    let output = number(&["completion_tokens", "output_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = detail("prompt_tokens_details", "cached_tokens");
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cached_input_tokens: cached.or(number(&["prompt_cache_hit_tokens", "cached_tokens"])).unwrap_or(0),
        reasoning_tokens: detail("completion_tokens_details", "reasoning_tokens").unwrap_or(0),
    })
}
