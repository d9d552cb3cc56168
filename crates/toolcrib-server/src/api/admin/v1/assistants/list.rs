//! `GET /api/v1/assistants`: the assistants in the caller's language, and the problems of their files.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};

use super::summary;
use crate::api::locale;
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    app.authenticate(&headers).await?;
    let locale = locale(&headers);
    let assistants: Vec<_> = app.assistants.all().map(|assistant| summary(assistant, &locale)).collect();
    let problems: Vec<_> = app.assistants.problems().iter().map(ToString::to_string).collect();
    Ok(Json(json!({"assistants": assistants, "problems": problems})))
}
