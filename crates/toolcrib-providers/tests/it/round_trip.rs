//! From a client through the internal form to a provider, and back.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolcrib_providers::profile::{EmptyContent, Profile, ReasoningReplay};
use toolcrib_providers::wire::chat_completions::{
    ChunkDecoder, ChunkEncoder, Completion, decode_request, decode_response, encode_request, encode_response,
};
use toolcrib_providers::wire::problem::ErrorSource;
use toolcrib_providers::wire::sse::SseReader;
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, Message};
use toolcrib_runtime::model::{FinishReason, ModelEvent, ModelRequest};

fn profile() -> Profile {
    Profile {
        reasoning_replay: ReasoningReplay::Always,
        empty_content: EmptyContent::Null,
        ..Profile::openai_compatible().clone()
    }
}

fn there_and_back(body: &Value) -> Value {
    let request = decode_request(body).unwrap();
    encode_request(&request.request, &request.model, &profile(), request.stream)
}

#[test]
fn a_conversation_reaches_the_provider_unchanged() {
    let body = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read it.", "name": "ann"},
            {"role": "assistant", "content": null, "reasoning_content": "Hm.",
             "tool_calls": [
                {"id": "search:0", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}, "extra_content": {"google": {"thought_signature": "s=="}}},
                {"id": "search:1", "type": "function", "function": {"name": "f", "arguments": "not json"}}
             ],
             "reasoning_details": [{"text": "r"}]},
            {"role": "tool", "tool_call_id": "search:1", "content": "two"},
            {"role": "tool", "tool_call_id": "search:0", "content": "one"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": [
                {"type": "text", "text": "And this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
            ]},
            {"role": "assistant", "content": null,
             "tool_calls": [{"id": "search:0", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "search:0", "content": ""}
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
        "tool_choice": "required",
        "parallel_tool_calls": false,
        "max_tokens": 7,
        "temperature": 0.25,
        "stop": ["a", "b"],
        "stream": true,
        "stream_options": {"include_usage": true},
        "metadata": {"z": 1, "a": 2}
    });
    let sent = there_and_back(&body);
    assert_eq!(sent, body);
    assert_eq!(there_and_back(&sent).to_string(), sent.to_string(), "byte for byte");
}

#[test]
fn shared_ids_are_told_apart_inside_and_restored_outside() {
    let call = json!({"id": "search:0", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let body = json!({"model": "m", "messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": null, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": "search:0", "content": "one"}
    ], "stream": false});
    let request = decode_request(&body).unwrap().request;
    let Message::Assistant(answer) = &request.messages[1] else { panic!() };
    let ids: Vec<_> = answer.calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["search:0", "search:0_2"]);
    assert_eq!(there_and_back(&body)["messages"], body["messages"]);
}

fn collect(events: Vec<ModelEvent>) -> (AssistantMessage, Option<FinishReason>) {
    let mut message = AssistantMessage::default();
    let mut finish = None;
    for event in events {
        match event {
            ModelEvent::Text(text) => message.push_text(&text),
            ModelEvent::Reasoning(text) => message.push_reasoning(&text),
            ModelEvent::Call(call) => message.parts.push(AssistantPart::Call(call)),
            ModelEvent::Opaque(fields) => message.opaque.extend(fields),
            ModelEvent::Finished(reason) => finish = Some(reason),
            ModelEvent::CallProgress { .. } | ModelEvent::Usage(_) => {}
        }
    }
    (message, finish)
}

fn answer() -> Vec<u8> {
    let body = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Look.", "reasoning_content": "Hm.", "reasoning_details": [{"text": "r"}],
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}, "extra_content": {"s": "=="}}]
    }}]});
    body.to_string().into_bytes()
}

/// What a client that keeps the history sends back reaches the provider as the provider gave it.
#[test]
fn a_signature_survives_the_way_through_a_client() {
    let source = Arc::new(ErrorSource::new("host", Vec::new()));
    let (message, finish) = collect(decode_response(&answer(), &source, 1).unwrap());
    assert_eq!(finish, Some(FinishReason::ToolCalls));
    let completion = Completion {
        text: message.text(),
        reasoning: message.reasoning(),
        calls: message.calls().cloned().collect(),
        opaque: message.opaque.clone(),
        finish,
        ..Completion::default()
    };
    let to_client = encode_response(&completion)["choices"][0]["message"].clone();
    let history = json!({"model": "m", "messages": [{"role": "user", "content": "x"}, to_client]});
    let sent = there_and_back(&history)["messages"][1].clone();
    let original: Value = serde_json::from_slice(&answer()).unwrap();
    let (mut sent, mut original) = (sent, original["choices"][0]["message"].clone());
    for message in [&mut sent, &mut original] {
        message.as_object_mut().unwrap().sort_keys();
    }
    assert_eq!(sent, original);
}

/// A stream of ours, read by our own reader, gives what was written.
#[test]
fn streams_are_read_as_they_were_written() {
    let source = Arc::new(ErrorSource::new("host", Vec::new()));
    let (message, _) = collect(decode_response(&answer(), &source, 1).unwrap());
    let mut encoder = ChunkEncoder::new("chatcmpl-1", 1, "m", true);
    let call = message.calls().next().unwrap();
    let mut stream = vec![
        encoder.role(),
        encoder.comment("working"),
        encoder.reasoning(&message.reasoning()),
        encoder.text(&message.text()),
        encoder.call_progress(&call.id, &call.name, "{\"x\""),
        encoder.extension(&json!({"anything": [1]})),
        encoder.call(call),
        encoder.finish(&FinishReason::ToolCalls, &[], &message.opaque),
    ];
    stream.push(encoder.done());
    let mut reader = SseReader::default();
    let mut decoder = ChunkDecoder::new(source, 1);
    let mut events = Vec::new();
    for piece in stream {
        reader.push(Bytes::from(piece.to_vec()));
        while let Some(event) = reader.next_event().unwrap() {
            events.extend(decoder.decode(&event.data).unwrap());
        }
    }
    events.extend(decoder.finish().unwrap());
    let (read, finish) = collect(events);
    assert_eq!((read, finish), (message, Some(FinishReason::ToolCalls)));
}

#[test]
fn an_empty_request_stays_small() {
    let request =
        ModelRequest { messages: vec![Message::user("Hi")], extra: Map::new(), ..ModelRequest::default() };
    let body = encode_request(&request, "m", Profile::openai_compatible(), false);
    assert_eq!(body, json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": false}));
}
