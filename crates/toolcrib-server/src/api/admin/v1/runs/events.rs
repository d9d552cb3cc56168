//! `GET /api/v1/runs/{id}/events`: the events of a run as they come, from any place on.
//!
//! Server-sent events, each with its number as `id`; `?after=N` or the header `Last-Event-ID` picks up behind the one
//! with that number. Of a run whose events are not kept (any more) the stored record is told, as events of its own;
//! its end is told in any case. A run that goes on after it waited begins to count anew.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::{HeaderMap, HeaderValue, Uri, header};
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_runtime::journal::{RunState, TraceStatus};
use toolcrib_runtime::message::Message;
use toolcrib_storage::record::{Owner, RunRecord};
use toolcrib_storage::store::{ConversationStore, RunStore};

use crate::active::Watcher;
use crate::api::{Path, query, shapes};
use crate::app::App;
use crate::error::{ApiError, INVALID_REQUEST};

/// How long the stream may be silent before a comment keeps its connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    after: Option<usize>,
}

pub(in crate::api::admin::v1) async fn follow(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let after = match query::<Query>(&uri)?.after {
        Some(after) => after,
        None => last_event_id(&headers)?,
    };
    if let Some(watcher) = app.active.of(&principal.owner, &id).and_then(|going| going.watch(after)) {
        return Ok(respond(live(watcher)));
    }
    let run = app.store.run(&principal.owner, &id).await?;
    let run = run.ok_or_else(|| ApiError::not_found("run", &id))?;
    let told = stored(&app, &principal.owner, &run).await?;
    let skipped = after.min(told.len().saturating_sub(1));
    let events = told.into_iter().enumerate().map(|(index, event)| Ok(encode(index + 1, &event)));
    Ok(respond(stream::iter(events.skip(skipped).collect::<Vec<_>>())))
}

fn last_event_id(headers: &HeaderMap) -> Result<usize, ApiError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(0) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| {
        let message = "the header `Last-Event-ID` is the number of an event";
        ApiError::new(INVALID_REQUEST, message).with_param("last-event-id")
    })
}

fn live(watcher: Watcher) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    stream::unfold(watcher, |mut watcher| async move {
        let bytes = match tokio::time::timeout(KEEP_ALIVE, watcher.next()).await {
            Ok(Some((number, event))) => encode(number, &shapes::whole_event(&event)),
            Ok(None) => return None,
            Err(_) => Bytes::from_static(b": waiting\n\n"),
        };
        Some((Ok(bytes), watcher))
    })
}

fn encode(number: usize, event: &Value) -> Bytes {
    Bytes::from(format!("id: {number}\ndata: {event}\n\n"))
}

fn respond(events: impl Stream<Item = Result<Bytes, std::convert::Infallible>> + Send + 'static) -> Response {
    let mut response = Body::from_stream(events).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// What the store knows of a run, told as events.
async fn stored(app: &App, owner: &Owner, run: &RunRecord) -> Result<Vec<Value>, ApiError> {
    let waiting = app.shown_waiting(&run.id).await?;
    let asks = waiting.as_ref().is_some_and(|waiting| !waiting.asked.is_empty());
    if matches!(run.state, RunState::Running | RunState::Waiting) && !asks {
        // About to go on, or going on with its one client: whoever comes again must not be told things twice.
        return Ok(vec![json!({"type": run.state.name(), "state": run.state.name()})]);
    }
    let mut events =
        vec![json!({"type": "run_started", "run_id": run.id, "conversation_id": run.conversation_id})];
    let traces = app.store.run_traces(owner, &run.id).await?.unwrap_or_default();
    for trace in traces.into_iter().filter(|trace| trace.status != TraceStatus::Pending) {
        let mut object = shapes::trace(&trace);
        object.insert("type".to_owned(), json!("call_ended"));
        events.push(Value::Object(object));
    }
    if let Some(waiting) = &waiting {
        if !waiting.text.is_empty() {
            events.push(json!({"type": "text", "text": waiting.text}));
        }
    } else if let Some(conversation_id) = &run.conversation_id {
        let messages = app.store.messages(owner, conversation_id).await?.unwrap_or_default();
        let of_run = messages.iter().filter(|stored| stored.run_id == run.id);
        let said = of_run.filter(|stored| matches!(stored.message, Message::Assistant(_)));
        let said = said.map(|stored| stored.message.text());
        let text = said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
        if !text.is_empty() {
            events.push(json!({"type": "text", "text": text}));
        }
    }
    if let Some(waiting) = waiting {
        events.push(json!({
            "type": "paused",
            "requires_approval": waiting.asked.iter().map(shapes::approval_request).collect::<Vec<_>>(),
            "sources": run.sources.iter().map(shapes::source).collect::<Vec<_>>(),
            "rounds": run.rounds,
        }));
        return Ok(events);
    }
    let kind = match run.state {
        RunState::Completed | RunState::Incomplete => "finished",
        _ => "failed",
    };
    events.push(json!({
        "type": kind,
        "state": run.state.name(),
        "reason": run.reason,
        "sources": run.sources.iter().map(shapes::source).collect::<Vec<_>>(),
        "rounds": run.rounds,
    }));
    Ok(events)
}
