//! What each family gets for the same request.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolcrib_providers::profile::{CallIdForm, EmptyContent, ForcedChoice, Profile, ReasoningReplay};
use toolcrib_providers::wire::chat_completions::encode_request;
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, Message, Part, ToolCall, ToolResult};
use toolcrib_runtime::model::{ModelRequest, ResponseFormat, Sampling, ToolChoice, ToolSpec};

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: Some(format!("Does {name}.")),
        parameters: json!({
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
            "additionalProperties": false
        }),
        strict: Some(true),
    }
}

fn call(id: &str) -> ToolCall {
    let opaque = json!({"extra_content": {"google": {"thought_signature": "s=="}}});
    ToolCall {
        id: id.to_owned(),
        name: "f".to_owned(),
        arguments: r#"{"x": 1}"#.to_owned(),
        opaque: opaque.as_object().unwrap().clone(),
    }
}

fn answer(reasoning: &str, id: &str) -> Message {
    let parts = vec![AssistantPart::Reasoning(reasoning.to_owned()), AssistantPart::Call(call(id))];
    let opaque = json!({"reasoning_details": [{"text": "r"}], "annotations": [], "content": "overridden"});
    Message::Assistant(AssistantMessage { parts, opaque: opaque.as_object().unwrap().clone() })
}

fn result(id: &str, text: &str) -> Message {
    Message::ToolResult(ToolResult { call_id: id.to_owned(), text: text.to_owned(), is_error: false })
}

fn full_request() -> ModelRequest {
    let image = Part::Image { url: "data:image/png;base64,AA==".to_owned(), detail: Some("low".to_owned()) };
    let extra = json!({
        "parallel_tool_calls": true, "model": "other", "messages": [], "max_tokens": 1, "temperature": 2, "n": 3,
        "stream_options": null, "tools": [], "user": "u", "logit_bias": {"1": 2}
    });
    ModelRequest {
        messages: vec![
            Message::System("Be brief.".to_owned()),
            Message::user("First"),
            answer("old thoughts", "search:0"),
            result("search:0", "one"),
            Message::User(vec![Part::Text("Second".to_owned()), image]),
            answer("new thoughts", "search:0"),
            result("search:0", "two"),
        ],
        tools: [tool("f"), tool("g")].map(Arc::new).into(),
        tool_choice: ToolChoice::Named("g".to_owned()),
        parallel_calls: false,
        sampling: Sampling {
            temperature: Some(0.5),
            max_output_tokens: Some(64),
            stop: vec!["END".to_owned()],
            seed: Some(7),
            ..Sampling::default()
        },
        response_format: Some(ResponseFormat::JsonSchema {
            name: "answer".to_owned(),
            description: None,
            schema: json!({"type": "object"}),
            strict: Some(true),
        }),
        native_tools: Vec::new(),
        extra: extra.as_object().unwrap().clone(),
    }
}

#[test]
fn every_family_gets_its_own_form() {
    for profile in Profile::ALL {
        let body = encode_request(&full_request(), "m", profile, true);
        insta::assert_json_snapshot!(profile.family, body);
        assert_eq!(body["parallel_tool_calls"], json!(false), "additional fields never override it");
        assert_eq!(encode_request(&full_request(), "m", profile, true).to_string(), body.to_string());
    }
}

#[test]
fn parallel_tool_calls_is_sent_exactly_when_it_matters() {
    let profile = Profile::openai_compatible().clone();
    let field = |request: &ModelRequest, profile: &Profile| {
        encode_request(request, "m", profile, false).get("parallel_tool_calls").cloned()
    };
    let mut request = full_request();
    assert_eq!(field(&request, &profile), Some(json!(false)));
    assert_eq!(field(&request, &Profile { accepts_parallel_tool_calls: false, ..profile.clone() }), None);
    request.parallel_calls = true;
    assert_eq!(field(&request, &profile), None);
    let without_tools = ModelRequest { tools: Vec::new().into(), parallel_calls: false, ..full_request() };
    assert_eq!(field(&without_tools, &profile), None);
}

#[test]
fn a_choice_that_is_ignored_shows_in_what_is_offered() {
    let offered = |choice: ToolChoice, forced_choice: ForcedChoice| {
        let request = ModelRequest { tool_choice: choice, ..full_request() };
        let profile = Profile { forced_choice, ..Profile::openai_compatible().clone() };
        let body = encode_request(&request, "m", &profile, false);
        let names: Vec<_> = body["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| tool["function"]["name"].clone())
            .collect();
        (Value::from(names), body["tool_choice"].clone())
    };
    let named = || ToolChoice::Named("g".to_owned());
    let by_name = json!({"type": "function", "function": {"name": "g"}});
    assert_eq!(offered(named(), ForcedChoice::Honored), (json!(["f", "g"]), by_name));
    assert_eq!(offered(named(), ForcedChoice::OnlyByWord), (json!(["g"]), json!("required")));
    assert_eq!(offered(named(), ForcedChoice::Ignored), (json!(["g"]), Value::Null));
    assert_eq!(offered(ToolChoice::None, ForcedChoice::OnlyByWord), (json!(["f", "g"]), json!("none")));
    assert_eq!(offered(ToolChoice::None, ForcedChoice::Ignored), (json!([]), Value::Null));
    assert_eq!(offered(ToolChoice::Required, ForcedChoice::Ignored), (json!(["f", "g"]), Value::Null));
    assert_eq!(offered(ToolChoice::Auto, ForcedChoice::Honored), (json!(["f", "g"]), Value::Null));
}

#[test]
fn history_takes_the_form_that_the_profile_wants() {
    let message = |position: usize, profile: &Profile| {
        encode_request(&full_request(), "m", profile, false)["messages"][position].clone()
    };
    let with = |replay, empty_content| Profile {
        reasoning_replay: replay,
        empty_content,
        ..Profile::openai_compatible().clone()
    };
    let reasoning =
        |position, replay| message(position, &with(replay, EmptyContent::Null))["reasoning_content"].clone();
    assert_eq!(reasoning(2, ReasoningReplay::Never), Value::Null);
    assert_eq!(reasoning(5, ReasoningReplay::Never), Value::Null);
    assert_eq!(reasoning(2, ReasoningReplay::ToolRounds), Value::Null);
    assert_eq!(reasoning(5, ReasoningReplay::ToolRounds), "new thoughts");
    assert_eq!(reasoning(2, ReasoningReplay::Always), "old thoughts");
    let content = |empty| message(2, &with(ReasoningReplay::Never, empty)).get("content").cloned();
    assert_eq!(content(EmptyContent::Null), Some(Value::Null));
    assert_eq!(content(EmptyContent::EmptyText), Some(json!("")));
    // An opaque field of that name must not slip into the place that was left empty on purpose.
    assert_eq!(content(EmptyContent::Absent), None);
}

#[test]
fn ids_are_mapped_within_their_round_and_results_follow() {
    let profile = Profile { call_ids: CallIdForm::Alphanumeric(9), ..Profile::openai_compatible().clone() };
    let body = encode_request(&full_request(), "m", &profile, false);
    let id = body["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    for position in [3, 6] {
        assert_eq!(body["messages"][position]["tool_call_id"], id);
    }
    assert_eq!(body["messages"][2]["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "s==");
}

#[test]
fn an_open_schema_is_not_marked_strict() {
    let open = ToolSpec { parameters: json!({"type": "object", "properties": {"x": {}}}), ..tool("f") };
    let request = ModelRequest { tools: vec![Arc::new(open)].into(), ..ModelRequest::default() };
    let body = encode_request(&request, "m", Profile::by_family("openai").unwrap(), false);
    assert_eq!(body["tools"][0]["function"].get("strict"), None);
    let no_schema = ToolSpec { parameters: Value::Object(Map::new()), ..tool("f") };
    let request = ModelRequest { tools: vec![Arc::new(no_schema)].into(), ..ModelRequest::default() };
    let body = encode_request(&request, "m", Profile::openai_compatible(), false);
    assert_eq!(body["tools"][0]["function"]["parameters"], json!({"type": "object", "properties": {}}));
}
