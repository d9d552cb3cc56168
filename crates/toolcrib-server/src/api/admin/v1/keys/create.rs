//! `POST /api/v1/keys`: makes a key; the answer shows it this once.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::HeaderMap;
use serde_json::Value;

use super::shape;
use crate::app::App;
use crate::error::{ApiError, INVALID_REQUEST};

const LONGEST_NAME: usize = 100;

pub(in crate::api::admin::v1) async fn create(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let body = app.json_body(body).await?;
    let name = body.get("name").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        let message = format!("`name`: a text of 1 to {LONGEST_NAME} characters is expected");
        return Err(ApiError::new(INVALID_REQUEST, message).with_param("name"));
    }
    let (key, secret) = app.create_key(&principal.owner, name).await?;
    let mut shape = shape(&key);
    shape["key"] = Value::from(secret);
    Ok(Json(shape))
}
