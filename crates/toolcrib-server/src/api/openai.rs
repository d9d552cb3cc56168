//! The OpenAI-compatible API.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

mod chat_completions;
mod chat_stream;
mod models;
pub(in crate::api) mod wishes;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/chat/completions", post(chat_completions::create))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::show))
}
