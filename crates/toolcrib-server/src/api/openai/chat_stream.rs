//! A run as a Chat Completions stream: chunks as they come, comments while there is nothing to say.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::{HeaderValue, header};
use toolcrib_providers::wire::chat_completions::{ChunkEncoder, url_citations};
use toolcrib_runtime::model::FinishReason;
use toolcrib_runtime::run::{Answer, Pause, RunEvent};

use super::chat_completions::{completion_id, finish};
use crate::active::Events;
use crate::api::shapes;
use crate::error::{ApiError, INTERNAL};
use crate::middleware::request_id;
use crate::run::{Started, Wishes};

/// How long a failure may still be told by a status: after that the stream begins.
const HEADERS_WAIT: Duration = Duration::from_secs(10);
/// How long a stream may be silent before a comment keeps its connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

struct Encoding {
    events: Events,
    encoder: ChunkEncoder,
    wishes: Wishes,
    conversation_id: Option<String>,
    request_id: Option<String>,
    done: bool,
}

/// The response, once the first thing has happened or a while has passed.
///
/// # Errors
/// A run that fails before it has said anything fails with a status.
pub(super) async fn respond(
    mut started: Started,
    wishes: Wishes,
    created: i64,
    include_usage: bool,
) -> Result<Response, ApiError> {
    let mut first = Vec::new();
    let waiting = tokio::time::sleep(HEADERS_WAIT);
    tokio::pin!(waiting);
    loop {
        let event = tokio::select! {
            event = started.events.recv() => event,
            () = &mut waiting => break,
        };
        match event {
            Some(RunEvent::Failed(error)) => return Err((*error).into()),
            None => return Err(ApiError::new(INTERNAL, "the run ended without an answer or an error")),
            // Whoever lets a run go on by itself wants to know at once how to find it again.
            Some(event @ RunEvent::Started { .. }) if !wishes.background => first.push(event),
            Some(event) => {
                first.push(event);
                break;
            }
        }
    }
    let id = completion_id(&started.run_id);
    let mut encoding = Encoding {
        encoder: ChunkEncoder::new(id, created, started.model.identity().full_name(), include_usage),
        events: started.events,
        wishes,
        conversation_id: started.conversation_id,
        request_id: request_id(),
        done: false,
    };
    let mut beginning = BytesMut::from(&encoding.encoder.role()[..]);
    for event in first {
        beginning.extend_from_slice(&encoding.encode(event));
    }
    let chunks = stream::unfold((Some(beginning.freeze()), encoding), |(ready, mut encoding)| async move {
        let bytes = match ready {
            Some(bytes) => bytes,
            None => encoding.next().await?,
        };
        Some((Ok::<_, std::convert::Infallible>(bytes), (None, encoding)))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(chunks)).into_response())
}

impl Encoding {
    /// The next bytes; whatever is already waiting is sent with them. `None` after the end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.done {
            return None;
        }
        loop {
            let event = match tokio::time::timeout(KEEP_ALIVE, self.events.recv()).await {
                Ok(Some(event)) => event,
                Ok(None) => {
                    self.done = true;
                    let error = ApiError::new(INTERNAL, "the run ended without an answer or an error");
                    return Some(self.error(&error));
                }
                Err(_) => return Some(self.encoder.comment("working")),
            };
            let bytes = self.encode(event);
            if !bytes.is_empty() {
                return Some(bytes);
            }
        }
    }

    fn encode(&mut self, event: RunEvent) -> Bytes {
        let mut bytes = BytesMut::new();
        let extension = shapes::event(&event, self.conversation_id.as_deref());
        match (extension, self.wishes.events) {
            (Some(extension), true) => bytes.extend_from_slice(&self.encoder.extension(&extension)),
            // Others only see that something goes on.
            (Some(_), false) => bytes.extend_from_slice(&self.encoder.comment("working")),
            (None, _) => {}
        }
        match event {
            RunEvent::Text(text) => {
                bytes.extend_from_slice(&self.encoder.text(&text));
            }
            RunEvent::Reasoning(text) => bytes.extend_from_slice(&self.encoder.reasoning(&text)),
            RunEvent::ClientCallProgress { id, name, arguments_delta, .. } => {
                bytes.extend_from_slice(&self.encoder.call_progress(&id, &name, &arguments_delta));
            }
            RunEvent::Finished(answer) => bytes.extend_from_slice(&self.end(*answer)),
            RunEvent::Failed(error) => {
                self.done = true;
                bytes.extend_from_slice(&self.error(&ApiError::from(*error)));
            }
            RunEvent::Paused(pause) => bytes.extend_from_slice(&self.wait(&pause)),
            RunEvent::Started { .. }
            | RunEvent::CallHeld(_)
            | RunEvent::CallStarted { .. }
            | RunEvent::CallProgress { .. }
            | RunEvent::CallEnded(_) => {}
        }
        bytes.freeze()
    }

    /// The same object as in a response with an error status, as the last event of the stream.
    fn error(&self, error: &ApiError) -> Bytes {
        let mut envelope = error.envelope();
        if let Some(id) = &self.request_id {
            envelope["error"]["request_id"] = id.as_str().into();
        }
        Bytes::from(format!("data: {envelope}\n\n"))
    }

    /// The end of a stream whose run waits for people: what is asked stands in the text, where no event tells it.
    fn wait(&mut self, pause: &Pause) -> Bytes {
        self.done = true;
        let mut bytes = BytesMut::new();
        if !self.wishes.events {
            let separator = if pause.text.is_empty() { "" } else { "\n\n" };
            bytes.extend_from_slice(
                &self.encoder.text(&format!("{separator}{}", shapes::waiting_as_text(pause))),
            );
        }
        let citations = url_citations(&pause.sources, &pause.text);
        bytes.extend_from_slice(&self.encoder.finish(
            &FinishReason::Stop,
            &citations,
            &serde_json::Map::new(),
        ));
        bytes.extend_from_slice(&self.encoder.usage(&pause.usage));
        bytes.extend_from_slice(&self.encoder.done());
        bytes.freeze()
    }

    fn end(&mut self, answer: Answer) -> Bytes {
        self.done = true;
        let mut bytes = BytesMut::new();
        if self.wishes.sources_as_text {
            let list = shapes::sources_as_markdown(&answer.sources);
            if !list.is_empty() {
                bytes.extend_from_slice(&self.encoder.text(&list));
            }
        }
        // The encoder knows what was sent while the calls grew.
        for call in &answer.client_calls {
            bytes.extend_from_slice(&self.encoder.call(call));
        }
        let finish = finish(answer.finish, answer.incomplete.is_some());
        let citations = url_citations(&answer.sources, &answer.text);
        bytes.extend_from_slice(&self.encoder.finish(&finish, &citations, &serde_json::Map::new()));
        bytes.extend_from_slice(&self.encoder.usage(&answer.usage));
        bytes.extend_from_slice(&self.encoder.done());
        bytes.freeze()
    }
}
