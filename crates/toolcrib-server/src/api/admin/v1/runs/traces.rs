//! `GET /api/v1/runs/{id}/traces`: the calls of a run, in order.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};
use toolcrib_storage::store::RunStore;

use crate::api::{Path, shapes};
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn list(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let traces = app.store.run_traces(&principal.owner, &id).await?;
    let traces = traces.ok_or_else(|| ApiError::not_found("run", &id))?;
    Ok(Json(json!({"traces": traces.iter().map(shapes::trace).collect::<Vec<_>>()})))
}
