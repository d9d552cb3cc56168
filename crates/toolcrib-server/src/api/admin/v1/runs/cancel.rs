//! `POST /api/v1/runs/{id}/cancel`: stops a run, whether it goes on or waits for people.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};

use crate::api::Path;
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn cancel(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let stopped = app.cancel_run(&principal.owner, &id).await?;
    Ok(Json(json!({"run_id": id, "stopped": stopped})))
}
