//! `DELETE /api/v1/keys/{id}`: revokes a key; it is refused from then on.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::Value;
use toolcrib_storage::store::KeyStore;

use super::shape;
use crate::api::Path;
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn revoke(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let workspace = &principal.owner.workspace_id;
    let revoked = app.store.revoke_key(workspace, &id, app.clock.now()).await?;
    revoked.map(|key| Json(shape(&key))).ok_or_else(|| ApiError::not_found("key", &id))
}
