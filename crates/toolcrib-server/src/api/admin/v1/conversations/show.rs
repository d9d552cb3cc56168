//! `GET /api/v1/conversations/{id}`: a conversation as it was seen: what was said, the calls, the sources.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::HeaderMap;
use serde_json::{Value, json};
use toolcrib_runtime::message::Message;
use toolcrib_storage::record::{ConversationMessage, Owner};
use toolcrib_storage::store::{ConversationStore, RunStore};

use crate::api::shapes;
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
        "required_confidence": conversation.required_confidence.name(),
        "messages": messages(&app, owner, stored, calls).await?,
    })))
}

/// One entry per user message and one per run: a run's rounds make up one answer.
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
        let mut of_run = vec![first];
        while let Some(next) = rest.next_if(|next| next.run_id == run_id) {
            of_run.push(next);
        }
        let texts = |wanted: fn(&Message) -> bool| {
            let texts =
                of_run.iter().filter(|stored| wanted(&stored.message)).map(|stored| stored.message.text());
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
        };
        messages
            .push(json!({"role": "user", "content": texts(|message| matches!(message, Message::User(_)))}));
        let run = app.store.run(owner, &run_id).await?;
        messages.push(json!({
            "role": "assistant",
            "run_id": run_id,
            "content": texts(|message| matches!(message, Message::Assistant(_))),
            "calls": calls.remove(&run_id).unwrap_or_default(),
            "sources": run.iter().flat_map(|run| &run.sources).map(shapes::source).collect::<Vec<_>>(),
            "state": run.as_ref().map(|run| run.state.name()),
            "reason": run.as_ref().and_then(|run| run.reason.clone()),
        }));
    }
    Ok(messages)
}
