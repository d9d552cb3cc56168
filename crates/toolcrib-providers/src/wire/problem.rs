//! Turns what a provider says about a failure into a [`ModelError`].
//!
//! Every message names the provider, and text that came from outside passes [`ErrorSource::redact`] before it is
//! shortened, so that neither a key nor half of one gets into a message.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use toolcrib_runtime::model::{ModelError, ModelErrorKind};

/// The most characters of a provider's own message that a caller reads.
const MESSAGE_CHARACTERS: usize = 500;

/// The most characters of a provider's answer that go into the operator's log.
const EXCERPT_CHARACTERS: usize = 400;

/// Secrets shorter than this are not looked for: they occur in ordinary words.
const SHORTEST_SECRET: usize = 4;

/// Which provider failed, and what must not be repeated of what it says.
#[derive(Debug, Clone)]
pub struct ErrorSource {
    provider: String,
    /// The longest first, so that one that contains another is hidden whole.
    secrets: Vec<SecretString>,
}

/// What a provider's error object says, in whichever of the common shapes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problem {
    /// The message.
    pub message: String,
    /// The machine-readable code and type, joined by a blank, in lower case.
    pub code: String,
    /// The status that stands in the object itself.
    pub status: Option<u16>,
}

impl ErrorSource {
    /// The source of errors of this provider instance.
    pub fn new(provider: impl Into<String>, mut secrets: Vec<SecretString>) -> Self {
        secrets.retain(|secret| secret.expose_secret().len() >= SHORTEST_SECRET);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Self { provider: provider.into(), secrets }
    }

    /// An error: the provider's name, then `what` it did. `what` must not hold text from outside.
    pub fn error(&self, kind: ModelErrorKind, what: &str) -> ModelError {
        ModelError::new(kind, format!("provider `{}` {what}", self.provider))
    }

    /// The text with every secret replaced.
    pub fn redact(&self, text: &str) -> String {
        self.secrets
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret.expose_secret(), "[key]"))
    }

    /// The beginning of an answer, for the operator's log.
    pub fn excerpt(&self, body: &[u8]) -> String {
        shortened(&self.redact(&String::from_utf8_lossy(body)), EXCERPT_CHARACTERS)
    }

    /// An answer that is not of the dialect, with its beginning for the operator.
    pub fn bad_response(&self, what: &str, body: &[u8]) -> ModelError {
        self.error(ModelErrorKind::BadResponse, what).with_detail(self.excerpt(body))
    }

    /// A web page where an answer of the dialect was expected.
    pub fn web_page(&self, body: &[u8]) -> ModelError {
        let what = "answered with a web page instead of JSON: its base URL is probably wrong (it usually ends in `/v1`)";
        self.bad_response(what, body)
    }

    /// What an answer with an error status means.
    pub fn refusal(&self, status: u16, retry_after: Option<Duration>, body: &[u8]) -> ModelError {
        let parsed = serde_json::from_slice(body).ok();
        let plain = || Problem { message: plain_message(body), ..Problem::default() };
        let problem = parsed.as_ref().map_or_else(plain, Problem::of);
        let is_page = parsed.is_none() && looks_like_html(body);
        if is_page && matches!(status, 404 | 405) {
            return self.web_page(body);
        }
        let kind = problem.kind(Some(status));
        let mut error = self.described(kind, Some(status), &problem);
        error.retry_after = retry_after;
        error.with_detail(self.excerpt(body))
    }

    /// What an error object in a body or a stream means.
    pub fn reported(&self, value: &Value) -> ModelError {
        let problem = Problem::of(value);
        self.described(problem.kind(None), problem.status, &problem)
            .with_detail(self.excerpt(value.to_string().as_bytes()))
    }

    fn described(&self, kind: ModelErrorKind, status: Option<u16>, problem: &Problem) -> ModelError {
        let what = match kind {
            ModelErrorKind::Unauthorized => "refused the key",
            ModelErrorKind::RateLimited => "got too many requests for now",
            ModelErrorKind::QuotaExhausted => "says that the account has nothing left",
            ModelErrorKind::ModelNotFound => "has no such model or path",
            ModelErrorKind::BadRequest => "found the request wrong",
            ModelErrorKind::ContextTooLong => "says that the conversation is longer than the model's context",
            ModelErrorKind::ToolsUnsupported => "says that this model takes no tools",
            ModelErrorKind::Timeout => "ran out of time",
            _ => "failed",
        };
        let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
        let said = shortened(&self.redact(problem.message.trim()), MESSAGE_CHARACTERS);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        self.error(kind, &format!("{what}{status}{said}"))
    }
}

impl Problem {
    /// Reads `{"error": {…}}`, `{"error": "…"}`, `{"object": "error", …}`, `{"detail": …}`, an array around one of
    /// them, or the bare inner object.
    pub fn of(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let inner = match value.get("error") {
            Some(Value::String(message)) => {
                return Self { message: message.clone(), code: codes(value), status: status(value) };
            }
            Some(inner) if !inner.is_null() => inner,
            _ => value,
        };
        let message =
            ["message", "detail", "msg", "error_description"].iter().find_map(|key| match inner.get(*key) {
                Some(Value::String(message)) => Some(message.clone()),
                Some(other) if !other.is_null() => Some(other.to_string()),
                _ => None,
            });
        let message =
            message.or_else(|| inner.as_str().map(str::to_owned)).unwrap_or_else(|| inner.to_string());
        Self { message: deepest_message(inner, message), code: codes(inner), status: status(inner) }
    }

    /// The kind of failure, from the status line or the object, the code, and the usual wordings.
    pub fn kind(&self, status: Option<u16>) -> ModelErrorKind {
        let status = status.or(self.status);
        let message = self.message.to_ascii_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
        let coded = |codes: &[&str]| codes.iter().any(|code| self.code.contains(code));
        if status == Some(402)
            || coded(&["insufficient_quota", "billing", "exceeded_current_quota", "insufficient_balance"])
            || says(&[
                "exceeded your current quota",
                "credit balance is too low",
                "insufficient balance",
                "insufficient credits",
            ])
        {
            return ModelErrorKind::QuotaExhausted;
        }
        if refuses_tools(&message) {
            return ModelErrorKind::ToolsUnsupported;
        }
        if coded(&["context_length", "exceed_context_size", "string_above_max_length"])
            || says(&[
                "maximum context length",
                "context length exceeded",
                "available context size",
                "context window",
                "prompt is too long",
                "input is too long",
                "too many tokens",
            ])
        {
            return ModelErrorKind::ContextTooLong;
        }
        if coded(&["model_not_found"])
            || (says(&["model"]) && says(&["not found", "does not exist", "no such"]))
        {
            return ModelErrorKind::ModelNotFound;
        }
        match status {
            Some(status) => kind_of_status(status),
            None if coded(&["rate_limit", "too_many_requests"]) => ModelErrorKind::RateLimited,
            None if coded(&["invalid_api_key", "authentication", "permission"]) => {
                ModelErrorKind::Unauthorized
            }
            None if coded(&["invalid_request"]) => ModelErrorKind::BadRequest,
            None if coded(&["timeout"]) => ModelErrorKind::Timeout,
            None => ModelErrorKind::ProviderFailed,
        }
    }
}

/// Whether a body is a web page rather than JSON or an event stream.
pub fn looks_like_html(body: &[u8]) -> bool {
    let start = body.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(body.len());
    let head = String::from_utf8_lossy(&body[start..body.len().min(start + 64)]).to_ascii_lowercase();
    ["<!doctype", "<html", "<head", "<body", "<?xml", "<!--"].iter().any(|tag| head.starts_with(tag))
}

fn kind_of_status(status: u16) -> ModelErrorKind {
    match status {
        401 | 403 => ModelErrorKind::Unauthorized,
        404 => ModelErrorKind::ModelNotFound,
        408 | 504 => ModelErrorKind::Timeout,
        413 => ModelErrorKind::ContextTooLong,
        429 => ModelErrorKind::RateLimited,
        400..=499 => ModelErrorKind::BadRequest,
        _ => ModelErrorKind::ProviderFailed,
    }
}

fn refuses_tools(message: &str) -> bool {
    let subject = ["tool", "function call"].iter().any(|word| message.contains(word));
    let refused = [
        "does not support tool",
        "doesn't support tool",
        "not support tools",
        "not support tool use",
        "not support tool call",
        "not support function call",
        "support tool use",
        "tools is not supported",
        "`tools` is not supported",
        "'tools' is not supported",
        "tool calling is not supported",
        "`tool calling` is not supported",
        "tool use is not supported",
        "function calling is not enabled",
        "function calling is not supported",
        "requires --enable-auto-tool-choice",
        "requires --jinja",
    ];
    subject && refused.iter().any(|phrase| message.contains(phrase))
}

/// A gateway may wrap the host's own error as JSON text in `metadata.raw`.
fn deepest_message(inner: &Value, message: String) -> String {
    let raw = inner.pointer("/metadata/raw").and_then(Value::as_str);
    match raw.filter(|raw| !raw.trim().is_empty()) {
        Some(raw) => {
            let parsed = serde_json::from_str::<Value>(raw).ok().filter(Value::is_object);
            let said = parsed.map_or_else(|| raw.to_owned(), |parsed| Problem::of(&parsed).message);
            format!("{message}: {said}")
        }
        None => message,
    }
}

fn codes(object: &Value) -> String {
    let texts = ["code", "type", "status"].iter().filter_map(|key| object.get(*key).and_then(Value::as_str));
    texts.collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

fn status(object: &Value) -> Option<u16> {
    let numbers = ["code", "status", "status_code"].iter().filter_map(|key| {
        let value = object.get(*key)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    });
    let mut numbers = numbers.filter_map(|number| u16::try_from(number).ok());
    numbers.find(|number| (400..600).contains(number))
}

fn plain_message(body: &[u8]) -> String {
    if looks_like_html(body) { String::new() } else { String::from_utf8_lossy(body).trim().to_owned() }
}

fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
