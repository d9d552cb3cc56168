//! `/api/v1`: one file per endpoint, its path that of the URL.

use std::sync::Arc;

use axum::Router;
use axum::routing::{delete, get, post};

use crate::app::App;

mod approvals;
mod assistants;
mod conversations;
mod keys;
mod lines;
mod page;
mod runs;
mod status;
mod tools;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/status", get(status::show::show))
        .route("/api/v1/tools", get(tools::list::list))
        .route("/api/v1/tools/explain", get(tools::explain::explain))
        .route("/api/v1/tools/{id}", get(tools::show::show))
        .route("/api/v1/tools/{id}/call", post(tools::call::call))
        .route("/api/v1/assistants", get(assistants::list::list))
        .route("/api/v1/assistants/{id}", get(assistants::show::show))
        .route("/api/v1/conversations", get(conversations::list::list))
        .route("/api/v1/conversations/{id}", get(conversations::show::show))
        .route("/api/v1/conversations/{id}/traces", get(conversations::traces::list))
        .route("/api/v1/runs", get(runs::list::list))
        .route("/api/v1/runs/{id}", get(runs::show::show))
        .route("/api/v1/runs/{id}/traces", get(runs::traces::list))
        .route("/api/v1/runs/{id}/events", get(runs::events::follow))
        .route("/api/v1/runs/{id}/cancel", post(runs::cancel::cancel))
        .route("/api/v1/approvals", get(approvals::list::list))
        .route("/api/v1/approvals/{id}", get(approvals::show::show).post(approvals::answer::answer))
        .route("/api/v1/keys", get(keys::list::list).post(keys::create::create))
        .route("/api/v1/keys/{id}", delete(keys::revoke::revoke))
}
