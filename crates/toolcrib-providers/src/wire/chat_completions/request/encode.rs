//! Writes a request for a provider.
//!
//! The same request gives the same bytes: fields stand in a fixed order, and what a caller adds comes last and never
//! replaces what we set.

use serde_json::{Map, Value, json};
use toolcrib_runtime::message::{AssistantMessage, Message, Part};
use toolcrib_runtime::model::{ModelRequest, ResponseFormat, Sampling, ToolChoice, ToolSpec};
use toolcrib_runtime::tool::definition::strict_obstacles;

use crate::profile::{EmptyContent, ForcedChoice, MaxTokensField, Profile, ReasoningReplay};
use crate::wire::chat_completions::call_ids::CallIds;
use crate::wire::chat_completions::types::{add_missing, call_json};
use crate::wire::chat_completions::{MESSAGE_FIELDS_TYPE, WIRE_ID_FIELD};

/// Fields that a caller's additional ones never touch, whether they were set or left out.
const OURS: [&str; 13] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "stream",
    "stream_options",
    "n",
    "max_tokens",
    "max_completion_tokens",
    "toolcrib",
];

/// Fields of an assistant message that are told to the caller, but refused by hosts when they come back.
const NOT_SENT_BACK: [&str; 3] = ["annotations", "index", WIRE_ID_FIELD];

/// The request's body in the form that the profile describes.
///
/// `parallel_tool_calls: false` stands in it exactly when it holds tools, parallel calls are off and the profile
/// accepts the field.
pub fn encode_request(request: &ModelRequest, model: &str, profile: &Profile, stream: bool) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), messages(&request.messages, profile));
    add_tools(&mut body, request, profile);
    if let Some(format) = &request.response_format {
        body.insert("response_format".to_owned(), response_format(format));
    }
    add_sampling(&mut body, &request.sampling, profile);
    body.insert("stream".to_owned(), stream.into());
    if stream && profile.accepts_stream_options {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    add_missing(&mut body, &request.extra, &OURS);
    body.into()
}

fn add_tools(body: &mut Map<String, Value>, request: &ModelRequest, profile: &Profile) {
    let named = match &request.tool_choice {
        ToolChoice::Named(name) => request.tools.iter().find(|tool| tool.name == *name),
        _ => None,
    };
    let only_named = named.filter(|_| profile.forced_choice != ForcedChoice::Honored);
    let withheld = request.tool_choice == ToolChoice::None && profile.forced_choice == ForcedChoice::Ignored;
    let tools: Vec<_> = match only_named {
        _ if withheld => Vec::new(),
        Some(tool) => vec![tool_json(tool, profile)],
        None => {
            let functions = request.tools.iter().map(|tool| tool_json(tool, profile));
            functions.chain(request.native_tools.iter().cloned()).collect()
        }
    };
    if tools.is_empty() {
        return;
    }
    body.insert("tools".to_owned(), tools.into());
    if let Some(choice) = tool_choice(&request.tool_choice, profile.forced_choice) {
        body.insert("tool_choice".to_owned(), choice);
    }
    if !request.parallel_calls && profile.accepts_parallel_tool_calls {
        body.insert("parallel_tool_calls".to_owned(), false.into());
    }
}

fn tool_json(tool: &ToolSpec, profile: &Profile) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), tool.name.clone().into());
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), description.clone().into());
    }
    let parameters = match &tool.parameters {
        schema @ Value::Object(fields) if !fields.is_empty() => schema.clone(),
        _ => json!({"type": "object", "properties": {}}),
    };
    if tool.strict == Some(true) && profile.enforces_strict && strict_obstacles(&parameters).is_empty() {
        function.insert("strict".to_owned(), true.into());
    }
    function.insert("parameters".to_owned(), parameters);
    json!({"type": "function", "function": function})
}

fn tool_choice(choice: &ToolChoice, honored: ForcedChoice) -> Option<Value> {
    match (choice, honored) {
        (ToolChoice::Auto, _) | (_, ForcedChoice::Ignored) => None,
        (ToolChoice::None, _) => Some("none".into()),
        (ToolChoice::Required, _) | (ToolChoice::Named(_), ForcedChoice::OnlyByWord) => {
            Some("required".into())
        }
        (ToolChoice::Named(name), ForcedChoice::Honored) => {
            Some(json!({"type": "function", "function": {"name": name}}))
        }
    }
}

fn response_format(format: &ResponseFormat) -> Value {
    match format {
        ResponseFormat::JsonObject => json!({"type": "json_object"}),
        ResponseFormat::JsonSchema { name, description, schema, strict } => {
            let mut fields = Map::new();
            fields.insert("name".to_owned(), name.clone().into());
            if let Some(description) = description {
                fields.insert("description".to_owned(), description.clone().into());
            }
            fields.insert("schema".to_owned(), schema.clone());
            if let Some(strict) = strict {
                fields.insert("strict".to_owned(), (*strict).into());
            }
            json!({"type": "json_schema", "json_schema": fields})
        }
    }
}

fn add_sampling(body: &mut Map<String, Value>, sampling: &Sampling, profile: &Profile) {
    let max_tokens = match profile.max_tokens_field {
        MaxTokensField::MaxTokens => "max_tokens",
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
    };
    let stop = (!sampling.stop.is_empty()).then(|| Value::from(sampling.stop.clone()));
    let fields = [
        (max_tokens, sampling.max_output_tokens.map(Value::from)),
        ("temperature", sampling.temperature.map(Value::from)),
        ("top_p", sampling.top_p.map(Value::from)),
        ("stop", stop),
        ("seed", sampling.seed.map(Value::from)),
        ("frequency_penalty", sampling.frequency_penalty.map(Value::from)),
        ("presence_penalty", sampling.presence_penalty.map(Value::from)),
        ("reasoning_effort", sampling.reasoning_effort.clone().map(Value::from)),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    }
}

fn messages(messages: &[Message], profile: &Profile) -> Value {
    let last_user = messages.iter().rposition(|message| matches!(message, Message::User(_)));
    let mut ids = CallIds::new(profile.call_ids);
    let encoded = messages.iter().enumerate().map(|(position, message)| match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(parts) => user(parts),
        Message::Assistant(answer) => {
            let in_tool_rounds = last_user.is_none_or(|last_user| position > last_user);
            let replays = match profile.reasoning_replay {
                ReasoningReplay::Never => false,
                ReasoningReplay::ToolRounds => in_tool_rounds,
                ReasoningReplay::Always => true,
            };
            assistant(answer, profile, replays, &mut ids)
        }
        Message::ToolResult(result) => {
            json!({"role": "tool", "tool_call_id": ids.of_result(&result.call_id), "content": result.text})
        }
    });
    encoded.collect()
}

fn user(parts: &[Part]) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), "user".into());
    let (fields, parts): (Vec<_>, Vec<_>) = parts.iter().partition(|part| is_message_fields(part));
    let content = match parts[..] {
        [] => "".into(),
        [Part::Text(text)] => text.clone().into(),
        _ => parts.into_iter().map(part_json).collect(),
    };
    message.insert("content".to_owned(), content);
    for part in fields {
        if let Part::Opaque(Value::Object(fields)) = part {
            add_missing(&mut message, fields, &["type"]);
        }
    }
    message.into()
}

fn is_message_fields(part: &Part) -> bool {
    matches!(part, Part::Opaque(value) if value["type"] == MESSAGE_FIELDS_TYPE)
}

fn part_json(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image { url, detail: Some(detail) } => {
            json!({"type": "image_url", "image_url": {"url": url, "detail": detail}})
        }
        Part::Image { url, detail: None } => json!({"type": "image_url", "image_url": {"url": url}}),
        Part::Opaque(value) => value.clone(),
    }
}

fn assistant(
    answer: &AssistantMessage,
    profile: &Profile,
    replays_reasoning: bool,
    ids: &mut CallIds,
) -> Value {
    ids.start_round();
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    let calls: Vec<_> = answer
        .calls()
        .map(|call| {
            let id = ids.of_call(call);
            call_json(call, &id)
        })
        .collect();
    let content = match (answer.text(), profile.empty_content) {
        (text, _) if !text.is_empty() || calls.is_empty() => Some(text.into()),
        (_, EmptyContent::Null) => Some(Value::Null),
        (_, EmptyContent::EmptyText) => Some("".into()),
        (_, EmptyContent::Absent) => None,
    };
    if let Some(content) = content {
        message.insert("content".to_owned(), content);
    }
    let reasoning = answer.reasoning();
    if replays_reasoning && !reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), reasoning.into());
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    let absent = ["content", "tool_calls", "function_call"];
    add_missing(&mut message, &answer.opaque, &[&NOT_SENT_BACK[..], &absent].concat());
    message.into()
}
