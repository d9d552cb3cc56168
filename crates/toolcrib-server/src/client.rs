//! The API as the command line uses it: over HTTP to a server, or within this process on the data folder.
//!
//! Either way it is the same requests through the same router; there is no second path.

use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use secrecy::SecretString;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolcrib_egress::{OperatorClient, OperatorRequest, OperatorSettings};
use toolcrib_providers::wire::sse::SseReader;
use tower::ServiceExt as _;
use url::Url;

use crate::assemble::Installation;
use crate::instance::Instance;

/// The largest JSON answer, in bytes.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;
/// The largest event of a stream, in bytes.
const LARGEST_EVENT: usize = 16 * 1024 * 1024;
/// How long a server that may have crashed gets to say that it lives.
const PROBE_TIME: Duration = Duration::from_millis(500);

/// A way to the API.
pub enum Connection {
    /// The installation runs within this process.
    InProcess(Box<Installation>),
    /// A server answers.
    Server(OperatorClient),
}

/// An answer to a request: its status was a success.
pub struct Reply {
    /// The header fields.
    pub headers: HeaderMap,
    body: BoxStream<'static, Result<Bytes, ClientError>>,
}

/// The request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server's address is wrong.
    #[error("the server address {address:?} is not usable: {cause}; it looks like http://127.0.0.1:8420")]
    Address {
        /// What was given.
        address: String,
        /// Why it cannot be used.
        cause: String,
    },
    /// The server cannot be reached, or the answer broke off.
    #[error("{0}")]
    Transport(String),
    /// The server refused.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error code.
        code: String,
        /// What went wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The answer is not what the API promises.
    #[error("the server answered something unexpected: {0}")]
    Unexpected(String),
}

impl Connection {
    /// A connection to the server at `address`, with a key.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn to_server(address: &str, key: Option<&str>) -> Result<Self, ClientError> {
        let wrong = |cause: String| ClientError::Address { address: address.to_owned(), cause };
        let base = Url::parse(address).map_err(|error| wrong(error.to_string()))?;
        let mut settings = OperatorSettings::new(base);
        if let Some(key) = key {
            let bearer = SecretString::from(format!("Bearer {key}"));
            settings.secret_headers.push((header::AUTHORIZATION, bearer));
        }
        let client = OperatorClient::new(settings).map_err(|error| wrong(error.to_string()))?;
        Ok(Self::Server(client))
    }

    /// A connection to the server that runs on this data folder; `None` when there is none, or it does not answer.
    pub async fn to_running(data: &Path) -> Option<Self> {
        let instance = Instance::read(data)?;
        let connection = Self::to_server(&instance.address, Some(&instance.token)).ok()?;
        let alive = connection.send(Method::GET, "/api/v1/tools", &[], None);
        match tokio::time::timeout(PROBE_TIME, alive).await {
            Ok(Ok(_)) => Some(connection),
            _ => None,
        }
    }

    /// Sends a request. `path` begins with a slash and may have a query.
    ///
    /// # Errors
    /// No connection, or a refusal with the API's message and hint.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: Option<&Value>,
    ) -> Result<Reply, ClientError> {
        let mut fields = HeaderMap::new();
        for (name, value) in headers {
            let value =
                HeaderValue::from_str(value).map_err(|error| ClientError::Unexpected(error.to_string()))?;
            fields.insert(HeaderName::from_static(name), value);
        }
        if body.is_some() {
            fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let (status, headers, body) = match self {
            Self::InProcess(installation) => within(installation, method, path, fields, bytes).await?,
            Self::Server(client) => over_http(client, method, path, fields, bytes).await?,
        };
        let reply = Reply { headers, body };
        if (200..300).contains(&status) { Ok(reply) } else { Err(reply.refusal(status).await) }
    }

    /// The same for a request whose answer is JSON.
    ///
    /// # Errors
    /// As [`Connection::send`]; or the answer is not JSON.
    pub async fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        self.send(method, path, &[], body).await?.json().await
    }

    /// Ends what was begun within this process.
    pub async fn close(self) {
        if let Self::InProcess(installation) = self {
            installation.shut_down().await;
        }
    }
}

type Parts = (u16, HeaderMap, BoxStream<'static, Result<Bytes, ClientError>>);

async fn within(
    installation: &Installation,
    method: Method,
    path: &str,
    mut headers: HeaderMap,
    body: Bytes,
) -> Result<Parts, ClientError> {
    let unexpected = |error: String| ClientError::Unexpected(error);
    let bearer = HeaderValue::from_str(&format!("Bearer {}", installation.local_token()));
    headers.insert(header::AUTHORIZATION, bearer.map_err(|error| unexpected(error.to_string()))?);
    headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = method;
    *request.uri_mut() =
        path.parse().map_err(|error: http::uri::InvalidUri| unexpected(error.to_string()))?;
    *request.headers_mut() = headers;
    let Ok(response) = installation.router().oneshot(request).await;
    let (head, body) = response.into_parts();
    let body = body.into_data_stream().map_err(|error| ClientError::Transport(error.to_string()));
    Ok((head.status.as_u16(), head.headers, body.boxed()))
}

async fn over_http(
    client: &OperatorClient,
    method: Method,
    path: &str,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Parts, ClientError> {
    let mut request = OperatorRequest::new(method, path);
    request.headers = headers;
    request.body = body;
    let sent = client.send(request, &CancellationToken::new()).await;
    let response = sent.map_err(|error| ClientError::Transport(error.to_string()))?;
    let body = response.body.map_err(|error| ClientError::Transport(error.to_string()));
    Ok((response.status.as_u16(), response.headers, body.boxed()))
}

impl Reply {
    /// The whole body as JSON.
    ///
    /// # Errors
    /// The body broke off, is too large or is not JSON.
    pub async fn json(self) -> Result<Value, ClientError> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(|error| ClientError::Unexpected(error.to_string()))
    }

    /// The events of a stream, each as JSON, until `[DONE]`.
    pub fn events(self) -> BoxStream<'static, Result<Value, ClientError>> {
        let reader = SseReader::new(LARGEST_EVENT);
        let state = (self.body, reader, false);
        futures_util::stream::unfold(state, |(mut body, mut reader, mut ended)| async move {
            loop {
                let event = if ended { reader.finish() } else { reader.next_event() };
                match event {
                    Ok(Some(event)) if &event.data[..] == b"[DONE]" => return None,
                    Ok(Some(event)) => {
                        let value = serde_json::from_slice(&event.data);
                        let value = value.map_err(|error| ClientError::Unexpected(error.to_string()));
                        return Some((value, (body, reader, ended)));
                    }
                    Ok(None) if ended => return None,
                    Ok(None) => match body.next().await {
                        Some(Ok(bytes)) => reader.push(bytes),
                        Some(Err(error)) => {
                            ended = true;
                            return Some((Err(error), (body, reader, ended)));
                        }
                        None => ended = true,
                    },
                    Err(error) => {
                        let error = ClientError::Unexpected(error.to_string());
                        return Some((
                            Err(error),
                            (futures_util::stream::empty().boxed(), SseReader::new(LARGEST_EVENT), true),
                        ));
                    }
                }
            }
        })
        .boxed()
    }

    /// The whole body.
    ///
    /// # Errors
    /// The body broke off or is too large.
    pub async fn bytes(mut self) -> Result<Vec<u8>, ClientError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.body.next().await {
            whole.extend_from_slice(&piece?);
            if whole.len() > LARGEST_ANSWER {
                return Err(ClientError::Unexpected("the answer is too large".to_owned()));
            }
        }
        Ok(whole)
    }

    async fn refusal(self, status: u16) -> ClientError {
        let body = match self.bytes().await {
            Ok(body) => body,
            Err(error) => return error,
        };
        let value: Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = |field: &str| value["error"][field].as_str().map(str::to_owned);
        match text("message") {
            Some(message) => ClientError::Refused {
                status,
                code: text("code").unwrap_or_default(),
                message,
                hint: text("hint"),
            },
            None => ClientError::Unexpected(format!(
                "status {status} without an explanation; is this a Toolcrib server?"
            )),
        }
    }
}
