//! The JSON of runs, traces and sources, the same in every door.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toolcrib_runtime::journal::Trace;
use toolcrib_runtime::offering::approval::ApprovalRequest;
use toolcrib_runtime::run::{Incomplete, Pause, RunEvent};
use toolcrib_runtime::tool::{LibraryItem, Source};

use crate::error::ApiError;

/// A source.
pub(crate) fn source(source: &Source) -> Value {
    json!({
        "title": source.title,
        "url": source.url,
        "origin": source.origin.name(),
        "tool_call_id": source.tool_call_id,
    })
}

/// The record of a call.
pub(crate) fn trace(trace: &Trace) -> Map<String, Value> {
    let value = json!({
        "order": trace.order,
        "round": trace.round,
        "call_id": trace.call_id,
        "tool": trace.tool_id,
        "name": trace.display_name,
        "icon": trace.icon,
        "status": trace.status.name(),
        "executed": trace.executed,
        "message": trace.status_message,
        "arguments": trace.arguments,
        "repairs": trace.repairs,
        "result": trace.result_text,
        "result_json": trace.result_json,
        "result_characters": trace.result_characters,
        "truncation": trace.truncation,
        "sources": trace.sources.iter().map(source).collect::<Vec<_>>(),
        "required_confidence": trace.required_confidence.name(),
        "untrusted": trace.untrusted,
        "cost": trace.cost,
        "library_items": trace.library_items.iter().map(library_item).collect::<Vec<_>>(),
        "started_at": trace.started_at.to_string(),
        "duration_ms": trace.duration_ms,
    });
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Any event, whole: for clients that follow a run without a dialect.
pub(crate) fn whole_event(event: &RunEvent) -> Value {
    match event {
        RunEvent::Text(text) => json!({"type": "text", "text": text}),
        RunEvent::Reasoning(text) => json!({"type": "reasoning", "text": text}),
        RunEvent::ClientCallProgress { position, id, name, arguments_delta } => json!({
            "type": "client_call_progress",
            "position": position,
            "id": id,
            "name": name,
            "arguments_delta": arguments_delta,
        }),
        RunEvent::Failed(error) => {
            let envelope = ApiError::from((**error).clone()).envelope();
            json!({"type": "failed", "error": envelope["error"]})
        }
        other => self::event(other, None).unwrap_or_else(|| json!({"type": "unknown"})),
    }
}

fn library_item(item: &LibraryItem) -> Value {
    json!({"id": item.id, "media_type": item.media_type, "title": item.title})
}

/// A call that waits for a person, with the address at which it is answered.
pub(crate) fn approval_request(request: &ApprovalRequest) -> Map<String, Value> {
    let value = json!({
        "id": request.id,
        "endpoint": format!("/api/v1/approvals/{}", request.id),
        "run_id": request.run_id,
        "conversation_id": request.conversation_id,
        "order": request.order,
        "call_id": request.call_id,
        "tool": request.tool_id,
        "name": request.display_name,
        "icon": request.icon,
        "arguments": request.arguments,
        "reason": request.reason,
        "created_at": request.created_at.to_string(),
        "expires_at": request.expires_at.to_string(),
    });
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// What a client that shows no events reads when a run waits.
pub(crate) fn waiting_as_text(pause: &Pause) -> String {
    let mut text = "Waiting for approval:".to_owned();
    for request in &pause.approvals {
        let _ = write!(
            text,
            "\n- {} with {} ({}). Answer with POST /api/v1/approvals/{} and {{\"answer\": \"allow_once\"}} or \
             {{\"answer\": \"deny\"}}.",
            request.display_name, request.arguments, request.reason, request.id
        );
    }
    text
}

/// Why an answer is incomplete.
pub(crate) fn incomplete(incomplete: Option<&Incomplete>) -> Value {
    match incomplete {
        Some(reason) => json!({"code": reason.code(), "message": reason.to_string()}),
        None => Value::Null,
    }
}

/// An event as the `toolcrib` object of a stream; `None` for what the dialect itself tells.
pub(crate) fn event(event: &RunEvent, conversation_id: Option<&str>) -> Option<Value> {
    match event {
        RunEvent::Started { run_id } => {
            Some(json!({"type": "run_started", "run_id": run_id, "conversation_id": conversation_id}))
        }
        RunEvent::CallStarted { order, call_id, tool_id, display_name, icon, arguments } => Some(json!({
            "type": "call_started",
            "order": order,
            "call_id": call_id,
            "tool": tool_id,
            "name": display_name,
            "icon": icon,
            "arguments": arguments,
        })),
        RunEvent::CallProgress { call_id, text } => {
            Some(json!({"type": "call_progress", "call_id": call_id, "text": text}))
        }
        RunEvent::CallHeld(request) => {
            let mut object = Map::from_iter([("type".to_owned(), Value::from("call_held"))]);
            object.extend(approval_request(request));
            Some(Value::Object(object))
        }
        RunEvent::Paused(pause) => Some(json!({
            "type": "paused",
            "requires_approval": pause.approvals.iter().map(approval_request).collect::<Vec<_>>(),
            "sources": pause.sources.iter().map(source).collect::<Vec<_>>(),
            "rounds": pause.rounds,
        })),
        RunEvent::CallEnded(ended) => {
            let mut object = Map::from_iter([("type".to_owned(), Value::from("call_ended"))]);
            object.extend(trace(ended));
            Some(Value::Object(object))
        }
        RunEvent::Finished(answer) => Some(json!({
            "type": "finished",
            "incomplete": incomplete(answer.incomplete.as_ref()),
            "sources": answer.sources.iter().map(source).collect::<Vec<_>>(),
            "rounds": answer.rounds,
        })),
        RunEvent::Text(_)
        | RunEvent::Reasoning(_)
        | RunEvent::ClientCallProgress { .. }
        | RunEvent::Failed(_) => None,
    }
}

/// The sources as a Markdown list, for clients that show no annotations.
pub(crate) fn sources_as_markdown(sources: &[Source]) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let item = |(index, source): (usize, &Source)| {
        format!("\n{}. [{}]({})", index + 1, link_text(&source.title), link_target(&source.url))
    };
    let items: String = sources.iter().enumerate().map(item).collect();
    format!("\n\n**Sources used by tools**\n{items}")
}

/// Text of a page between the brackets of a link: nothing in it is Markdown or HTML (`CommonMark` 0.31, section 2.4).
fn link_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(character, '\\' | '[' | ']' | '<' | '>' | '`' | '*' | '_' | '&' | '!') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// A URL between the parentheses of a link, with what would end it written as percent codes (RFC 3986, section 2.1).
fn link_target(url: &str) -> String {
    let mut encoded = String::with_capacity(url.len());
    for character in url.chars() {
        if character.is_whitespace() || character.is_control() || "()<>[]\\`".contains(character) {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                let _ = write!(encoded, "%{byte:02X}");
            }
        } else {
            encoded.push(character);
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use toolcrib_runtime::tool::Origin;

    use super::*;

    #[test]
    fn titles_and_addresses_of_pages_cannot_leave_their_link() {
        let check = |title: &str, url: &str, expected: &str| {
            let source =
                Source { title: title.into(), url: url.into(), origin: Origin::Tool, tool_call_id: None };
            let list = sources_as_markdown(&[source]);
            assert_eq!(list.lines().last(), Some(expected), "{title} {url}");
        };
        check("A page", "https://a.example/b?c=d&e=%20", "1. [A page](https://a.example/b?c=d&e=%20)");
        check(r"end\](http://evil)", "https://a.example/", r"1. [end\\\](http://evil)](https://a.example/)");
        check("a\n# b `c` <img>", "https://a.example/", r"1. [a # b \`c\` \<img\>](https://a.example/)");
        check("t", "https://a.example/x (1) <y>", "1. [t](https://a.example/x%20%281%29%20%3Cy%3E)");
    }
}
