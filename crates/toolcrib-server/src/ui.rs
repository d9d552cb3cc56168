//! The web page: one chat, server-rendered, with one small script and nothing from another host.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderValue, header};

use crate::app::App;
use crate::auth::{is_forwarded, session_cookie};
use crate::error::{ApiError, INTERNAL};
use crate::middleware::addressed_to_loopback;

const SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    version: &'a str,
    demo: bool,
    provider_note: &'a str,
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(page))
        .route(
            "/assets/app.js",
            get(async || asset("text/javascript; charset=utf-8", include_str!("ui/assets/app.js"))),
        )
        .route(
            "/assets/app.css",
            get(async || asset("text/css; charset=utf-8", include_str!("ui/assets/app.css"))),
        )
        .route("/assets/icon.svg", get(async || asset("image/svg+xml", include_str!("ui/assets/icon.svg"))))
}

async fn page(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, ApiError> {
    let demo = app.models.only_demo();
    let provider_note = if demo { "No model provider was found." } else { "" };
    let page = Page { version: env!("CARGO_PKG_VERSION"), demo, provider_note };
    let html = page.render().map_err(|error| {
        tracing::error!(error = %error, "the page could not be rendered");
        ApiError::new(INTERNAL, "the page could not be rendered")
    })?;
    let mut response = html.into_response();
    let out = response.headers_mut();
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    out.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SECURITY_POLICY));
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // On this machine no sign-in is needed; under any other name, or through a proxy, the page gets no session.
    let at_this_machine = addressed_to_loopback(&headers) && !is_forwarded(&headers);
    if let Some(session) = app.local.session().filter(|_| at_this_machine) {
        let name = session_cookie(&headers);
        let cookie = format!("{name}={session}; HttpOnly; SameSite=Strict; Path=/");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            out.insert(header::SET_COOKIE, cookie);
        }
    }
    Ok(response)
}

fn asset(media_type: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, "no-cache")], text)
}
