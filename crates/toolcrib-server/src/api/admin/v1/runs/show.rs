//! `GET /api/v1/runs/{id}`: one run.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::Value;
use toolcrib_storage::store::RunStore;

use super::shape;
use crate::api::Path;
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn show(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let run = app.store.run(&principal.owner, &id).await?;
    run.map(|run| Json(shape(&run))).ok_or_else(|| ApiError::not_found("run", &id))
}
