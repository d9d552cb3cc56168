//! Reads a client's request.
//!
//! Wrong types are told with their path, every known spelling of the same thing is accepted, and all problems are
//! collected before the request is refused.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcrib_runtime::model::{ModelRequest, ResponseFormat, Sampling};

use crate::wire::chat_completions::types::{ChatRequest, WireError};

mod fields;
mod messages;
mod tools;

use fields::{Problems, found};

/// The most answers that one request may ask for, as at `OpenAI`.
const MOST_ANSWERS: u64 = 128;

/// Reads the bytes of a request's body; what is not JSON is told with its place.
pub fn decode_request_body(body: &[u8]) -> Result<ChatRequest, WireError> {
    let value = serde_json::from_slice(body).map_err(|error| {
        WireError::new(
            "",
            format!("the body is not JSON ({error}): send a JSON object with `model` and `messages`"),
        )
    })?;
    decode_request(&value)
}

/// Reads the body of `POST /v1/chat/completions`.
pub fn decode_request(body: &Value) -> Result<ChatRequest, WireError> {
    let Some(body) = body.as_object() else {
        return Err(WireError::new("", format!("the body must be a JSON object, found {}", found(body))));
    };
    let mut rest = body.clone();
    let mut problems = Problems::default();
    let request = read(&mut rest, &mut problems);
    problems.into_result().map(|()| request)
}

fn read(rest: &mut Map<String, Value>, problems: &mut Problems) -> ChatRequest {
    let model =
        problems.required_text(rest, "model", "name a model, for example one that `GET /v1/models` lists");
    let messages = messages::read(rest, problems);
    let tools = tools::read(rest, problems);
    let sampling = sampling(rest, problems);
    let response_format = response_format(rest, problems);
    let stream = problems.flag(rest, "stream").unwrap_or(false);
    let include_usage = include_usage(rest, problems);
    let n = problems.whole_number(rest, "n", 1, MOST_ANSWERS).unwrap_or(1);
    if n > 1 && !tools.functions.is_empty() {
        problems.add("n", format!("found {n}, but with tools only 1 answer can be given: leave `n` out"));
    }
    let toolcrib = rest.shift_remove("toolcrib").filter(|value| !value.is_null());
    if let Some(value) = toolcrib.as_ref().filter(|value| !value.is_object()) {
        problems.add("toolcrib", format!("must be an object, found {}", found(value)));
    }
    rest.retain(|_, value| !value.is_null());
    ChatRequest {
        model,
        request: ModelRequest {
            messages,
            tools: tools.functions.into_iter().map(Arc::new).collect(),
            tool_choice: tools.choice,
            parallel_calls: false,
            sampling,
            response_format,
            native_tools: tools.native,
            extra: std::mem::take(rest),
        },
        stream,
        include_usage,
        n: u32::try_from(n).unwrap_or(1),
        parallel_tool_calls: tools.parallel,
        toolcrib,
    }
}

fn sampling(rest: &mut Map<String, Value>, problems: &mut Problems) -> Sampling {
    let newer = problems.whole_number(rest, "max_completion_tokens", 1, u64::MAX);
    let older = problems.whole_number(rest, "max_tokens", 1, u64::MAX);
    Sampling {
        temperature: problems.number(rest, "temperature"),
        top_p: problems.number(rest, "top_p"),
        max_output_tokens: newer.or(older),
        stop: stop(rest, problems),
        seed: seed(rest, problems),
        frequency_penalty: problems.number(rest, "frequency_penalty"),
        presence_penalty: problems.number(rest, "presence_penalty"),
        reasoning_effort: problems.text(rest, "reasoning_effort"),
    }
}

fn stop(rest: &mut Map<String, Value>, problems: &mut Problems) -> Vec<String> {
    match rest.shift_remove("stop") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(texts)) if texts.iter().all(Value::is_string) => {
            texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(other) => {
            problems.add("stop", format!("must be a string or an array of strings, found {}", found(&other)));
            Vec::new()
        }
    }
}

fn seed(rest: &mut Map<String, Value>, problems: &mut Problems) -> Option<i64> {
    let value = rest.shift_remove("seed").filter(|value| !value.is_null())?;
    let seed = value.as_i64();
    if seed.is_none() {
        problems.add("seed", format!("must be a whole number of 64 bits, found {}", found(&value)));
    }
    seed
}

fn include_usage(rest: &mut Map<String, Value>, problems: &mut Problems) -> bool {
    match rest.shift_remove("stream_options") {
        None | Some(Value::Null) => false,
        Some(Value::Object(mut options)) => problems
            .within("stream_options", |problems| problems.flag(&mut options, "include_usage"))
            .unwrap_or(false),
        Some(other) => {
            problems.add("stream_options", format!("must be an object, found {}", found(&other)));
            false
        }
    }
}

fn response_format(rest: &mut Map<String, Value>, problems: &mut Problems) -> Option<ResponseFormat> {
    const ALLOWED: &str = "allowed are {\"type\": \"text\"}, {\"type\": \"json_object\"} and {\"type\": \"json_schema\", \
                           \"json_schema\": {\"name\", \"schema\"}}";
    let value = rest.shift_remove("response_format").filter(|value| !value.is_null())?;
    match value.get("type").and_then(Value::as_str) {
        Some("text") => None,
        Some("json_object") => Some(ResponseFormat::JsonObject),
        Some("json_schema") => {
            let mut schema = match value.get("json_schema") {
                Some(Value::Object(schema)) => schema.clone(),
                other => {
                    let other = other.map_or("nothing".to_owned(), found);
                    problems.add("response_format.json_schema", format!("must be an object, found {other}"));
                    return None;
                }
            };
            problems.within("response_format.json_schema", |problems| json_schema(&mut schema, problems))
        }
        Some(other) => {
            problems.add("response_format.type", format!("found {other:?}; {ALLOWED}"));
            None
        }
        None => {
            problems.add("response_format", format!("found {}; {ALLOWED}", found(&value)));
            None
        }
    }
}

fn json_schema(fields: &mut Map<String, Value>, problems: &mut Problems) -> Option<ResponseFormat> {
    let name =
        problems.required_text(fields, "name", "give the schema a name of letters, digits, `_` and `-`");
    let description = problems.text(fields, "description");
    let strict = problems.flag(fields, "strict");
    let schema = fields.shift_remove("schema").unwrap_or_default();
    if !schema.is_object() {
        problems.add("schema", format!("must be a JSON Schema object, found {}", found(&schema)));
        return None;
    }
    Some(ResponseFormat::JsonSchema { name, description, schema, strict })
}
