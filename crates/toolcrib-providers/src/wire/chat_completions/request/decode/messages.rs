//! Reads the conversation.
//!
//! A content of `null`, `""`, none at all or an array of parts means the same beside tool calls. Results find their
//! call by id, and, where a client leaves ids out, by order.

use serde_json::{Map, Value, json};
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, Message, Part, ToolCall, ToolResult};

use super::fields::{Problems, found};
use crate::wire::chat_completions::{MESSAGE_FIELDS_TYPE, WIRE_ID_FIELD};

/// Fields of an assistant message that the conversion reads or that are only told, never sent back.
const READ_OF_ASSISTANT: [&str; 8] = [
    "role",
    "content",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "reasoning",
    "refusal",
    "annotations",
];

pub(super) fn read(rest: &mut Map<String, Value>, problems: &mut Problems) -> Vec<Message> {
    let listed = match rest.shift_remove("messages") {
        Some(Value::Array(listed)) if !listed.is_empty() => listed,
        Some(Value::Array(_)) => {
            problems.add("messages", "is empty: send at least one message");
            return Vec::new();
        }
        None | Some(Value::Null) => {
            problems.add("messages", "is missing: send an array of messages");
            return Vec::new();
        }
        Some(other) => {
            problems.add("messages", format!("must be an array of messages, found {}", found(&other)));
            return Vec::new();
        }
    };
    let mut conversation = Conversation::default();
    for (position, message) in listed.into_iter().enumerate() {
        problems.within(&format!("messages[{position}]"), |problems| {
            conversation.take(position, message, problems);
        });
    }
    conversation.messages
}

#[derive(Default)]
struct Conversation {
    messages: Vec<Message>,
    /// Id and function name of the calls that no result answers yet.
    open_calls: Vec<(String, String)>,
}

impl Conversation {
    fn take(&mut self, position: usize, message: Value, problems: &mut Problems) {
        let Value::Object(mut fields) = message else {
            problems
                .add("", format!("must be an object with `role` and `content`, found {}", found(&message)));
            return;
        };
        let role = fields.get("role").cloned().unwrap_or_default();
        match role.as_str() {
            Some("system" | "developer") => {
                let text = required_text(&fields, problems);
                self.messages.push(Message::System(text));
            }
            Some("user") => {
                let parts = user_parts(&mut fields, problems);
                self.messages.push(Message::User(parts));
            }
            Some("assistant") => {
                let answer = self.assistant(position, &fields, problems);
                self.messages.push(Message::Assistant(answer));
            }
            Some("tool" | "function") => {
                if let Some(result) = self.tool_result(&fields, problems) {
                    self.messages.push(Message::ToolResult(result));
                }
            }
            _ => {
                let allowed = "allowed are \"system\", \"developer\", \"user\", \"assistant\" and \"tool\"";
                problems.add("role", format!("found {}; {allowed}", found(&role)));
            }
        }
    }

    fn assistant(
        &mut self,
        position: usize,
        fields: &Map<String, Value>,
        problems: &mut Problems,
    ) -> AssistantMessage {
        let mut answer = AssistantMessage::default();
        let reasoning =
            ["reasoning_content", "reasoning"].iter().find_map(|field| fields.get(*field)?.as_str());
        answer.push_reasoning(reasoning.unwrap_or_default());
        answer.push_text(&text_of(fields.get("content"), problems));
        answer.push_text(fields.get("refusal").and_then(Value::as_str).unwrap_or_default());
        self.open_calls.clear();
        for call in read_calls(position, fields, problems) {
            self.open_calls.push((call.id.clone(), call.name.clone()));
            answer.parts.push(AssistantPart::Call(call));
        }
        answer.opaque = unknown_fields(fields, &READ_OF_ASSISTANT);
        answer
    }

    fn tool_result(&mut self, fields: &Map<String, Value>, problems: &mut Problems) -> Option<ToolResult> {
        let text = text_of(fields.get("content"), problems);
        let id = match fields.get("tool_call_id") {
            None | Some(Value::Null) => "",
            Some(Value::String(id)) => id,
            Some(other) => {
                problems.add("tool_call_id", format!("must be a string, found {}", found(other)));
                return None;
            }
        };
        let name = fields.get("name").and_then(Value::as_str);
        let position = if id.is_empty() {
            let by_name = self.open_calls.iter().position(|(_, called)| Some(called.as_str()) == name);
            by_name.or(if self.open_calls.is_empty() { None } else { Some(0) })
        } else {
            self.open_calls.iter().position(|(open, _)| open == id)
        };
        let call_id = match position {
            Some(position) => self.open_calls.remove(position).0,
            // A result whose call is gone is left to the runtime, which repairs histories.
            None if !id.is_empty() => id.to_owned(),
            None => {
                problems.add("tool_call_id", "is missing: name the call that this result answers");
                return None;
            }
        };
        Some(ToolResult { call_id, text, is_error: false })
    }
}

fn read_calls(position: usize, fields: &Map<String, Value>, problems: &mut Problems) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    let listed = match fields.get("tool_calls") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(listed)) => listed,
        Some(other) => {
            problems.add("tool_calls", format!("must be an array of calls, found {}", found(other)));
            return calls;
        }
    };
    for (number, call) in listed.iter().enumerate() {
        let id = format!("call_{position}_{number}");
        calls.extend(
            problems.within(&format!("tool_calls[{number}]"), |problems| read_call(call, id, problems)),
        );
    }
    if let Some(call) = fields.get("function_call").filter(|call| !call.is_null()) {
        let call = json!({"function": call});
        calls.extend(read_call(&call, format!("call_{position}_{}", listed.len()), problems));
    }
    tell_apart(&mut calls);
    calls
}

fn read_call(call: &Value, generated_id: String, problems: &mut Problems) -> Option<ToolCall> {
    let (Some(fields), Some(function)) = (call.as_object(), call.get("function").and_then(Value::as_object))
    else {
        let shape = "{\"id\": …, \"type\": \"function\", \"function\": {\"name\": …, \"arguments\": …}}";
        problems.add("", format!("must be an object {shape}, found {}", found(call)));
        return None;
    };
    let name = match function.get("name") {
        Some(Value::String(name)) if !name.is_empty() => name.clone(),
        other => {
            let other = other.map_or("nothing".to_owned(), found);
            problems.add("function.name", format!("must be the function's name, found {other}"));
            return None;
        }
    };
    let arguments = match function.get("arguments") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) if text.trim().is_empty() => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let id = fields.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let mut opaque = unknown_fields(fields, &["id", "type", "function", "index", WIRE_ID_FIELD]);
    let of_function = unknown_fields(function, &["name", "arguments"]);
    if !of_function.is_empty() {
        opaque.insert("function".to_owned(), of_function.into());
    }
    Some(ToolCall { id: id.map_or(generated_id, str::to_owned), name, arguments, opaque })
}

/// Gives calls of one round that share an id ids of their own; towards the provider they get the shared one back.
fn tell_apart(calls: &mut [ToolCall]) {
    for position in 1..calls.len() {
        let (before, rest) = calls.split_at_mut(position);
        let call = &mut rest[0];
        if before.iter().all(|other| other.id != call.id) {
            continue;
        }
        let shared = call.id.clone();
        let free = (2..).map(|number: u32| format!("{shared}_{number}"));
        let mut free = free.filter(|id| before.iter().all(|other| other.id != *id));
        call.id = free.next().unwrap_or_default();
        call.opaque.insert(WIRE_ID_FIELD.to_owned(), shared.into());
    }
}

fn required_text(fields: &Map<String, Value>, problems: &mut Problems) -> String {
    match fields.get("content") {
        None | Some(Value::Null) => {
            problems.add("content", "is missing: send a string or an array of parts");
            String::new()
        }
        content => text_of(content, problems),
    }
}

/// The text of a content that may hold nothing but text.
fn text_of(content: Option<&Value>, problems: &mut Problems) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().enumerate().map(|(position, part)| {
                let text = text_of_part(part);
                if text.is_none() {
                    let kind = found(part.get("type").unwrap_or(part));
                    let message = format!("found {kind}; here only parts of type \"text\" are allowed");
                    problems.add(&format!("content[{position}]"), message);
                }
                text.unwrap_or_default()
            });
            texts.collect()
        }
        Some(other) => {
            problems.add(
                "content",
                format!("must be a string, null or an array of parts, found {}", found(other)),
            );
            String::new()
        }
    }
}

fn text_of_part(part: &Value) -> Option<&str> {
    match part.get("type").and_then(Value::as_str) {
        _ if part.is_string() => part.as_str(),
        Some("text" | "input_text" | "output_text") | None => part.get("text")?.as_str(),
        Some("refusal") => part.get("refusal")?.as_str(),
        Some(_) => None,
    }
}

fn user_parts(fields: &mut Map<String, Value>, problems: &mut Problems) -> Vec<Part> {
    let mut parts = match fields.shift_remove("content") {
        Some(Value::String(text)) => vec![Part::Text(text)],
        Some(Value::Array(listed)) => {
            let read = listed.into_iter().enumerate().filter_map(|(position, part)| {
                problems.within(&format!("content[{position}]"), |problems| user_part(part, problems))
            });
            read.collect()
        }
        None | Some(Value::Null) => {
            problems.add("content", "is missing: send a string or an array of parts");
            Vec::new()
        }
        Some(other) => {
            problems
                .add("content", format!("must be a string or an array of parts, found {}", found(&other)));
            Vec::new()
        }
    };
    if let Some(name) = problems.text(fields, "name") {
        parts.push(Part::Opaque(json!({"type": MESSAGE_FIELDS_TYPE, "name": name})));
    }
    parts
}

fn user_part(part: Value, problems: &mut Problems) -> Option<Part> {
    if let Some(text) = text_of_part(&part) {
        return Some(Part::Text(text.to_owned()));
    }
    let kind = part.get("type").and_then(Value::as_str).map(str::to_owned);
    match kind.as_deref() {
        Some("text" | "input_text") => {
            problems.add("text", "must be a string");
            None
        }
        Some("image_url" | "input_image") => {
            let image = part.get("image_url").unwrap_or(&Value::Null);
            let url = image.as_str().or_else(|| image.get("url")?.as_str());
            let Some(url) = url.filter(|url| !url.is_empty()) else {
                problems.add("image_url.url", "is missing: give the image's address or a `data:` URL");
                return None;
            };
            let detail = image.get("detail").or(part.get("detail")).and_then(Value::as_str);
            Some(Part::Image { url: url.to_owned(), detail: detail.map(str::to_owned) })
        }
        Some(MESSAGE_FIELDS_TYPE) | None => {
            problems.add("type", "must be the part's type, such as \"text\" or \"image_url\"");
            None
        }
        Some(_) => Some(Part::Opaque(part)),
    }
}

fn unknown_fields(fields: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let unknown = fields.iter().filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}
