//! The errors that callers see: one table of codes, one envelope.
//!
//! A message says what went wrong, where, and what to do. Causes that are no business of the caller are in the log,
//! under the request's id.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;
use toolcrib_providers::wire::chat_completions::{ErrorBody, WireError, encode_error};
use toolcrib_runtime::model::{ModelError, ModelErrorKind};
use toolcrib_runtime::run::{RunError, RunErrorKind};
use toolcrib_storage::store::{StoreError, StoreProblem};

/// A code that callers can rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The code itself.
    pub name: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The class, as OpenAI's clients know it.
    pub class: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($constant:ident $name:literal $status:literal $class:literal $meaning:literal $remedy:literal)*) => {
        $(pub(crate) static $constant: &Code =
            &Code { name: $name, status: $status, class: $class, meaning: $meaning, remedy: $remedy };)*
        /// Every code, in the order of the documentation.
        pub static CODES: &[&Code] = &[$($constant),*];
    };
}

codes! {
    INVALID_JSON "invalid_json" 400 "invalid_request_error"
        "The body is not JSON." "Send one JSON object with `Content-Type: application/json`."
    INVALID_REQUEST "invalid_request" 400 "invalid_request_error"
        "A field is missing, unknown or has the wrong type." "Change the field that `param` names."
    MISSING_KEY "missing_api_key" 401 "authentication_error"
        "The request carries no key." "Send `Authorization: Bearer tc_…`; `toolcrib keys create` makes a key."
    INVALID_KEY "invalid_api_key" 401 "authentication_error"
        "No key like this exists." "Check the key for missing characters, or make a new one."
    REVOKED_KEY "revoked_api_key" 401 "authentication_error"
        "The key was revoked." "Make a new key, or ask an administrator for one."
    EXPIRED_KEY "expired_api_key" 401 "authentication_error"
        "The key's time is over." "Make a new key, or ask an administrator for one."
    FORBIDDEN "forbidden" 403 "permission_error"
        "The caller may not do this." "Ask an administrator."
    WRONG_HOST "wrong_host" 403 "permission_error"
        "The request was addressed to a host name or came from a web page that the server does not serve."
        "Use the address that the server prints, or add the name to `server.hosts`."
    NOT_FOUND "not_found" 404 "invalid_request_error"
        "There is nothing under this address or id." "Check the address and the id."
    MODEL_NOT_FOUND "model_not_found" 404 "invalid_request_error"
        "No provider has this model." "`GET /v1/models` lists what there is."
    METHOD_NOT_ALLOWED "method_not_allowed" 405 "invalid_request_error"
        "The address exists, but not for this method." "Use the method that the documentation names."
    BODY_TIMEOUT "body_timeout" 408 "invalid_request_error"
        "The body did not arrive in time." "Send it again over a faster connection."
    CONFIDENCE_TOO_LOW "confidence_too_low" 409 "permission_error"
        "The conversation holds data that this provider may not see."
        "Continue with a provider of the confidence named, or begin a new conversation."
    ALREADY_ANSWERED "already_answered" 409 "invalid_request_error"
        "The approval has its answer; only the first counts." "Look at the run: it goes on with the first answer."
    REQUIRES_APPROVAL "requires_approval" 409 "permission_error"
        "A person has to agree to the call before it runs."
        "Look at the arguments in the message; whoever is at the machine repeats the call with `\"approved\": true`."
    CONFLICT "conflict" 409 "invalid_request_error"
        "Something else changed or holds what the request is about." "Look again, then repeat the request."
    BODY_TOO_LARGE "body_too_large" 413 "invalid_request_error"
        "The body is larger than the server takes." "Send less, or raise `server.max_body_bytes`."
    RATE_LIMITED "rate_limited" 429 "rate_limit_error"
        "Too many requests for now." "Wait as long as `Retry-After` says."
    PROVIDER_QUOTA "insufficient_quota" 429 "insufficient_quota"
        "The account at the provider has nothing left." "Pay the provider, or choose another model."
    PROVIDER_REJECTED "provider_rejected_request" 400 "invalid_request_error"
        "The provider found the request wrong." "Read the provider's message; it names what to change."
    CONTEXT_TOO_LONG "context_length_exceeded" 400 "invalid_request_error"
        "The conversation is longer than the model can read." "Shorten it, or choose a model with more context."
    TOOLS_UNSUPPORTED "tools_unsupported" 400 "invalid_request_error"
        "The model cannot call tools." "Choose another model, or send `\"toolcrib\": {\"tools\": \"none\"}`."
    PROVIDER_UNREACHABLE "provider_unreachable" 502 "api_error"
        "No connection to the provider." "Check that it runs and that its address is right: `toolcrib doctor`."
    PROVIDER_UNAUTHORIZED "provider_unauthorized" 502 "api_error"
        "The provider refused the installation's key." "An administrator has to correct the provider's key."
    PROVIDER_FAILED "provider_failed" 502 "api_error"
        "The provider failed or is overloaded." "Try again, or choose another model."
    PROVIDER_BAD_RESPONSE "provider_bad_response" 502 "api_error"
        "The provider answered something that is not its protocol." "Check the provider's base URL: `toolcrib doctor`."
    PROVIDER_CUT "provider_answer_cut" 502 "api_error"
        "The answer broke off in the middle." "Try again."
    PROVIDER_EMPTY "provider_empty_answer" 502 "api_error"
        "The provider returned neither text nor tool calls." "Try again, or choose another model."
    PROVIDER_TIMEOUT "provider_timeout" 504 "api_error"
        "The provider did not answer in time." "Try again, or choose another model."
    RUN_TIMEOUT "run_timeout" 504 "api_error"
        "There was no answer within the limit of a run." "Ask for less, or raise `limits.run_seconds`."
    RUN_CANCELLED "run_cancelled" 499 "api_error"
        "The run was stopped before it had an answer." "Ask again."
    STORAGE_FAILED "storage_failed" 503 "api_error"
        "The database could not be written or read; nothing was executed that could not be written down."
        "An administrator has to look at disk space and permissions: `toolcrib doctor`."
    SHUTTING_DOWN "shutting_down" 503 "api_error"
        "The server is stopping." "Try again in a moment."
    INTERNAL "internal_error" 500 "api_error"
        "A fault of the server." "Report it with the request id."
}

/// An error for a caller.
#[derive(Debug, Clone)]
pub struct ApiError {
    /// The code.
    pub code: &'static Code,
    /// What went wrong, with this request's names and values.
    pub message: String,
    /// The field that is wrong.
    pub param: Option<String>,
    /// When to come back.
    pub retry_after: Option<Duration>,
}

impl ApiError {
    pub(crate) fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), param: None, retry_after: None }
    }

    pub(crate) fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::new(NOT_FOUND, format!("there is no {what} {id:?}"))
    }

    /// OpenAI's envelope, with a hint on what to do.
    pub(crate) fn envelope(&self) -> Value {
        let mut envelope = encode_error(&self.body());
        envelope["error"]["hint"] = json!(self.code.remedy);
        if let Some(id) = crate::middleware::request_id() {
            envelope["error"]["request_id"] = json!(id);
        }
        envelope
    }

    /// The error as it stands inside a stream that has begun.
    pub(crate) fn body(&self) -> ErrorBody {
        ErrorBody {
            message: self.message.clone(),
            kind: self.code.class.to_owned(),
            param: self.param.clone(),
            code: Some(self.code.name.to_owned()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self.envelope())).into_response();
        if let Some(wait) = self.retry_after
            && let Ok(seconds) = HeaderValue::from_str(&wait.as_secs().max(1).to_string())
        {
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        if self.code == MISSING_KEY {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<WireError> for ApiError {
    fn from(error: WireError) -> Self {
        let body = error.body();
        Self { code: INVALID_REQUEST, message: body.message, param: body.param, retry_after: None }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match &error.problem {
            StoreProblem::UnknownPlace { .. } => {
                Self::new(INVALID_REQUEST, error.problem.to_string()).with_param("after")
            }
            StoreProblem::Missing { .. } => Self::new(NOT_FOUND, error.problem.to_string()),
            StoreProblem::Duplicate | StoreProblem::Ended { .. } => {
                Self::new(CONFLICT, error.problem.to_string())
            }
            // Whoever is still at work when the program ends has done nothing wrong.
            StoreProblem::Closed => Self::new(SHUTTING_DOWN, error.problem.to_string()),
            _ => {
                tracing::error!(error = %error, "the store failed");
                Self::new(STORAGE_FAILED, format!("{} failed", error.attempt))
            }
        }
    }
}

impl From<crate::ids::RandomnessError> for ApiError {
    fn from(error: crate::ids::RandomnessError) -> Self {
        tracing::error!(error = %error, "no randomness");
        Self::new(INTERNAL, "the server could not make an id")
    }
}

impl From<ModelError> for ApiError {
    fn from(error: ModelError) -> Self {
        let code = match error.kind {
            ModelErrorKind::Unreachable => PROVIDER_UNREACHABLE,
            ModelErrorKind::Timeout => PROVIDER_TIMEOUT,
            ModelErrorKind::Unauthorized => PROVIDER_UNAUTHORIZED,
            ModelErrorKind::RateLimited => RATE_LIMITED,
            ModelErrorKind::QuotaExhausted => PROVIDER_QUOTA,
            ModelErrorKind::ModelNotFound => MODEL_NOT_FOUND,
            ModelErrorKind::BadRequest => PROVIDER_REJECTED,
            ModelErrorKind::ContextTooLong => CONTEXT_TOO_LONG,
            ModelErrorKind::ToolsUnsupported => TOOLS_UNSUPPORTED,
            ModelErrorKind::ProviderFailed => PROVIDER_FAILED,
            ModelErrorKind::BadResponse => PROVIDER_BAD_RESPONSE,
            ModelErrorKind::Cut => PROVIDER_CUT,
            ModelErrorKind::EmptyAnswer => PROVIDER_EMPTY,
        };
        Self { code, message: error.message, param: None, retry_after: error.retry_after }
    }
}

impl From<RunError> for ApiError {
    fn from(error: RunError) -> Self {
        match error.kind {
            RunErrorKind::Model(model) => (*model).into(),
            RunErrorKind::Cancelled => Self::new(RUN_CANCELLED, error.message),
            RunErrorKind::Time => Self::new(RUN_TIMEOUT, error.message),
            RunErrorKind::ConfidenceTooLow { .. } => Self::new(CONFIDENCE_TOO_LOW, error.message),
            RunErrorKind::Storage => Self::new(STORAGE_FAILED, error.message),
        }
    }
}

/// The documentation page of the codes, as Markdown.
pub fn documentation() -> String {
    let mut page = "# Error codes\n\nEvery error has the form \
        `{\"error\": {\"message\", \"type\", \"code\", \"param\", \"hint\"}}`; the header `x-request-id` names the \
        request in the log. In a stream that has begun, the same object arrives as an event.\n\n\
        | code | status | meaning | what to do |\n|---|---|---|---|\n"
        .to_owned();
    for code in CODES {
        let remedy = code.remedy.replace('|', "\\|");
        let _ = writeln!(page, "| `{}` | {} | {} | {remedy} |", code.name, code.status, code.meaning);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_with_a_real_status() {
        for code in CODES {
            assert!(
                StatusCode::from_u16(code.status).is_ok_and(|status| status.as_u16() >= 400),
                "{}",
                code.name
            );
            assert_eq!(CODES.iter().filter(|other| other.name == code.name).count(), 1, "{}", code.name);
        }
    }

    #[test]
    fn the_documentation_page_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(page, documentation(), "run `cargo run -- schema errors > docs/errors.md`");
    }
}
