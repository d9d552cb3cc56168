//! `GET /api/v1/approvals/{id}`: one approval.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::Value;
use toolcrib_storage::store::ApprovalStore;

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
    let approval = app.store.approval(&principal.owner, &id).await?;
    let approval = approval.ok_or_else(|| ApiError::not_found("approval", &id))?;
    Ok(Json(Value::Object(shape(&approval))))
}
