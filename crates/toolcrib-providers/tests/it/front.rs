//! What clients send, and what they get.

use serde_json::{Map, Value, json};
use toolcrib_providers::wire::chat_completions::{
    ChatRequest, ChunkEncoder, Completion, ErrorBody, UrlCitation, WireError, decode_request,
    decode_request_body, encode_error, encode_response,
};
use toolcrib_runtime::message::{AssistantPart, Message, Part, ToolCall, Usage};
use toolcrib_runtime::model::{FinishReason, ResponseFormat, ToolChoice};

fn decode(fields: &Value) -> Result<ChatRequest, WireError> {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    decode_request(&body)
}

fn messages(messages: &Value) -> Vec<Message> {
    decode(&json!({"messages": messages})).unwrap().request.messages
}

fn check_error(fields: &Value, expected: &str) {
    assert_eq!(decode(fields).unwrap_err().to_string(), expected, "{fields}");
}

fn calls(message: &Message) -> Vec<ToolCall> {
    let Message::Assistant(answer) = message else { panic!("{message:?}") };
    answer.calls().cloned().collect()
}

#[test]
fn a_full_request_is_read() {
    let request = decode(&json!({
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "name": "ann", "content": [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "https://a.example/i.png", "detail": "high"}},
                {"type": "image_url", "image_url": "https://a.example/j.png"},
                {"type": "file", "file": {"file_id": "f"}}
            ]}
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": true}},
            {"type": "function", "name": "flat"},
            {"type": "web_search_preview"}
        ],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "parallel_tool_calls": true,
        "stream": true, "stream_options": {"include_usage": true},
        "temperature": 1, "max_tokens": 5, "max_completion_tokens": 6.0, "stop": "END", "seed": -3, "n": 1,
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}}},
        "toolcrib": {"events": true},
        "metadata": {"a": "b"}, "user": "u", "logprobs": null
    }))
    .unwrap();
    assert_eq!(
        (request.model.as_str(), request.stream, request.include_usage, request.n),
        ("m", true, true, 1)
    );
    assert_eq!(request.parallel_tool_calls, Some(true));
    assert_eq!(request.toolcrib, Some(json!({"events": true})));
    let inner = request.request;
    assert_eq!(inner.messages[0], Message::System("Be brief.".to_owned()));
    let Message::User(parts) = &inner.messages[1] else { panic!() };
    assert!(matches!(&parts[1], Part::Image { detail: Some(detail), .. } if detail == "high"));
    assert!(matches!(&parts[2], Part::Image { url, detail: None } if url == "https://a.example/j.png"));
    assert!(matches!(&parts[3], Part::Opaque(part) if part["type"] == "file"));
    assert_eq!(inner.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["f", "flat"]);
    assert_eq!(inner.native_tools, [json!({"type": "web_search_preview"})]);
    assert_eq!(inner.tool_choice, ToolChoice::Named("f".to_owned()));
    assert!(!inner.parallel_calls);
    assert_eq!((inner.sampling.temperature, inner.sampling.max_output_tokens), (Some(1.0), Some(6)));
    assert_eq!((inner.sampling.stop, inner.sampling.seed), (vec!["END".to_owned()], Some(-3)));
    assert!(matches!(inner.response_format, Some(ResponseFormat::JsonSchema { name, .. }) if name == "s"));
    assert_eq!(Value::Object(inner.extra), json!({"metadata": {"a": "b"}, "user": "u"}));
}

#[test]
fn empty_content_beside_calls_is_read_in_every_form() {
    let call = json!([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let with = |content: Option<Value>| {
        let mut message = json!({"role": "assistant", "tool_calls": call});
        message.as_object_mut().unwrap().extend(content.map(|content| ("content".to_owned(), content)));
        messages(&json!([message])).remove(0)
    };
    let expected = with(None);
    assert_eq!(calls(&expected).len(), 1);
    for content in [json!(null), json!(""), json!([]), json!([{"type": "text", "text": ""}])] {
        assert_eq!(with(Some(content.clone())), expected, "{content}");
    }
    let parts =
        with(Some(json!([{"type": "text", "text": "Look: "}, {"type": "output_text", "text": "now"}])));
    assert_eq!(parts.text(), "Look: now");
}

#[test]
fn calls_and_results_find_each_other_without_ids() {
    let found = messages(&json!([
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [
            {"function": {"name": "f", "arguments": {"x": 1}}},
            {"id": "", "type": "function", "function": {"name": "g", "arguments": ""}},
            {"id": null, "type": "function", "function": {"name": "h"}}
        ]},
        {"role": "tool", "name": "g", "content": "of g"},
        {"role": "tool", "content": [{"type": "text", "text": "of f"}]},
        {"role": "tool", "tool_call_id": "call_1_2", "content": null}
    ]));
    let calls = calls(&found[1]);
    let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1_0", "call_1_1", "call_1_2"]);
    let arguments: Vec<_> = calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"x":1}"#, "{}", "{}"]);
    let results: Vec<_> = found[2..]
        .iter()
        .map(|message| match message {
            Message::ToolResult(result) => (result.call_id.as_str(), result.text.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(results, [("call_1_1", "of g"), ("call_1_0", "of f"), ("call_1_2", "")]);
}

#[test]
fn retired_calls_in_a_history_are_read() {
    let found = messages(&json!([
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "result"}
    ]));
    let id = calls(&found[0]).remove(0).id;
    assert!(matches!(&found[1], Message::ToolResult(result) if result.call_id == id));
}

#[test]
fn opaque_fields_come_back_with_their_call_and_message() {
    let found = messages(&json!([{
        "role": "assistant", "content": "Hm.", "reasoning_content": "Thought.", "name": "bot",
        "reasoning_details": [1], "annotations": [{"type": "url_citation"}], "refusal": null,
        "tool_calls": [{"id": "a", "type": "function", "extra_content": {"s": 1},
            "function": {"name": "f", "arguments": "{}", "thought_signature": "t"}}]
    }]));
    let Message::Assistant(answer) = &found[0] else { panic!() };
    assert_eq!(Value::Object(answer.opaque.clone()), json!({"name": "bot", "reasoning_details": [1]}));
    assert_eq!(answer.parts[0], AssistantPart::Reasoning("Thought.".to_owned()));
    let call = answer.calls().next().unwrap();
    let expected = json!({"extra_content": {"s": 1}, "function": {"thought_signature": "t"}});
    assert_eq!(Value::Object(call.opaque.clone()), expected);
}

#[test]
fn choices_are_read_in_every_form() {
    let choice = |choice: Value| decode(&json!({"tool_choice": choice})).unwrap().request.tool_choice;
    assert_eq!(choice(json!(null)), ToolChoice::Auto);
    assert_eq!(choice(json!("auto")), ToolChoice::Auto);
    assert_eq!(choice(json!("none")), ToolChoice::None);
    assert_eq!(choice(json!("any")), ToolChoice::Required);
    assert_eq!(choice(json!({"type": "required"})), ToolChoice::Required);
    assert_eq!(choice(json!({"type": "function", "name": "f"})), ToolChoice::Named("f".to_owned()));
    let allowed = decode(&json!({
        "tools": [{"type": "function", "name": "f"}, {"type": "function", "name": "g"}],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]}}
    }))
    .unwrap()
    .request;
    assert_eq!(
        (allowed.tool_choice, allowed.tools[0].name.as_str(), allowed.tools.len()),
        (ToolChoice::Required, "g", 1)
    );
}

#[test]
fn problems_are_told_with_their_place_and_remedy() {
    check_error(
        &json!({"model": 7}),
        "`model`: must be a string, found 7: name a model, for example one that `GET /v1/models` lists",
    );
    check_error(&json!({"messages": []}), "`messages`: is empty: send at least one message");
    check_error(
        &json!({"messages": "Hi"}),
        "`messages`: must be an array of messages, found the string \"Hi\"",
    );
    check_error(
        &json!({"messages": [{"role": "user", "content": 7}]}),
        "`messages[0].content`: must be a string or an array of parts, found 7",
    );
    check_error(
        &json!({"messages": [{"role": "bot", "content": ""}]}),
        "`messages[0].role`: found the string \"bot\"; allowed are \"system\", \"developer\", \"user\", \"assistant\" and \"tool\"",
    );
    check_error(
        &json!({"messages": [{"role": "tool", "content": "x"}]}),
        "`messages[0].tool_call_id`: is missing: name the call that this result answers",
    );
    check_error(
        &json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
        "`messages[0].content[0].image_url.url`: is missing: give the image's address or a `data:` URL",
    );
    check_error(
        &json!({"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]}]}),
        "`messages[0].tool_calls[0]`: must be an object {\"id\": …, \"type\": \"function\", \"function\": {\"name\": …, \"arguments\": …}}, found an object",
    );
    check_error(&json!({"stream": "yes"}), "`stream`: must be true or false, found the string \"yes\"");
    check_error(&json!({"max_tokens": 0}), "`max_tokens`: must be a whole number of at least 1, found 0");
    check_error(&json!({"n": 1.5}), "`n`: must be a whole number from 1 to 128, found 1.5");
    check_error(&json!({"temperature": "hot"}), "`temperature`: must be a number, found the string \"hot\"");
    check_error(&json!({"stop": [1]}), "`stop`: must be a string or an array of strings, found an array");
    check_error(
        &json!({"functions": [{}]}),
        "`functions`: is the form that OpenAI replaced in 2023: send `tools` instead",
    );
    check_error(
        &json!({"tools": [{"type": "function", "function": {"name": "a b"}}]}),
        "`tools[0].function.name`: found the string \"a b\"; allowed are at most 64 letters, digits, `_`, `-` and `.`",
    );
    check_error(
        &json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": "x"}}]}),
        "`tools[0].function.parameters`: must be a JSON Schema object, found the string \"x\"",
    );
    check_error(
        &json!({"n": 2, "tools": [{"type": "function", "function": {"name": "f"}}]}),
        "`n`: found 2, but with tools only 1 answer can be given: leave `n` out",
    );
    check_error(&json!({"toolcrib": 1}), "`toolcrib`: must be an object, found 1");
    check_error(
        &json!({"response_format": {"type": "xml"}}),
        "`response_format.type`: found \"xml\"; allowed are {\"type\": \"text\"}, {\"type\": \"json_object\"} and {\"type\": \"json_schema\", \"json_schema\": {\"name\", \"schema\"}}",
    );
    let error = decode_request_body(b"{\"model\": }").unwrap_err().to_string();
    assert!(error.starts_with("the body is not JSON (expected value at line 1 column 11)"), "{error}");
    assert_eq!(
        decode_request_body(br#"{"model":"m","messages":[{"role":"user","content":""}]}"#).unwrap().model,
        "m"
    );
    assert_eq!(
        decode_request(&json!([])).unwrap_err().to_string(),
        "the body must be a JSON object, found an array"
    );
}

#[test]
fn every_problem_is_told_and_the_first_names_the_field() {
    let error = decode(&json!({"stream": 1, "seed": "x", "messages": [{"role": "user"}]})).unwrap_err();
    assert_eq!(error.param, "messages[0].content");
    assert_eq!(
        error.also.iter().map(|problem| problem.param.as_str()).collect::<Vec<_>>(),
        ["seed", "stream"]
    );
    let body = error.body();
    assert_eq!(
        (body.kind.as_str(), body.param.as_deref()),
        ("invalid_request_error", Some("messages[0].content"))
    );
    assert!(body.message.contains("`seed`") && body.message.contains("`stream`"), "{}", body.message);
}

fn call() -> ToolCall {
    let opaque = json!({"extra_content": {"s": 1}, "toolcrib_wire_id": "dup"});
    ToolCall {
        id: "call_1".to_owned(),
        name: "f".to_owned(),
        arguments: r#"{"x":1}"#.to_owned(),
        opaque: opaque.as_object().unwrap().clone(),
    }
}

fn citation() -> UrlCitation {
    UrlCitation { title: "Tides".to_owned(), url: "https://a.example".to_owned(), start: 2, end: 5 }
}

fn usage() -> Usage {
    Usage { input_tokens: 9, output_tokens: 4, cached_input_tokens: 3, reasoning_tokens: 2 }
}

#[test]
fn complete_answers_have_the_documented_shape() {
    let completion = Completion {
        id: "chatcmpl-1".to_owned(),
        created: 1_700_000_000,
        model: "host/m".to_owned(),
        text: "Hi.".to_owned(),
        reasoning: "Thought.".to_owned(),
        opaque: json!({"reasoning_details": [1], "content": "never", "role": "never"})
            .as_object()
            .unwrap()
            .clone(),
        finish: Some(FinishReason::Length),
        usage: Some(usage()),
        citations: vec![citation()],
        toolcrib: Some(json!({"run": "r"})),
        ..Completion::default()
    };
    insta::assert_json_snapshot!("completion_text", encode_response(&completion));
    let with_calls =
        Completion { text: String::new(), calls: vec![call()], usage: None, toolcrib: None, ..completion };
    insta::assert_json_snapshot!("completion_calls", encode_response(&with_calls));
    let error =
        ErrorBody { message: "No.".to_owned(), kind: "server_error".to_owned(), param: None, code: None };
    insta::assert_json_snapshot!("error_body", encode_error(&error));
}

fn payloads(stream: &str) -> Vec<Value> {
    let events = stream.split("\n\n").filter(|event| event.starts_with("data: ") && *event != "data: [DONE]");
    events.map(|event| serde_json::from_str(&event["data: ".len()..]).unwrap()).collect()
}

/// What strict clients break on never stands in a stream of ours.
fn assert_wire_correct(stream: &str, usage_was_asked_for: bool) {
    assert!(stream.ends_with("\n\n"));
    for line in stream.lines().filter(|line| !line.is_empty()) {
        assert!(line.starts_with("data: ") || line.starts_with(':'), "{line}");
        assert_ne!(line, "data: null");
    }
    for chunk in payloads(stream) {
        if chunk.get("error").is_some() {
            continue;
        }
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert!(chunk["id"].is_string() && chunk["created"].is_i64() && chunk["model"].is_string());
        let choices = chunk["choices"].as_array().unwrap();
        if choices.is_empty() {
            assert!(usage_was_asked_for && chunk["usage"].is_object(), "{chunk}");
            continue;
        }
        assert_eq!(choices.len(), 1);
        assert_eq!(choices[0]["index"], 0);
        let delta = choices[0]["delta"].as_object().unwrap();
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            assert!(call["index"].is_u64(), "{call}");
            assert!(call.get("function").is_none_or(|function| function["arguments"].is_string()), "{call}");
        }
        let known =
            [json!(null), json!("stop"), json!("length"), json!("tool_calls"), json!("content_filter")];
        assert!(known.contains(&choices[0]["finish_reason"]), "{chunk}");
    }
}

#[test]
fn streamed_answers_have_the_documented_shape() {
    for include_usage in [true, false] {
        let mut encoder = ChunkEncoder::new("chatcmpl-1", 1_700_000_000, "host/m", include_usage);
        let opaque = json!({"reasoning_details": [1]}).as_object().unwrap().clone();
        let pieces = [
            encoder.role(),
            encoder.comment("tool\ncall"),
            encoder.reasoning("Thought."),
            encoder.text(""),
            encoder.text("Hi 👋"),
            encoder.extension(&json!({"type": "tool_started"})),
            encoder.finish(&FinishReason::Stop, &[citation()], &opaque),
            encoder.usage(&usage()),
            encoder.done(),
        ];
        let stream: String = pieces.iter().map(|piece| std::str::from_utf8(piece).unwrap()).collect();
        assert_wire_correct(&stream, include_usage);
        insta::assert_snapshot!(format!("stream_text_usage_{include_usage}"), stream);
    }
}

#[test]
fn streamed_calls_are_sent_once_whatever_was_announced() {
    let mut encoder = ChunkEncoder::new("chatcmpl-1", 1_700_000_000, "m", false);
    let late = ToolCall { id: "call_2".to_owned(), arguments: "{}".to_owned(), opaque: Map::new(), ..call() };
    let pieces = [
        encoder.call_progress("call_1", "f", ""),
        encoder.call_progress("call_1", "f", "{\"x\""),
        encoder.call_progress("call_1", "f", ""),
        encoder.call(&call()),
        encoder.call(&late),
        encoder.call(&late),
        encoder.finish(&FinishReason::Stop, &[], &Map::new()),
        encoder.done(),
    ];
    let stream: String = pieces.iter().map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    assert_wire_correct(&stream, false);
    insta::assert_snapshot!("stream_calls", stream);
    let arguments: String = payloads(&stream)
        .iter()
        .filter_map(|chunk| {
            let call = &chunk["choices"][0]["delta"]["tool_calls"][0];
            (call["index"] == 0)
                .then(|| call["function"]["arguments"].as_str().unwrap_or_default().to_owned())
        })
        .collect();
    assert_eq!(arguments, call().arguments);
}

#[test]
fn a_streamed_error_is_an_error_object() {
    let encoder = ChunkEncoder::new("chatcmpl-1", 1_700_000_000, "m", false);
    let error = ErrorBody {
        message: "Line\nbreak".to_owned(),
        kind: "upstream_error".to_owned(),
        param: None,
        code: Some("provider_failed".to_owned()),
    };
    let stream = String::from_utf8(encoder.error(&error).to_vec()).unwrap();
    assert_wire_correct(&stream, false);
    let expected = json!({"error": {"message": "Line\nbreak", "type": "upstream_error", "param": null, "code": "provider_failed"}});
    assert_eq!(payloads(&stream), [expected]);
}
