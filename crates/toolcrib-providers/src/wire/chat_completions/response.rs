//! The complete answer: read from providers, written for clients.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolcrib_runtime::model::{FinishReason, ModelError, ModelEvent};

use super::WIRE_ID_FIELD;
use super::stream::ChunkDecoder;
use super::types::{Completion, ErrorBody, UrlCitation, add_missing, call_json, finish_text, usage_json};
use crate::wire::problem::ErrorSource;

/// Reads an answer that came in one piece, as the events that a stream of it would have given.
///
/// `seed` decides the ids of calls that have none; it must differ between answers.
pub fn decode_response(
    body: &[u8],
    source: &Arc<ErrorSource>,
    seed: u64,
) -> Result<Vec<ModelEvent>, ModelError> {
    let mut decoder = ChunkDecoder::new(Arc::clone(source), seed);
    let mut events = decoder.decode(body)?;
    events.extend(decoder.finish_complete()?);
    Ok(events)
}

/// The body of a complete answer.
pub fn encode_response(completion: &Completion) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    let silent = completion.text.is_empty() && !completion.calls.is_empty();
    let content = if silent { Value::Null } else { completion.text.clone().into() };
    message.insert("content".to_owned(), content);
    message.insert("refusal".to_owned(), Value::Null);
    if !completion.reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), completion.reasoning.clone().into());
    }
    if !completion.calls.is_empty() {
        let calls: Value = completion.calls.iter().map(|call| call_json(call, &call.id)).collect();
        message.insert("tool_calls".to_owned(), calls);
    }
    let annotations = annotations(&completion.citations, &completion.opaque);
    if !annotations.is_empty() {
        message.insert("annotations".to_owned(), annotations.into());
    }
    add_missing(
        &mut message,
        &completion.opaque,
        &["annotations", "tool_calls", "function_call", "audio", WIRE_ID_FIELD],
    );
    let finish = match &completion.finish {
        _ if !completion.calls.is_empty() => "tool_calls",
        None | Some(FinishReason::ToolCalls) => "stop",
        Some(finish) => finish_text(finish),
    };
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish});
    let mut body = Map::new();
    body.insert("id".to_owned(), completion.id.clone().into());
    body.insert("object".to_owned(), "chat.completion".into());
    body.insert("created".to_owned(), completion.created.into());
    body.insert("model".to_owned(), completion.model.clone().into());
    body.insert("choices".to_owned(), vec![choice].into());
    if let Some(usage) = &completion.usage {
        body.insert("usage".to_owned(), usage_json(usage));
    }
    if let Some(extension) = &completion.toolcrib {
        body.insert("toolcrib".to_owned(), extension.clone());
    }
    body.into()
}

/// `OpenAI`'s envelope around an error.
pub fn encode_error(error: &ErrorBody) -> Value {
    json!({"error": {"message": error.message, "type": error.kind, "param": error.param, "code": error.code}})
}

/// Our citations, then those that the provider itself gave in the same form.
pub(super) fn annotations(citations: &[UrlCitation], opaque: &Map<String, Value>) -> Vec<Value> {
    let given = opaque.get("annotations").and_then(Value::as_array).into_iter().flatten();
    let given = given.filter(|annotation| is_url_citation(annotation)).cloned();
    citations.iter().map(UrlCitation::to_json).chain(given).collect()
}

fn is_url_citation(annotation: &Value) -> bool {
    let citation = &annotation["url_citation"];
    annotation["type"] == "url_citation"
        && citation["url"].is_string()
        && citation["title"].is_string()
        && citation["start_index"].is_u64()
        && citation["end_index"].is_u64()
}
