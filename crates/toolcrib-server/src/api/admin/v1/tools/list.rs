//! `GET /api/v1/tools`: the catalog, and the problems of definitions now.

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
    let catalog = app.registry.catalog();
    let tools: Vec<Value> = catalog.tools().iter().map(|tool| summary(tool, &locale)).collect();
    let problems: Vec<String> = app.definition_problems.load().iter().map(ToString::to_string).collect();
    Ok(Json(json!({"tools": tools, "problems": problems})))
}
