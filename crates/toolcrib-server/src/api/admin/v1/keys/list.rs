//! `GET /api/v1/keys`: the keys of the workspace, without the keys themselves.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};
use toolcrib_storage::store::KeyStore;

use super::shape;
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let keys = app.store.keys(&principal.owner.workspace_id).await?;
    Ok(Json(json!({"keys": keys.iter().map(shape).collect::<Vec<_>>()})))
}
