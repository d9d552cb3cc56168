//! Reads request bodies: bounded in size and time, JSON with an error that says where it stops.

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use crate::app::App;
use crate::error::{ApiError, BODY_TIMEOUT, BODY_TOO_LARGE, INVALID_JSON, INVALID_REQUEST};

impl App {
    /// The whole body as a JSON value.
    pub(crate) async fn json_body(&self, body: Body) -> Result<Value, ApiError> {
        let bytes = self.body(body).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(ApiError::new(INVALID_JSON, "the body is empty; a JSON object is expected"));
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::new(INVALID_JSON, format!("the body is not valid JSON: {error}")))
    }

    async fn body(&self, body: Body) -> Result<Bytes, ApiError> {
        let limit = self.server.max_body_bytes;
        let read = Limited::new(body, limit).collect();
        let collected = tokio::time::timeout(self.server.body_time(), read).await.map_err(|_| {
            let seconds = self.server.body_seconds;
            ApiError::new(BODY_TIMEOUT, format!("the body did not arrive within {seconds} s"))
        })?;
        collected.map(http_body_util::Collected::to_bytes).map_err(|error| {
            if error.is::<LengthLimitError>() {
                ApiError::new(BODY_TOO_LARGE, format!("the body is larger than {limit} bytes"))
            } else {
                ApiError::new(INVALID_REQUEST, "the body broke off before its end")
            }
        })
    }
}
