//! `GET /api/v1/runs`: the caller's runs, the latest first, by conversation and state.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::{HeaderMap, Uri};
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_runtime::journal::RunState;
use toolcrib_storage::record::RunFilter;
use toolcrib_storage::store::RunStore;

use super::shape;
use crate::api::admin::v1::page::page;
use crate::api::query;
use crate::app::App;
use crate::error::{ApiError, INVALID_REQUEST};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    conversation: Option<String>,
    state: Option<String>,
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
    let filter = RunFilter {
        conversation_id: query.conversation,
        state: query.state.map(|name| state(&name)).transpose()?,
    };
    let runs = app.store.runs(&principal.owner, &filter, &page(query.limit, query.after)?).await?;
    Ok(Json(json!({"runs": runs.items.iter().map(shape).collect::<Vec<_>>(), "next": runs.next})))
}

fn state(name: &str) -> Result<RunState, ApiError> {
    let found = RunState::ALL.iter().find(|(_, known)| *known == name).map(|(state, _)| *state);
    found.ok_or_else(|| {
        let known: Vec<_> = RunState::ALL.iter().map(|(_, known)| *known).collect();
        let message = format!("`state`: {name:?} is no state; there are {}", known.join(", "));
        ApiError::new(INVALID_REQUEST, message).with_param("state")
    })
}
