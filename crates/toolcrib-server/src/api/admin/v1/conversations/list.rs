//! `GET /api/v1/conversations`: the caller's conversations, those with the latest news first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::{HeaderMap, Uri};
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_storage::store::ConversationStore;

use crate::api::admin::v1::page::page;
use crate::api::query;
use crate::app::App;
use crate::error::ApiError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    limit: Option<u32>,
    after: Option<String>,
}

pub(in crate::api::admin::v1) async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let query: Query = query(&uri)?;
    let found = app.store.conversations(&principal.owner, &page(query.limit, query.after)?).await?;
    let conversations = found.items.iter().map(|conversation| {
        json!({
            "id": conversation.id,
            "title": conversation.title,
            "temporary": conversation.temporary,
            "required_confidence": conversation.labels.required_confidence.name(),
            "created_at": conversation.created_at.to_string(),
            "updated_at": conversation.updated_at.to_string(),
        })
    });
    Ok(Json(json!({"conversations": conversations.collect::<Vec<_>>(), "next": found.next})))
}
