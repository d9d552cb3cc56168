//! `GET /api/v1/approvals`: the caller's approvals, the latest first; with `waiting=true` those that wait.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::{HeaderMap, Uri};
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_storage::record::ApprovalFilter;
use toolcrib_storage::store::ApprovalStore;

use super::shape;
use crate::api::admin::v1::page::page;
use crate::api::query;
use crate::app::App;
use crate::error::ApiError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    conversation: Option<String>,
    run: Option<String>,
    #[serde(default)]
    waiting: bool,
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
    let filter = ApprovalFilter {
        conversation_id: query.conversation,
        run_id: query.run,
        waiting_only: query.waiting,
    };
    let page = page(query.limit, query.after)?;
    let approvals = app.store.approvals(&principal.owner, &filter, &page).await?;
    let shapes: Vec<_> = approvals.items.iter().map(shape).collect();
    Ok(Json(json!({"approvals": shapes, "next": approvals.next})))
}
