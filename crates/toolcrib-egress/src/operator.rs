//! [`OperatorClient`]: HTTP to one endpoint that an administrator configured, such as a model provider.
//!
//! Invariant: a client speaks to one origin (scheme, host, port) and to nothing else. Its secret headers are
//! bound to that origin; a redirect that leaves it is an error. Environment proxies are not looked at.
//!
//! Private and loopback addresses are allowed: the address is the administrator's word, not a model's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::error::SafeUrl;
use crate::tls::{TlsSetupError, operator_config};

mod connect;
mod response;

use connect::OriginConnector;
pub use response::{OperatorBody, OperatorResponse};

/// A client for one configured endpoint. Cloning is cheap; clones share the pool of connections.
#[derive(Clone)]
pub struct OperatorClient {
    shared: Arc<Shared>,
}

struct Shared {
    base: Url,
    headers: HeaderMap,
    header_timeout: Duration,
    idle_timeout: Duration,
    client: Client<OriginConnector, Full<Bytes>>,
}

/// How an [`OperatorClient`] is set up.
#[derive(Clone)]
pub struct OperatorSettings {
    /// The endpoint: an http or https URL without user information and query. Paths of requests are
    /// appended to its path.
    pub base: Url,
    /// Headers of every request.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Headers of every request that must never be seen: keys and tokens. They win over all others.
    pub secret_headers: Vec<(HeaderName, SecretString)>,
    /// Resolving, connecting and the TLS handshake together. Default 10 s.
    pub connect_timeout: Duration,
    /// From sending a request to the last byte of the response's header. Models may think for long before
    /// they answer at all. Default 300 s.
    pub header_timeout: Duration,
    /// Between two pieces of a response's body. Default 120 s.
    pub idle_timeout: Duration,
    /// Certificates to trust besides the web's roots and those of the operating system.
    pub additional_roots: Vec<CertificateDer<'static>>,
}

impl OperatorSettings {
    /// The defaults for an endpoint.
    #[must_use]
    pub fn new(base: Url) -> Self {
        Self {
            base,
            headers: Vec::new(),
            secret_headers: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(2),
            additional_roots: Vec::new(),
        }
    }
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperatorSetupError {
    /// The base is no usable URL.
    #[error("the endpoint {url} cannot be used: {problem}")]
    Base {
        /// The URL as configured, without user information and query.
        url: SafeUrl,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A secret holds characters that no header field may hold. The secret itself is not shown.
    #[error("the secret for the header `{0}` cannot be sent: it holds line breaks or control characters")]
    Secret(HeaderName),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
}

/// One request, relative to the client's base.
#[derive(Debug, Clone)]
pub struct OperatorRequest {
    /// The method.
    pub method: Method,
    /// Appended to the base's path, with an optional query: `chat/completions`, `/search?q=x`.
    pub path_and_query: String,
    /// Headers of this request.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// When the whole exchange must be over, the body of the response included.
    pub deadline: Option<Instant>,
}

impl OperatorRequest {
    /// A request without headers, body and deadline.
    #[must_use]
    pub fn new(method: Method, path_and_query: impl Into<String>) -> Self {
        Self {
            method,
            path_and_query: path_and_query.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            deadline: None,
        }
    }
}

/// Why an exchange with a configured endpoint failed. For operators: messages name the endpoint, without
/// query and secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperatorError {
    /// The path is no path.
    #[error("`{0}` is not a path of this endpoint")]
    Path(String),
    /// No connection: the name does not resolve, or nobody listens.
    #[error("{endpoint} cannot be reached: {detail}")]
    Unreachable {
        /// The endpoint.
        endpoint: String,
        /// The operating system's words.
        detail: String,
    },
    /// A timeout or the request's deadline passed.
    #[error("{endpoint} took too long while {phase}")]
    Timeout {
        /// The endpoint.
        endpoint: String,
        /// What was going on.
        phase: &'static str,
    },
    /// The TLS handshake failed, or the certificate does not fit.
    #[error("the TLS handshake with {endpoint} failed: {detail}")]
    Tls {
        /// The endpoint.
        endpoint: String,
        /// The TLS library's words.
        detail: String,
    },
    /// The connection was lost before the response was whole.
    #[error("{endpoint} closed the connection in the middle of its answer")]
    Cut {
        /// The endpoint.
        endpoint: String,
    },
    /// The body is larger than the caller allowed.
    #[error("the answer of {endpoint} is larger than {limit} bytes")]
    TooLarge {
        /// The endpoint.
        endpoint: String,
        /// How many bytes were allowed.
        limit: usize,
    },
    /// Not HTTP, or not as it should be.
    #[error("{endpoint} answered wrongly: {detail}")]
    BadResponse {
        /// The endpoint.
        endpoint: String,
        /// What was wrong.
        detail: String,
    },
    /// A redirect to another scheme, host or port; it was not followed.
    #[error("{endpoint} redirects to another origin, {target}: configure that one if it is right")]
    CrossOriginRedirect {
        /// The endpoint.
        endpoint: String,
        /// Scheme, host and port of the redirect's target.
        target: String,
    },
    /// The caller gave up.
    #[error("the request to {endpoint} was cancelled")]
    Cancelled {
        /// The endpoint.
        endpoint: String,
    },
}

/// Redirects within the origin that are followed.
const REDIRECTS: usize = 5;

/// Connections that are kept for later requests.
const IDLE_CONNECTIONS: usize = 32;

/// How long they are kept.
const IDLE_CONNECTION_LIFE: Duration = Duration::from_mins(1);

impl OperatorClient {
    /// Makes a client. Nothing is connected yet.
    ///
    /// # Errors
    /// [`OperatorSetupError`] if the settings cannot be used.
    pub fn new(settings: OperatorSettings) -> Result<Self, OperatorSetupError> {
        let OperatorSettings { base, headers, secret_headers, additional_roots, .. } = settings;
        check_base(&base)?;
        let mut all = HeaderMap::new();
        all.insert(USER_AGENT, HeaderValue::from_static(concat!("Toolcrib/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in headers {
            all.insert(name, value);
        }
        for (name, secret) in secret_headers {
            let mut value = HeaderValue::from_str(secret.expose_secret())
                .map_err(|_| OperatorSetupError::Secret(name.clone()))?;
            value.set_sensitive(true);
            all.insert(name, value);
        }
        let connector = OriginConnector::new(operator_config(&additional_roots)?, settings.connect_timeout);
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION_LIFE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector);
        let shared = Shared {
            base,
            headers: all,
            header_timeout: settings.header_timeout,
            idle_timeout: settings.idle_timeout,
            client,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The endpoint as messages name it.
    #[must_use]
    pub fn endpoint(&self) -> String {
        SafeUrl::new(&self.shared.base).to_string()
    }

    /// Sends a request; answers as soon as the response's header is there. Any status is a response.
    ///
    /// Redirects within the origin are followed if that does not change the request. Dropping the response
    /// before its end closes the connection.
    ///
    /// # Errors
    /// [`OperatorError`].
    pub async fn send(
        &self,
        request: OperatorRequest,
        cancel: &CancellationToken,
    ) -> Result<OperatorResponse, OperatorError> {
        let mut url = self.url_of(&request.path_and_query)?;
        let headers_until = Instant::now() + self.shared.header_timeout;
        let until = request.deadline.map_or(headers_until, |deadline| deadline.min(headers_until));
        for _ in 0..=REDIRECTS {
            let response = self.exchange(&request, &url, until, cancel).await?;
            if let Some(next) = self.redirect(&request.method, &url, &response)? {
                url = next;
                continue;
            }
            let life = response::Life {
                endpoint: self.endpoint(),
                idle: self.shared.idle_timeout,
                deadline: request.deadline,
                cancel: cancel.clone(),
            };
            return Ok(OperatorResponse::new(response, life));
        }
        Err(self.bad(format!("it redirects more than {REDIRECTS} times")))
    }

    async fn exchange(
        &self,
        request: &OperatorRequest,
        url: &Url,
        until: Instant,
        cancel: &CancellationToken,
    ) -> Result<Response<Incoming>, OperatorError> {
        let uri: Uri =
            url.as_str().parse().map_err(|_| OperatorError::Path(request.path_and_query.clone()))?;
        let mut message = Request::new(Full::new(request.body.clone()));
        *message.method_mut() = request.method.clone();
        *message.uri_mut() = uri;
        *message.headers_mut() = self.headers_for(request);
        let endpoint = self.endpoint();
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(OperatorError::Cancelled { endpoint }),
            result = timeout_at(until, self.shared.client.request(message)) => match result {
                Err(_) => Err(OperatorError::Timeout { endpoint, phase: "waiting for its answer" }),
                Ok(Err(error)) => Err(connect::classify(endpoint, &error)),
                Ok(Ok(response)) => Ok(response),
            },
        }
    }

    /// The request's headers, overridden by the client's.
    fn headers_for(&self, request: &OperatorRequest) -> HeaderMap {
        let mut headers = request.headers.clone();
        headers.remove(HOST);
        for (name, value) in &self.shared.headers {
            if value.is_sensitive() || !headers.contains_key(name) {
                headers.insert(name, value.clone());
            }
        }
        headers
    }

    /// Appends to the base as text: nothing in a path can name another origin.
    fn url_of(&self, path_and_query: &str) -> Result<Url, OperatorError> {
        let (path, query) = match path_and_query.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path_and_query, None),
        };
        let mut url = self.shared.base.clone();
        if !path.is_empty() {
            let base = url.path().trim_end_matches('/').to_owned();
            url.set_path(&format!("{base}/{}", path.trim_start_matches('/')));
        }
        url.set_query(query);
        if url.origin() == self.shared.base.origin() {
            Ok(url)
        } else {
            Err(OperatorError::Path(path.to_owned()))
        }
    }

    fn redirect(
        &self,
        method: &Method,
        url: &Url,
        response: &Response<Incoming>,
    ) -> Result<Option<Url>, OperatorError> {
        let unchanged = match response.status() {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => method.is_safe(),
            _ => return Ok(None),
        };
        let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
        let target = location
            .to_str()
            .ok()
            .and_then(|text| url.join(text).ok())
            .ok_or_else(|| self.bad("its redirect has no valid target".to_owned()))?;
        if target.origin() != self.shared.base.origin() || !target.username().is_empty() {
            return Err(OperatorError::CrossOriginRedirect {
                endpoint: self.endpoint(),
                target: target.origin().ascii_serialization(),
            });
        }
        if unchanged {
            Ok(Some(target))
        } else {
            Err(self.bad(format!("its redirect would turn a {method} into a GET")))
        }
    }

    fn bad(&self, detail: String) -> OperatorError {
        OperatorError::BadResponse { endpoint: self.endpoint(), detail }
    }
}

impl fmt::Debug for OperatorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorClient").field("base", &self.endpoint()).finish_non_exhaustive()
    }
}

fn check_base(base: &Url) -> Result<(), OperatorSetupError> {
    let problem = if !matches!(base.scheme(), "http" | "https") {
        "only the schemes http and https are allowed"
    } else if !base.username().is_empty() || base.password().is_some() {
        "user names and passwords do not belong into the URL; set a header instead"
    } else if base.query().is_some() || base.fragment().is_some() {
        "it may have neither query nor fragment"
    } else {
        return Ok(());
    };
    Err(OperatorSetupError::Base { url: SafeUrl::new(base), problem })
}
