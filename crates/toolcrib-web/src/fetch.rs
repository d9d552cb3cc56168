//! A URL to a document: fetches through the egress and reads what came.
//!
//! Invariant: no connection is opened but by `toolcrib-egress`; what cannot be read is refused before its body
//! is fetched; the CPU work runs where it blocks nobody.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolcrib_egress::{Egress, FetchError, FetchRequest, Fetched, Policy, SafeUrl};

use crate::document::Document;
use crate::error::PageError;
use crate::formats;
use crate::read::read_document;

/// The formats that are read, the preferred first (RFC 9110, section 12.5.1).
const ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,text/markdown;q=0.9,text/plain;q=0.8,application/json;q=0.8,*/*;q=0.5";

/// Which page to read, and how.
#[derive(Debug, Clone)]
pub struct PageRequest<'a> {
    /// The URL as it was written.
    pub url: &'a str,
    /// What the fetch may reach.
    pub policy: &'a Policy,
    /// The value of `Accept-Language`, such as `de,en;q=0.5`; not sent when `None`.
    pub accept_language: Option<&'a str>,
    /// An outer bound on the fetch, redirects included; the egress has bounds of its own.
    pub timeout: Option<Duration>,
    /// Pairs for the audit log: who asked, and in what context.
    pub context: Vec<(String, String)>,
}

impl<'a> PageRequest<'a> {
    /// A request with the defaults of all other fields.
    pub fn new(url: &'a str, policy: &'a Policy) -> Self {
        Self { url, policy, accept_language: None, timeout: None, context: Vec::new() }
    }
}

/// Fetches a page and reads it as a document.
///
/// # Errors
/// [`PageError`]: the fetch failed or was cancelled, the server answered with an error status, the format is
/// not read, or there was no content.
pub async fn fetch_document(
    egress: &Egress,
    request: PageRequest<'_>,
    cancellation: &CancellationToken,
) -> Result<Document, PageError> {
    let doorkeeper = Doorkeeper::default();
    let url = request.url;
    let fetched = egress
        .fetch(
            FetchRequest {
                accept: Some(ACCEPT),
                accept_language: request.accept_language,
                accepts_media_type: Some(&|media_type| doorkeeper.admits_type(media_type)),
                accepts_start: Some(&|start| doorkeeper.admits_start(start)),
                timeout: request.timeout,
                context: request.context,
                ..FetchRequest::new(url, request.policy)
            },
            cancellation,
        )
        .await
        .map_err(|error| doorkeeper.explain(error))?;
    let reading = tokio::task::spawn_blocking(move || document(&fetched));
    tokio::select! {
        biased;
        () = cancellation.cancelled() => Err(FetchError::Cancelled { url: SafeUrl::from_text(url) }.into()),
        read = reading => read.unwrap_or(Err(PageError::Internal)),
    }
}

/// The document that an answer holds.
fn document(fetched: &Fetched) -> Result<Document, PageError> {
    if !(200..300).contains(&fetched.status) {
        return Err(PageError::of_status(fetched.final_url.host_str().unwrap_or_default(), fetched.status));
    }
    let mut document = read_document(&fetched.body, fetched.content_type(), &fetched.final_url)?;
    document.status_code = Some(fetched.status);
    document.zone = Some(fetched.zone);
    if !fetched.is_complete() {
        document.mark_truncated();
    }
    Ok(document)
}

/// Decides at the headers and the first bytes whether a body is worth fetching.
#[derive(Debug, Default)]
struct Doorkeeper {
    /// The answer names no media type, so its first bytes decide.
    unnamed: AtomicBool,
    /// The media type that the first bytes showed when they were refused.
    refused: Mutex<Option<String>>,
}

impl Doorkeeper {
    fn admits_type(&self, media_type: Option<&str>) -> bool {
        self.unnamed.store(media_type.is_none(), Ordering::Relaxed);
        media_type.is_none_or(formats::is_accepted_content_type)
    }

    fn admits_start(&self, start: &[u8]) -> bool {
        match formats::check_start(start, self.unnamed.load(Ordering::Relaxed)) {
            Ok(()) => true,
            Err(media_type) => {
                *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(media_type);
                false
            }
        }
    }

    /// Names the type that was refused.
    fn explain(&self, error: FetchError) -> PageError {
        let shown = self.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
        match error {
            FetchError::UnsupportedMediaType { media_type, .. } => {
                PageError::Unsupported { media_type: shown.unwrap_or(media_type) }
            }
            error => PageError::Fetch(error),
        }
    }
}
