//! Values of a wrong type in every place of real requests and answers: told or tolerated, never a crash.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_providers::profile::Profile;
use toolcrib_providers::wire::chat_completions::{ChunkDecoder, decode_request, encode_request};
use toolcrib_providers::wire::problem::ErrorSource;
use toolcrib_runtime::model::{ModelErrorKind, ModelEvent};

fn junk() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!("")),
        Just(json!("ä\u{0}😀")),
        Just(json!([])),
        Just(json!([[null]])),
        Just(json!({})),
        Just(json!({"type": "text"})),
        Just(json!({"function": {"name": 7, "arguments": []}})),
    ]
}

/// The places of a value: the value itself, then everything inside it.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| places(item, &format!("{path}/{index}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| places(field, &format!("{path}/{name}"), found));
        }
        _ => {}
    }
}

fn with_junk(value: &Value, place: prop::sample::Index, junk: Value) -> Value {
    let mut found = Vec::new();
    places(value, "", &mut found);
    let mut changed = value.clone();
    let place = &found[place.index(found.len())];
    *changed.pointer_mut(place).unwrap() = junk;
    changed
}

fn request() -> Value {
    json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "name": "n", "content": [
                {"type": "text", "text": "t"},
                {"type": "image_url", "image_url": {"url": "https://a.example", "detail": "low"}}
            ]},
            {"role": "assistant", "content": null, "reasoning_content": "r", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "c"}
        ],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {}, "strict": true}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {}, "strict": true}},
        "stream": true, "stream_options": {"include_usage": true}, "n": 1, "max_tokens": 1, "temperature": 1,
        "stop": ["x"], "seed": 1, "toolcrib": {}
    })
}

fn chunks() -> Vec<Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wire");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "sse"));
    paths.sort();
    let payloads = |path: PathBuf| -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
    };
    paths.into_iter().map(payloads).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn requests_are_read_or_refused(place in any::<prop::sample::Index>(), junk in junk()) {
        match decode_request(&with_junk(&request(), place, junk)) {
            Ok(request) => {
                for profile in Profile::ALL {
                    let body = encode_request(&request.request, &request.model, profile, request.stream);
                    prop_assert!(body["messages"].is_array());
                }
            }
            Err(error) => prop_assert!(!error.message.is_empty()),
        }
    }

    #[test]
    fn answers_are_read_or_refused(
        case in any::<prop::sample::Index>(),
        chunk in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        junk in junk(),
    ) {
        let cases = chunks();
        let mut payloads = case.get(&cases).clone();
        if !payloads.is_empty() {
            let chunk = chunk.index(payloads.len());
            payloads[chunk] = with_junk(&payloads[chunk], place, junk);
        }
        let mut decoder = ChunkDecoder::new(Arc::new(ErrorSource::new("host", Vec::new())), 1);
        let mut result = Ok(Vec::new());
        for payload in payloads {
            result = decoder.decode(payload.to_string().as_bytes());
            if result.is_err() {
                break;
            }
        }
        match result.and_then(|_| decoder.finish()) {
            Ok(events) => prop_assert!(matches!(events.last(), Some(ModelEvent::Finished(_)))),
            Err(error) => {
                prop_assert!(error.message.starts_with("provider `host` "));
                prop_assert!(error.kind != ModelErrorKind::Unreachable);
            }
        }
    }
}
