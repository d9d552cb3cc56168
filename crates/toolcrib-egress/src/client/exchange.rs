//! One request and one response on one connection.
//!
//! Invariant: what is sent holds nothing about anybody: no cookie, no credentials, no referrer.

use http::header::HeaderMap;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};

use super::{FetchRequest, Hop, media_type};
use crate::body::decode::Decoder;
use crate::body::{self, Body, BodyError};
use crate::connector::Stream;
use crate::error::{Excess, FetchError, Phase, SafeUrl};
use crate::http1::{Head, Wire, WireError};
use crate::target::Target;

/// A connection on which the header of a response was read.
pub(super) struct Answer {
    pub(super) head: Head,
    wire: Wire<Box<dyn Stream>>,
}

impl Hop<'_> {
    /// Sends the request and reads the header.
    pub(super) async fn ask(
        &self,
        target: &Target,
        mut stream: Box<dyn Stream>,
        request: &FetchRequest<'_>,
    ) -> Result<Answer, FetchError> {
        let until = self.deadline.min(Instant::now() + self.shared.budgets.headers);
        let url = || SafeUrl::new(target.url());
        let text = self.request_text(target, request);
        let exchange = async {
            stream.write_all(&text).await.map_err(|_| WireError::Lost)?;
            stream.flush().await.map_err(|_| WireError::Lost)?;
            let mut wire = Wire::new(stream);
            let head = wire.head(&self.shared.budgets).await?;
            Ok(Answer { head, wire })
        };
        match timeout_at(until, exchange).await {
            Err(_) => Err(FetchError::Timeout { url: url(), phase: Phase::Headers }),
            Ok(Err(error)) => Err(of_wire(url(), &error)),
            Ok(Ok(answer)) => Ok(answer),
        }
    }

    fn request_text(&self, target: &Target, request: &FetchRequest<'_>) -> Vec<u8> {
        let mut text = Vec::with_capacity(512);
        let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| text.extend_from_slice(part));
        put(&[b"GET ", target.path_and_query().as_bytes(), b" HTTP/1.1\r\n"]);
        put(&[b"Host: ", target.host_field().as_bytes(), b"\r\n"]);
        put(&[b"User-Agent: ", self.shared.user_agent.as_bytes(), b"\r\n"]);
        put(&[b"Accept: ", safe_value(request.accept).unwrap_or("*/*").as_bytes(), b"\r\n"]);
        if let Some(language) = safe_value(request.accept_language) {
            put(&[b"Accept-Language: ", language.as_bytes(), b"\r\n"]);
        }
        put(&[b"Accept-Encoding: gzip, deflate, br, zstd\r\nConnection: close\r\n\r\n"]);
        text
    }

    /// Judges the header and reads the body.
    pub(super) async fn read(
        &self,
        target: &Target,
        answer: &mut Answer,
        request: &FetchRequest<'_>,
    ) -> Result<Body, FetchError> {
        let url = || SafeUrl::new(target.url());
        let Answer { head, wire } = answer;
        if !is_readable(head, request) {
            if !(200..300).contains(&head.status) {
                return Ok(Body { bytes: bytes::Bytes::new(), partial: None });
            }
            return Err(unsupported(url(), &head.fields));
        }
        let decoder = Decoder::for_fields(&head.fields)
            .map_err(|detail| FetchError::BadResponse { url: url(), detail })?;
        let start_check = if (200..300).contains(&head.status) { request.accepts_start } else { None };
        body::read(wire, head.framing, decoder, &self.shared.budgets, self.deadline, start_check)
            .await
            .map_err(|error| match error {
                BodyError::Wire(error) => of_wire(url(), &error),
                BodyError::Coding(detail) => FetchError::BadResponse { url: url(), detail },
                BodyError::TooLarge(excess) => FetchError::TooLarge { url: url(), excess },
                BodyError::Timeout => FetchError::Timeout { url: url(), phase: BodyError::PHASE },
                BodyError::Unreadable => unsupported(url(), &head.fields),
            })
    }
}

fn is_readable(head: &Head, request: &FetchRequest<'_>) -> bool {
    let Some(accepts) = request.accepts_media_type else { return true };
    matches!(head.status, 204 | 304) || accepts(media_type(&head.fields).as_deref())
}

fn unsupported(url: SafeUrl, fields: &HeaderMap) -> FetchError {
    let media_type = media_type(fields).unwrap_or_else(|| "unknown".to_owned());
    FetchError::UnsupportedMediaType { url, media_type }
}

fn of_wire(url: SafeUrl, error: &WireError) -> FetchError {
    match error {
        WireError::Protocol(detail) => FetchError::BadResponse { url, detail },
        WireError::Header => FetchError::TooLarge { url, excess: Excess::Header },
        WireError::Lost => FetchError::BadResponse { url, detail: "the connection ended early" },
    }
}

/// A value that can stand in a header field; anything else is not sent at all.
fn safe_value(value: Option<&str>) -> Option<&str> {
    value.filter(|value| !value.is_empty() && value.bytes().all(|byte| (b' '..0x7f).contains(&byte)))
}
