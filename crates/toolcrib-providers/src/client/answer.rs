//! The answer to one request, as it comes in.
//!
//! What the body holds decides how it is read: an event stream, or a complete answer in JSON, which some hosts send
//! although a stream was asked for. After an error or the end nothing follows; dropping the stream ends the request.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt};
use http::header::{CONTENT_TYPE, HeaderMap};
use tokio_util::sync::DropGuard;
use toolcrib_egress::operator::{OperatorBody, OperatorResponse};
use toolcrib_runtime::model::{ModelError, ModelErrorKind, ModelEvent, ModelStream};

use super::Provider;
use super::error::of_body;
use crate::wire::chat_completions::ChunkDecoder;
use crate::wire::problem::looks_like_html;
use crate::wire::sse::SseReader;

/// The largest complete answer in bytes.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// How much of a web page is read for the operator.
const PAGE_EXCERPT: usize = 4096;

pub(super) struct Answer {
    provider: Arc<Provider>,
    model: String,
    body: OperatorBody,
    form: Form,
    decoder: ChunkDecoder,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    ended: bool,
    _guard: DropGuard,
}

/// What the body turned out to be.
enum Form {
    /// Nothing but white space was seen yet.
    Unknown,
    Events(SseReader),
    Json(BytesMut),
    Page(BytesMut),
}

impl Answer {
    pub(super) fn new(
        provider: Arc<Provider>,
        model: String,
        response: OperatorResponse,
        decoder: ChunkDecoder,
        guard: DropGuard,
    ) -> Self {
        let form = declared_form(&response.headers);
        Self {
            provider,
            model,
            body: response.body,
            form,
            decoder,
            ready: VecDeque::new(),
            ended: false,
            _guard: guard,
        }
    }

    pub(super) fn into_stream(self) -> ModelStream {
        stream::unfold(self, |mut answer| async move {
            let item = answer.next().await?;
            Some((item, answer))
        })
        .boxed()
    }

    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.advance().await {
                self.ended = true;
                if error.kind == ModelErrorKind::ToolsUnsupported {
                    self.provider.learned.note_without_tools(&self.model);
                }
                self.ready.push_back(Err(error));
            }
        }
    }

    /// Reads one more piece of the body, or its end.
    async fn advance(&mut self) -> Result<(), ModelError> {
        let piece = if self.decoder.is_finishing() {
            let limit = self.provider.settings.timeouts.after_finish;
            tokio::time::timeout(limit, self.body.next()).await.unwrap_or(None)
        } else {
            self.body.next().await
        };
        match piece {
            Some(Ok(piece)) => self.take(piece),
            // The answer itself was complete.
            Some(Err(_)) if self.decoder.is_finishing() => self.end(),
            Some(Err(failure)) => Err(of_body(&self.provider.source, &failure)),
            None => self.end(),
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<(), ModelError> {
        if let Form::Unknown = self.form {
            match piece.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[') => self.form = Form::Json(BytesMut::new()),
                Some(b'<') => self.form = Form::Page(BytesMut::new()),
                Some(_) => self.form = Form::Events(SseReader::default()),
            }
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Events(reader) => {
                reader.push(piece);
                self.take_events()
            }
            Form::Json(whole) if whole.len() + piece.len() > LARGEST_ANSWER => {
                Err(self.provider.source.bad_response("sent an answer that is too large", &[]))
            }
            Form::Json(whole) => {
                whole.extend_from_slice(&piece);
                Ok(())
            }
            Form::Page(page) => {
                page.extend_from_slice(&piece);
                if page.len() >= PAGE_EXCERPT { self.end() } else { Ok(()) }
            }
        }
    }

    fn take_events(&mut self) -> Result<(), ModelError> {
        let Form::Events(reader) = &mut self.form else { return Ok(()) };
        let too_large = |_| self.provider.source.bad_response("sent an event that is too large", &[]);
        while let Some(event) = reader.next_event().map_err(too_large)? {
            self.ready.extend(self.decoder.decode(&event.data)?.into_iter().map(Ok));
            if self.decoder.is_done() {
                return self.finish();
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), ModelError> {
        let source = &self.provider.source;
        match &mut self.form {
            Form::Unknown => {}
            Form::Events(reader) => {
                let too_large = |_| source.bad_response("sent an event that is too large", &[]);
                if let Some(event) = reader.finish().map_err(too_large)? {
                    self.ready.extend(self.decoder.decode(&event.data)?.into_iter().map(Ok));
                }
            }
            Form::Json(whole) => {
                let whole = std::mem::take(whole);
                self.ready.extend(self.decoder.decode(&whole)?.into_iter().map(Ok));
                let decoder = std::mem::replace(&mut self.decoder, ChunkDecoder::new(Arc::clone(source), 0));
                self.ready.extend(decoder.finish_complete()?.into_iter().map(Ok));
                self.ended = true;
                return Ok(());
            }
            Form::Page(page) if looks_like_html(page) => return Err(source.web_page(page)),
            Form::Page(page) => {
                return Err(source.bad_response("answered with something that is not JSON", page));
            }
        }
        self.finish()
    }

    fn finish(&mut self) -> Result<(), ModelError> {
        let empty = ChunkDecoder::new(Arc::clone(&self.provider.source), 0);
        let decoder = std::mem::replace(&mut self.decoder, empty);
        self.ready.extend(decoder.finish()?.into_iter().map(Ok));
        self.ended = true;
        Ok(())
    }
}

/// What the head of the answer says; a stream's type is not believed, since hosts send it with complete answers.
fn declared_form(headers: &HeaderMap) -> Form {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/html" | "application/xhtml+xml" => Form::Page(BytesMut::new()),
        _ => Form::Unknown,
    }
}
