//! `POST /v1/chat/completions`: a run, streamed or not.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use toolcrib_providers::wire::chat_completions::{
    Completion, decode_request, encode_response, url_citations,
};
use toolcrib_runtime::run::{Answer, Pause, RunEvent};

use super::{chat_stream, wishes};
use crate::api::shapes;
use crate::app::App;
use crate::error::{ApiError, INTERNAL, INVALID_REQUEST};
use crate::run::{Started, Wishes};

const RUN_ID: HeaderName = HeaderName::from_static("x-toolcrib-run-id");
const CONVERSATION_ID: HeaderName = HeaderName::from_static("x-toolcrib-conversation-id");

pub(super) async fn create(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let body = app.json_body(body).await?;
    let chat = decode_request(&body)?;
    if chat.n > 1 {
        let message = "`n`: 1 is the only number of answers; ask again for another";
        return Err(ApiError::new(INVALID_REQUEST, message).with_param("n"));
    }
    let wishes = wishes::read(&app, &principal, chat.toolcrib.as_ref(), &headers)?;
    let model = app.models.resolve(&chat.model).await?;
    if let Some(assistant) = &wishes.assistant {
        wishes::fits(assistant, &*model, &chat.request)?;
    }
    let started = app.start_run(&principal, model, chat.request, &wishes).await?;
    let ids = [(RUN_ID, Some(started.run_id.clone())), (CONVERSATION_ID, started.conversation_id.clone())];
    let created = app.clock.now().as_second();
    let mut response = if chat.stream {
        chat_stream::respond(started, wishes, created, chat.include_usage).await?
    } else {
        whole(started, &wishes, created).await?
    };
    for (name, id) in ids {
        if let Some(value) = id.and_then(|id| HeaderValue::from_str(&id).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// Waits for the whole answer.
async fn whole(mut started: Started, wishes: &Wishes, created: i64) -> Result<Response, ApiError> {
    let mut events = Vec::new();
    while let Some(event) = started.events.recv().await {
        if wishes.events {
            events.extend(shapes::event(&event, started.conversation_id.as_deref()));
        }
        match event {
            RunEvent::Finished(answer) => {
                let completion = completion(&started, *answer, wishes, created, events);
                return Ok(Json(encode_response(&completion)).into_response());
            }
            RunEvent::Paused(pause) => {
                let completion = waiting(&started, &pause, wishes, created, events);
                return Ok(Json(encode_response(&completion)).into_response());
            }
            RunEvent::Failed(error) => return Err((*error).into()),
            _ => {}
        }
    }
    Err(ApiError::new(INTERNAL, "the run ended without an answer or an error"))
}

/// A run that waits for people, as an answer: what was said, and what is asked.
fn waiting(
    started: &Started,
    pause: &Pause,
    wishes: &Wishes,
    created: i64,
    events: Vec<serde_json::Value>,
) -> Completion {
    let separator = if pause.text.is_empty() { "" } else { "\n\n" };
    let text = format!("{}{separator}{}", pause.text, shapes::waiting_as_text(pause));
    let mut extension = json!({
        "run_id": started.run_id,
        "conversation_id": started.conversation_id,
        "requires_approval": pause.approvals.iter().map(shapes::approval_request).collect::<Vec<_>>(),
        "sources": pause.sources.iter().map(shapes::source).collect::<Vec<_>>(),
    });
    if wishes.events {
        extension["events"] = events.into();
    }
    Completion {
        id: completion_id(&started.run_id),
        created,
        model: started.model.identity().full_name(),
        citations: url_citations(&pause.sources, &text),
        text,
        reasoning: String::new(),
        calls: Vec::new(),
        opaque: serde_json::Map::new(),
        finish: Some(toolcrib_runtime::model::FinishReason::Stop),
        usage: Some(pause.usage),
        toolcrib: Some(extension),
    }
}

fn completion(
    started: &Started,
    answer: Answer,
    wishes: &Wishes,
    created: i64,
    events: Vec<serde_json::Value>,
) -> Completion {
    let mut text = answer.text;
    if wishes.sources_as_text {
        text.push_str(&shapes::sources_as_markdown(&answer.sources));
    }
    let mut extension = json!({
        "run_id": started.run_id,
        "conversation_id": started.conversation_id,
        "incomplete": shapes::incomplete(answer.incomplete.as_ref()),
        "sources": answer.sources.iter().map(shapes::source).collect::<Vec<_>>(),
    });
    if wishes.events {
        extension["events"] = events.into();
    }
    Completion {
        id: completion_id(&started.run_id),
        created,
        model: started.model.identity().full_name(),
        citations: url_citations(&answer.sources, &text),
        text,
        reasoning: answer.reasoning,
        calls: answer.client_calls,
        opaque: serde_json::Map::new(),
        finish: Some(finish(answer.finish, answer.incomplete.is_some())),
        usage: Some(answer.usage),
        toolcrib: Some(extension),
    }
}

/// OpenAI's clients know an incomplete answer by the reason `length`.
pub(super) fn finish(
    finish: toolcrib_runtime::model::FinishReason,
    incomplete: bool,
) -> toolcrib_runtime::model::FinishReason {
    use toolcrib_runtime::model::FinishReason;
    if incomplete && finish == FinishReason::Stop { FinishReason::Length } else { finish }
}

pub(super) fn completion_id(run_id: &str) -> String {
    format!("chatcmpl-{}", run_id.trim_start_matches("run_"))
}
