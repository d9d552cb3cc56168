//! Responses of a configured endpoint, and their bodies as streams.
//!
//! Invariant: a piece is passed on when it arrives; a body that is dropped before its end takes its
//! connection with it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::{HeaderMap, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::OperatorError;
use super::connect::of_hyper;

/// A response: its header, and its body to come.
#[derive(Debug)]
pub struct OperatorResponse {
    /// The status. Any status is a response.
    pub status: StatusCode,
    /// The fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: OperatorBody,
}

impl OperatorResponse {
    pub(super) fn new(response: Response<Incoming>, life: Life) -> Self {
        let (head, incoming) = response.into_parts();
        Self { status: head.status, headers: head.headers, body: OperatorBody::new(incoming, life) }
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// [`OperatorError::TooLarge`] above `limit` bytes, and whatever the stream fails with.
    pub async fn collect(mut self, limit: usize) -> Result<Bytes, OperatorError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.body.next().await {
            let piece = piece?;
            if piece.len() > limit.saturating_sub(whole.len()) {
                return Err(OperatorError::TooLarge { endpoint: self.body.life.endpoint.clone(), limit });
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.into())
    }
}

/// What ends a body early.
pub(super) struct Life {
    pub(super) endpoint: String,
    pub(super) idle: Duration,
    pub(super) deadline: Option<Instant>,
    pub(super) cancel: CancellationToken,
}

/// A body as a stream of pieces. After an error it ends.
pub struct OperatorBody {
    incoming: Option<Incoming>,
    life: Life,
    timer: Pin<Box<Sleep>>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl OperatorBody {
    fn new(incoming: Incoming, life: Life) -> Self {
        let timer = Box::pin(sleep_until(life.next_limit()));
        let cancelled = Box::pin(life.cancel.clone().cancelled_owned());
        Self { incoming: Some(incoming), life, timer, cancelled }
    }

    /// Ends the stream with `error`; the connection goes with it.
    fn end(&mut self, error: OperatorError) -> Poll<Option<Result<Bytes, OperatorError>>> {
        self.incoming = None;
        Poll::Ready(Some(Err(error)))
    }
}

impl Life {
    fn next_limit(&self) -> Instant {
        let idle = Instant::now() + self.idle;
        self.deadline.map_or(idle, |deadline| deadline.min(idle))
    }
}

impl Stream for OperatorBody {
    type Item = Result<Bytes, OperatorError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let endpoint = || this.life.endpoint.clone();
        let Some(incoming) = this.incoming.as_mut() else { return Poll::Ready(None) };
        if this.cancelled.as_mut().poll(cx).is_ready() {
            let error = OperatorError::Cancelled { endpoint: endpoint() };
            return this.end(error);
        }
        if this.life.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            let error = OperatorError::Timeout { endpoint: endpoint(), phase: "sending its answer" };
            return this.end(error);
        }
        while let Poll::Ready(frame) = Pin::new(&mut *incoming).poll_frame(cx) {
            match frame {
                None => {
                    this.incoming = None;
                    return Poll::Ready(None);
                }
                Some(Err(error)) => {
                    let error = of_hyper(endpoint(), &error);
                    return this.end(error);
                }
                Some(Ok(frame)) => {
                    // Trailers carry nothing that a caller needs.
                    let Ok(data) = frame.into_data() else { continue };
                    let limit = this.life.next_limit();
                    this.timer.as_mut().reset(limit);
                    if !data.is_empty() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
            }
        }
        ready!(this.timer.as_mut().poll(cx));
        let error = OperatorError::Timeout { endpoint: endpoint(), phase: "waiting for more of its answer" };
        this.end(error)
    }
}

impl fmt::Debug for OperatorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorBody").field("endpoint", &self.life.endpoint).finish_non_exhaustive()
    }
}
