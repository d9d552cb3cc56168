//! `GET /api/v1/runs/{id}/traces`: the calls of a run, in order; as JSON Lines where the client asks for them.

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
    let traces = app.store.run_traces(&principal.owner, &id).await?;
    let traces = traces.ok_or_else(|| ApiError::not_found("run", &id))?;
    let of_run = traces.iter().map(|trace| {
        let mut object = Map::from_iter([("run_id".to_owned(), json!(id))]);
        object.extend(shapes::trace(trace));
        Value::Object(object)
    });
    Ok(form.respond("traces", of_run.collect()))
}
