//! `GET /api/v1/conversations/{id}/traces`: the calls of all runs of a conversation, the earliest run first; as JSON
//! Lines where the client asks for them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, Uri};
use serde_json::{Map, Value, json};
use toolcrib_storage::store::RunStore;

use crate::api::admin::v1::lines;
use crate::api::{Path, shapes};
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn list(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let form = lines::form(&headers, &uri)?;
    let records = app.store.conversation_traces(&principal.owner, &id).await?;
    let records = records.ok_or_else(|| ApiError::not_found("conversation", &id))?;
    let traces = records.iter().map(|record| {
        let mut object = Map::from_iter([("run_id".to_owned(), json!(record.run_id))]);
        object.extend(shapes::trace(&record.trace));
        Value::Object(object)
    });
    Ok(form.respond("traces", traces.collect()))
}
