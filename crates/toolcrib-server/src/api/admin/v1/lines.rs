//! Lists that can be had as one JSON object or as JSON Lines (one object a line, <https://jsonlines.org>).

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Uri, header};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::query;
use crate::error::{ApiError, INVALID_REQUEST};

const MEDIA_TYPE: &str = "application/jsonl";
/// Media types by which clients ask for lines.
const ASKED: [&str; 3] = [MEDIA_TYPE, "application/x-ndjson", "application/x-jsonlines"];

/// How a list is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Object,
    Lines,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    format: Option<String>,
}

/// What the client asks for: `?format=jsonl`, or the header `Accept`.
pub(super) fn form(headers: &HeaderMap, uri: &Uri) -> Result<Form, ApiError> {
    match query::<Query>(uri)?.format.as_deref() {
        Some("jsonl") => Ok(Form::Lines),
        Some("json") => Ok(Form::Object),
        Some(other) => {
            let message = format!("`format`: {other:?} is no format; there are json and jsonl");
            Err(ApiError::new(INVALID_REQUEST, message).with_param("format"))
        }
        None => {
            let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
            let lines = accepted.is_some_and(|text| ASKED.iter().any(|asked| text.contains(asked)));
            Ok(if lines { Form::Lines } else { Form::Object })
        }
    }
}

impl Form {
    /// The response with these items, under `name` where it is one object.
    pub(super) fn respond(self, name: &str, items: Vec<Value>) -> Response {
        match self {
            Self::Object => {
                Json(Value::Object(Map::from_iter([(name.to_owned(), Value::Array(items))]))).into_response()
            }
            Self::Lines => {
                let lines: Vec<_> = items.iter().map(Value::to_string).collect();
                let text = if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" };
                ([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response()
            }
        }
    }
}
