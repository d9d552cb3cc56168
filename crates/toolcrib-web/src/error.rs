//! Why a page could not be read.
//!
//! Invariant: [`PageError::public_message`] says nothing about private networks; details for operators stay in
//! the source chain.

use thiserror::Error;
use toolcrib_egress::FetchError;

/// Why a page could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PageError {
    /// The page could not be fetched.
    #[error("the page could not be fetched")]
    Fetch(#[from] FetchError),
    /// The server answered with an error status.
    #[error("{host} answered with HTTP status {status}{}", reason(*status))]
    HttpStatus {
        /// The host that answered.
        host: String,
        /// The status code.
        status: u16,
    },
    /// The server asks for a sign-in (HTTP status 401).
    #[error("{host} requires a sign-in to show this page (HTTP status 401)")]
    SignInNeeded {
        /// The host that answered.
        host: String,
    },
    /// The document has a format that is not read.
    #[error("documents of the type {media_type} cannot be read as text")]
    Unsupported {
        /// The media type, such as `image/png`.
        media_type: String,
    },
    /// The server sent no content at all.
    #[error("the page has no content")]
    Empty,
    /// Reading the page broke off through a fault of this program.
    #[error("reading the page failed through an internal fault")]
    Internal,
}

impl PageError {
    /// One sentence that may be shown outside: what happened, without details of any network.
    pub fn public_message(&self) -> String {
        match self {
            Self::Fetch(error) => error.public_message(),
            other => other.to_string(),
        }
    }

    /// The error for a status that is no success.
    pub(crate) fn of_status(host: &str, status: u16) -> Self {
        match status {
            401 => Self::SignInNeeded { host: host.to_owned() },
            status => Self::HttpStatus { host: host.to_owned(), status },
        }
    }
}

/// What a status means, for the ones that people meet.
fn reason(status: u16) -> &'static str {
    match status {
        403 => ": access is forbidden",
        404 => ": there is no such page",
        408 | 504 => ": the server timed out",
        410 => ": the page was removed",
        429 => ": too many requests",
        451 => ": the page is withheld for legal reasons",
        500..=599 => ": the server has a fault",
        _ => "",
    }
}
