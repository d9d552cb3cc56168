//! The JSON of runs, traces and sources, the same in every door.

use serde_json::{Map, Value, json};
use toolcrib_runtime::journal::Trace;
use toolcrib_runtime::run::{Incomplete, RunEvent};
use toolcrib_runtime::tool::Source;

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
        "started_at": trace.started_at.to_string(),
        "duration_ms": trace.duration_ms,
    });
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
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
        let title = source.title.replace('[', "\\[").replace(']', "\\]").replace('\n', " ");
        let url = source.url.replace('(', "%28").replace(')', "%29");
        format!("\n{}. [{title}]({url})", index + 1)
    };
    let items: String = sources.iter().enumerate().map(item).collect();
    format!("\n\n**Sources used by tools**\n{items}")
}
