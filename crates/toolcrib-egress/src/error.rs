//! Why a fetch failed: for the model in one safe sentence, for the operator in full.
//!
//! Invariant: [`FetchError::public_message`] holds no address, no port state and nothing of the URL, and is
//! the same for every target that is private, does not exist or does not answer. What `Display` and `Debug`
//! say is for the operator's log alone; URLs appear there without query and user information.

use std::fmt;

use url::Url;

use crate::limits::URL_BYTES;
use crate::policy::Rule;
use crate::target::UrlProblem;

/// Why a fetch failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The text is no URL that may be read. The model can repair it.
    #[error("the URL {url} cannot be read: {problem}")]
    InvalidUrl {
        /// What was asked for.
        url: SafeUrl,
        /// What is wrong with the text.
        problem: UrlProblem,
    },
    /// The policy refuses the target.
    #[error("refused {url}: {rule}")]
    Refused {
        /// The refused hop.
        url: SafeUrl,
        /// The rule that refused it.
        rule: Rule,
    },
    /// The name could not be resolved.
    #[error("resolving the host of {url} failed: {source}")]
    Dns {
        /// The hop.
        url: SafeUrl,
        /// The resolver's answer.
        source: ResolveError,
    },
    /// No judged address accepted a connection.
    #[error("connecting for {url} failed: {detail}")]
    Connect {
        /// The hop.
        url: SafeUrl,
        /// The last attempt's failure.
        detail: String,
    },
    /// The TLS handshake failed, or the certificate does not fit the host.
    #[error("the TLS handshake for {url} failed: {detail}")]
    Tls {
        /// The hop.
        url: SafeUrl,
        /// The TLS library's words.
        detail: String,
    },
    /// A budget of time ran out.
    #[error("reading {url} took too long while {phase}")]
    Timeout {
        /// The hop.
        url: SafeUrl,
        /// What was going on when the time ran out.
        phase: Phase,
    },
    /// The answer is larger than a budget allows, and no part of it is usable.
    #[error("the answer of {url} is too large: {excess}")]
    TooLarge {
        /// The hop.
        url: SafeUrl,
        /// Which budget.
        excess: Excess,
    },
    /// The caller cannot read this kind of content.
    #[error("{url} has the media type {media_type}, which the caller does not read")]
    UnsupportedMediaType {
        /// The hop.
        url: SafeUrl,
        /// The media type, or words that say that there is none.
        media_type: String,
    },
    /// The server does not speak HTTP/1.1 correctly.
    #[error("the server of {url} answered wrongly: {detail}")]
    BadResponse {
        /// The hop.
        url: SafeUrl,
        /// What was wrong.
        detail: &'static str,
    },
    /// The redirect chain is longer than allowed.
    #[error("{url} is one redirect too many, {limit} are allowed")]
    TooManyRedirects {
        /// The hop that redirected once more.
        url: SafeUrl,
        /// How many are followed.
        limit: usize,
    },
    /// A redirect cannot be followed.
    #[error("the redirect of {url} cannot be followed: {problem}")]
    Redirect {
        /// The hop that redirected.
        url: SafeUrl,
        /// What is wrong with it.
        problem: RedirectProblem,
    },
    /// The caller gave up.
    #[error("reading {url} was cancelled")]
    Cancelled {
        /// What was asked for.
        url: SafeUrl,
    },
}

impl FetchError {
    /// The one sentence that may leave the server: to a model, or to whoever called.
    #[must_use]
    pub fn public_message(&self) -> String {
        match self {
            Self::Refused { .. }
            | Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Timeout { phase: Phase::Resolving | Phase::Connecting, .. } => NOT_REACHABLE.to_owned(),
            Self::InvalidUrl { problem, .. } => format!("This URL cannot be read: {problem}."),
            Self::Tls { .. } => {
                "The page cannot be read: a secure connection to its server could not be established."
                    .to_owned()
            }
            Self::Timeout { phase: Phase::Waiting, .. } => {
                "The page was not read: too many other pages are being read at the moment.".to_owned()
            }
            Self::Timeout { .. } => "The page cannot be read: its server took too long.".to_owned(),
            Self::TooLarge { excess, .. } => format!("The page cannot be read: it is too large ({excess})."),
            Self::UnsupportedMediaType { media_type, .. } => {
                format!("The page cannot be read: its content type is {media_type}.")
            }
            Self::BadResponse { .. } => {
                "The page cannot be read: its server sent an answer that is not valid HTTP.".to_owned()
            }
            Self::TooManyRedirects { limit, .. } => {
                format!("The page cannot be read: it redirects more than {limit} times.")
            }
            Self::Redirect { problem, .. } => {
                format!("The page cannot be read: it redirects to a URL that is not allowed ({problem}).")
            }
            Self::Cancelled { .. } => "Reading the page was cancelled.".to_owned(),
        }
    }

    /// A stable word for the kind of failure: for logs and counters.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidUrl { .. } => "invalid_url",
            Self::Refused { .. } => "refused",
            Self::Dns { .. } => "dns",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::Timeout { .. } => "timeout",
            Self::TooLarge { .. } => "too_large",
            Self::UnsupportedMediaType { .. } => "unsupported_media_type",
            Self::BadResponse { .. } => "bad_response",
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::Redirect { .. } => "redirect",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Whether a policy decided, as opposed to the network or the server.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::InvalidUrl { .. } | Self::Refused { .. } | Self::Redirect { .. })
    }
}

/// Said of everything that is private, does not exist or does not answer, so that none can be told from
/// another.
const NOT_REACHABLE: &str =
    "The page cannot be read: its address does not exist, does not answer, or is not on the public Internet.";

/// A URL as logs may hold it: without user information, query and fragment, and of bounded length.
#[derive(Clone, PartialEq, Eq)]
pub struct SafeUrl(String);

impl SafeUrl {
    /// Strips a parsed URL.
    #[must_use]
    pub fn new(url: &Url) -> Self {
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        // Both fail only where there can be no user information to begin with.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        Self(bounded(url.as_str()))
    }

    /// Strips a text that may not even parse.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match Url::parse(text.trim()) {
            Ok(url) if url.has_host() => Self::new(&url),
            _ => {
                // Without a parser that agrees, any part of it may be a password.
                if text.contains('@') {
                    return Self("(a URL with user information)".to_owned());
                }
                let end = text.find(['?', '#']).unwrap_or(text.len());
                let shown: String = text[..end].chars().filter(|c| !c.is_control()).collect();
                Self(bounded(&shown))
            }
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SafeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

fn bounded(text: &str) -> String {
    let mut end = text.len().min(URL_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// What a fetch was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Waiting for other fetches to the same host, or for the process's own limit.
    Waiting,
    /// Looking up the name.
    Resolving,
    /// Connecting, the TLS handshake included.
    Connecting,
    /// Sending the request and reading the header.
    Headers,
    /// Reading the body.
    Body,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting for its turn",
            Self::Resolving => "resolving the name",
            Self::Connecting => "connecting",
            Self::Headers => "reading the header",
            Self::Body => "reading the body",
        })
    }
}

/// Which budget of size an answer exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Excess {
    /// The announced length of the body.
    DeclaredLength,
    /// The header section, or one of its counts.
    Header,
    /// The body, or what it decodes to.
    Body,
    /// What the body decodes to, measured against its size on the wire.
    Ratio,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeclaredLength => "its announced length is above the limit",
            Self::Header => "its header is above the limit",
            Self::Body => "its body is above the limit",
            Self::Ratio => "its compressed body expands too far",
        })
    }
}

/// Why a redirect cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectProblem {
    /// The target is no URL that may be read.
    #[error("{0}")]
    Target(#[from] UrlProblem),
    /// The target is not valid UTF-8.
    #[error("its text is not UTF-8")]
    NotText,
    /// Two `Location` fields that differ.
    #[error("it names two different targets")]
    TwoTargets,
    /// The target gives up TLS.
    #[error("it leads from https to http")]
    Downgrade,
}

/// What the resolver could not do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The name does not exist.
    #[error("the name does not exist")]
    NoSuchName,
    /// The name exists, without an address.
    #[error("the name has no address")]
    NoAddress,
    /// No answer within the resolver's own time.
    #[error("no answer in time")]
    Timeout,
    /// The name servers failed.
    #[error("{0}")]
    Failed(String),
}
