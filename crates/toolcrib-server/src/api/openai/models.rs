//! `GET /v1/models`: what can be asked, with what is known of each.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};

use crate::api::Path;
use crate::app::App;
use crate::error::{ApiError, MODEL_NOT_FOUND};
use crate::models::ModelEntry;

pub(super) async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Json<Value>, ApiError> {
    app.authenticate(&headers).await?;
    let data: Vec<Value> = app.models.list().await.iter().map(shape).collect();
    Ok(Json(json!({"object": "list", "data": data})))
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    app.authenticate(&headers).await?;
    let entries = app.models.list().await;
    let found = entries.iter().find(|entry| entry.model.identity().full_name() == id);
    let unknown = || ApiError::new(MODEL_NOT_FOUND, format!("there is no model {id:?}")).with_param("model");
    found.map(|entry| Json(shape(entry))).ok_or_else(unknown)
}

fn shape(entry: &ModelEntry) -> Value {
    let identity = entry.model.identity();
    let capabilities = entry.model.capabilities();
    json!({
        "id": identity.full_name(),
        "object": "model",
        "created": 0,
        "owned_by": identity.provider_id,
        "toolcrib": {
            "default": entry.default,
            "confidence": identity.confidence.name(),
            "trusted": identity.trusted,
            "capabilities": {"functions": capabilities.functions, "images": capabilities.images},
        },
    })
}
