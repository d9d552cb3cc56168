//! `GET /api/v1/status`: version, database, providers, tools, and what is wrong with them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::Value;

use crate::app::App;
use crate::doctor;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn show(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    app.authenticate(&headers).await?;
    Ok(Json(doctor::examine(&app).await))
}
