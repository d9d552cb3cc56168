//! The HTTP doors: routes, and what all handlers share.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri};
use serde::de::DeserializeOwned;
use toolcrib_storage::store::AccountStore;

use crate::app::App;
use crate::error::{ApiError, INVALID_REQUEST, METHOD_NOT_ALLOWED, NOT_FOUND};
use crate::{middleware, ui};

pub(crate) mod admin;
pub(crate) mod body;
pub(crate) mod openai;
pub(crate) mod shapes;

/// Every route of the server.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(openai::routes())
        .merge(admin::v1::routes())
        .merge(ui::routes())
        .route("/livez", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/health", get(ready))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        // Bodies are read and limited by `body`, which says more than a bare status.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), middleware::guard))
        .with_state(app)
}

/// Ready means: the database answers, and new runs are taken.
async fn ready(State(app): State<Arc<App>>) -> Response {
    if app.runs.is_closed() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping").into_response();
    }
    match app.store.installation().await {
        Ok(_) => "ok".into_response(),
        Err(error) => {
            tracing::error!(error = %error, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer").into_response()
        }
    }
}

async fn not_found(method: Method, uri: Uri) -> ApiError {
    ApiError::new(NOT_FOUND, format!("there is nothing at {method} {}", uri.path()))
}

async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    ApiError::new(METHOD_NOT_ALLOWED, format!("{} does not take {method}", uri.path()))
}

/// What an address names, as axum's own extractor reads it, with our envelope around an error.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        read.map(|path| Self(path.0)).map_err(|rejection| {
            ApiError::new(INVALID_REQUEST, format!("in the address: {}", rejection.body_text()))
        })
    }
}

/// The query of a request, with an error that names what is wrong.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    let query = axum::extract::Query::<T>::try_from_uri(uri);
    query.map(|query| query.0).map_err(|error| {
        let message =
            std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        ApiError::new(INVALID_REQUEST, format!("in the query: {message}"))
    })
}

/// The caller's language, from `Accept-Language`.
pub(crate) fn locale(headers: &HeaderMap) -> String {
    let header = headers.get(http::header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let first = header.and_then(|text| text.split([',', ';']).next()).map(str::trim);
    let plain = |tag: &&str| {
        !tag.is_empty() && tag.len() <= 35 && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    first.filter(plain).unwrap_or("en").to_owned()
}
