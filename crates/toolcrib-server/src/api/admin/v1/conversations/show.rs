//! `GET /api/v1/conversations/{id}`: a conversation as it was seen: what was said, the calls, the sources.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};
use toolcrib_runtime::message::Message;
use toolcrib_storage::record::{ConversationMessage, Owner};
use toolcrib_storage::store::{ConversationStore, RunStore};

use crate::api::{Path, shapes};
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn show(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let owner = &principal.owner;
    let unknown = || ApiError::not_found("conversation", &id);
    let conversation = app.store.conversation(owner, &id).await?.ok_or_else(unknown)?;
    let stored = app.store.messages(owner, &id).await?.ok_or_else(unknown)?;
    let mut calls: HashMap<String, Vec<Value>> = HashMap::new();
    for record in app.store.conversation_traces(owner, &id).await?.unwrap_or_default() {
        calls.entry(record.run_id).or_default().push(Value::Object(shapes::trace(&record.trace)));
    }
    Ok(Json(json!({
        "id": conversation.id,
        "title": conversation.title,
        "temporary": conversation.temporary,
        "required_confidence": conversation.labels.required_confidence.name(),
        "messages": messages(&app, owner, stored, calls).await?,
    })))
}

/// One entry per message of the user, and one per run: a run's rounds make up one answer.
async fn messages(
    app: &App,
    owner: &Owner,
    stored: Vec<ConversationMessage>,
    mut calls: HashMap<String, Vec<Value>>,
) -> Result<Vec<Value>, ApiError> {
    let mut messages = Vec::new();
    let mut rest = stored.into_iter().peekable();
    while let Some(first) = rest.next() {
        let run_id = first.run_id.clone();
        let mut of_run = vec![first.message];
        while let Some(next) = rest.next_if(|next| next.run_id == run_id) {
            of_run.push(next.message);
        }
        // What was given before the last question, and that question; behind it stands what the run added.
        let asked =
            of_run.iter().rposition(|message| matches!(message, Message::User(_))).map_or(0, |last| last + 1);
        for message in of_run.drain(..asked) {
            let role = match &message {
                Message::User(_) => "user",
                Message::Assistant(_) => "assistant",
                Message::System(_) | Message::ToolResult(_) => continue,
            };
            messages.push(json!({"role": role, "content": message.text()}));
        }
        let answers =
            of_run.iter().filter(|message| matches!(message, Message::Assistant(_))).map(Message::text);
        let run = app.store.run(owner, &run_id).await?;
        let waiting = app.shown_waiting(&run_id).await?;
        let (content, asked) = match waiting {
            Some(waiting) => (waiting.text, waiting.asked),
            None => (answers.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n"), Vec::new()),
        };
        messages.push(json!({
            "role": "assistant",
            "run_id": run_id,
            "content": content,
            "requires_approval": asked.iter().map(shapes::approval_request).collect::<Vec<_>>(),
            "calls": calls.remove(&run_id).unwrap_or_default(),
            "sources": run.iter().flat_map(|run| &run.sources).map(shapes::source).collect::<Vec<_>>(),
            "state": run.as_ref().map(|run| run.state.name()),
            "reason": run.as_ref().and_then(|run| run.reason.clone()),
        }));
    }
    Ok(messages)
}
