//! Why a page could not be read, in words for the model: what happened and what to do next.
//!
//! No text for the model holds an address, a port's state or any part of a URL but its host; a target that policy
//! refuses and a private one that does not answer read the same.

use std::error::Error;
use std::fmt::Write as _;

use toolcrib_egress::{FetchError, Phase, Policy};
use toolcrib_runtime::tool::ToolError;
use toolcrib_web::PageError;

use super::has_private_hosts;

/// The error of a call whose page could not be read under `policy`.
pub(super) fn explain(error: &PageError, policy: &Policy) -> ToolError {
    let message = error.public_message();
    let stop = if message.ends_with('.') { "" } else { "." };
    if is_blocked(error, policy) {
        return ToolError::blocked(format!(
            "{message}{stop} Use another source, or ask the user to paste the text; do not try the same in another \
             spelling."
        ));
    }
    let (advice, retryable) = advice(error);
    ToolError::Failed {
        for_model: format!("{message}{stop} {advice}"),
        for_operator: chain(error),
        retryable,
        cost: 0,
    }
}

/// Whether policy decided. A name that does not exist must look like one that only the own network knows, and where
/// private hosts can be reached, one that does not answer must look like one that is refused.
fn is_blocked(error: &PageError, policy: &Policy) -> bool {
    match error {
        PageError::Fetch(
            FetchError::Refused { .. } | FetchError::Redirect { .. } | FetchError::Dns { .. },
        ) => true,
        PageError::Fetch(FetchError::InvalidUrl { problem, .. }) => problem.is_policy(),
        PageError::Fetch(
            FetchError::Connect { .. } | FetchError::Timeout { phase: Phase::Connecting, .. },
        ) => has_private_hosts(policy),
        _ => false,
    }
}

/// What to do next, and whether the same call may succeed later.
fn advice(error: &PageError) -> (&'static str, bool) {
    const OTHER: &str = "Use another source.";
    match error {
        PageError::Fetch(error) => match error {
            FetchError::InvalidUrl { .. } => (
                "Give an absolute http or https URL exactly as the user, a search result or a page wrote it.",
                false,
            ),
            FetchError::Connect { .. } => {
                ("Check the spelling of the host, or use another source; do not guess other URLs.", true)
            }
            FetchError::Timeout { .. } => ("Try once more later, or use another source.", true),
            FetchError::Cancelled { .. } => ("", false),
            _ => (OTHER, false),
        },
        PageError::SignInNeeded { .. } => {
            ("Ask the user to paste the text, or use a source that is public.", false)
        }
        PageError::HttpStatus { status: 404 | 410, .. } => {
            ("Check the URL, or search for the page; do not guess other URLs.", false)
        }
        PageError::HttpStatus { status: 408 | 425 | 429 | 500..=599, .. } => {
            ("Do not repeat the call now; use another source, or tell the user to try later.", true)
        }
        PageError::Unsupported { .. } => {
            ("Look for an HTML or text version of it, or use another source.", false)
        }
        _ => (OTHER, false),
    }
}

/// The whole chain of causes, for the log.
fn chain(error: &PageError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
