//! What happens around every request: its id, the check of host and origin, a line in the log, safe headers.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::app::App;
use crate::error::{ApiError, WRONG_HOST};
use crate::ids::random_id;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    /// The id of the request that is being handled.
    static CURRENT: String;
}

/// The id of the request that is being handled, for error envelopes.
pub(crate) fn request_id() -> Option<String> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Wraps every request.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let id = match random_id("req_") {
        Ok(id) => id,
        Err(error) => return ApiError::from(error).into_response(),
    };
    let began = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answered = CURRENT.scope(id.clone(), async {
        let response = match check_host(&app, request.headers()) {
            Ok(()) => next.run(request).await,
            Err(error) => error.into_response(),
        };
        let milliseconds = began.elapsed().as_secs_f64() * 1_000.0;
        let status = response.status().as_u16();
        // Only names, ids, durations and statuses: never contents.
        tracing::info!(target: "toolcrib::request", %method, path, status, milliseconds, "answered");
        response
    });
    // Every line that is logged on the way carries the request's id.
    let mut response = answered.instrument(tracing::info_span!("request", id)).await;
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A page of another site must not reach the server through a visitor's browser, by whatever name it calls it.
fn check_host(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = host_name(host);
    let known = is_loopback(name)
        || name.parse::<IpAddr>().is_ok_and(|address| address == app.server.listen.ip())
        || app
            .server
            .hosts
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(name) || allowed.eq_ignore_ascii_case(host));
    if !known {
        return Err(ApiError::new(WRONG_HOST, format!("the server is not known as {host:?}")));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let same = origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host));
    if same {
        Ok(())
    } else {
        Err(ApiError::new(WRONG_HOST, format!("requests from pages of {origin:?} are not served")))
    }
}

/// Whether a request was addressed to this machine's loopback.
pub(crate) fn addressed_to_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    is_loopback(host_name(host))
}

fn host_name(host: &str) -> &str {
    if let Some(bracketed) = host.strip_prefix('[') {
        return bracketed.split(']').next().unwrap_or_default();
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known_by_every_of_its_names() {
        for host in ["localhost:8420", "LOCALHOST", "127.0.0.1:1", "127.1.2.3", "[::1]:8420", "[::1]"] {
            assert!(is_loopback(host_name(host)), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "10.0.0.1:1"]
        {
            assert!(!is_loopback(host_name(host)), "{host}");
        }
    }
}
