//! Connections for the pool of an [`super::OperatorClient`].
//!
//! Invariant: names are resolved as the operating system does, hosts file included, because configured
//! endpoints often live there; no proxy stands in between.

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::OperatorError;
use crate::connector::Stream;

/// Connects to the origin of a URI.
#[derive(Clone)]
pub(super) struct OriginConnector {
    tls: Arc<ClientConfig>,
    timeout: Duration,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
enum ConnectFailure {
    #[error("{0}")]
    Unreachable(String),
    #[error("{0}")]
    Tls(String),
    #[error("connecting took too long")]
    Timeout,
}

impl OriginConnector {
    pub(super) fn new(tls: Arc<ClientConfig>, timeout: Duration) -> Self {
        Self { tls, timeout }
    }

    async fn connect(self, uri: Uri) -> Result<PooledStream, ConnectFailure> {
        let until = Instant::now() + self.timeout;
        timeout_at(until, self.connect_until(uri, until)).await.map_err(|_| ConnectFailure::Timeout)?
    }

    async fn connect_until(&self, uri: Uri, until: Instant) -> Result<PooledStream, ConnectFailure> {
        let secure = uri.scheme_str() == Some("https");
        let host = uri.host().ok_or_else(|| ConnectFailure::Unreachable("the URL has no host".to_owned()))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = tcp(host, port, until).await?;
        if !secure {
            return Ok(PooledStream(TokioIo::new(Box::new(stream))));
        }
        let name = ServerName::try_from(host.trim_end_matches('.').to_owned())
            .map_err(|error| ConnectFailure::Tls(error.to_string()))?;
        let stream = TlsConnector::from(Arc::clone(&self.tls))
            .connect(name, stream)
            .await
            .map_err(|error| ConnectFailure::Tls(error.to_string()))?;
        Ok(PooledStream(TokioIo::new(Box::new(stream))))
    }
}

/// Tries the addresses of a name in turn, each with its share of the time that is left.
async fn tcp(host: &str, port: u16, until: Instant) -> Result<TcpStream, ConnectFailure> {
    let addresses: Vec<_> = lookup_host((host, port)).await.map_err(unreachable)?.collect();
    let mut failure = ConnectFailure::Unreachable("the name has no address".to_owned());
    for (position, address) in addresses.iter().enumerate() {
        let shares = u32::try_from(addresses.len() - position).unwrap_or(u32::MAX);
        let share = until.saturating_duration_since(Instant::now()) / shares;
        failure = match timeout_at(Instant::now() + share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                stream.set_nodelay(true).map_err(unreachable)?;
                return Ok(stream);
            }
            Ok(Err(error)) => unreachable(error),
            Err(_) => ConnectFailure::Timeout,
        };
    }
    Err(failure)
}

#[expect(clippy::needless_pass_by_value, reason = "it is the argument of `map_err`")]
fn unreachable(error: io::Error) -> ConnectFailure {
    ConnectFailure::Unreachable(error.to_string())
}

impl tower::Service<Uri> for OriginConnector {
    type Response = PooledStream;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<PooledStream, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(uri).await.map_err(Into::into) })
    }
}

/// A connection as hyper wants it.
pub(super) struct PooledStream(TokioIo<Box<dyn Stream>>);

impl Connection for PooledStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for PooledStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl Write for PooledStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Sorts a failure of the client before a response.
pub(super) fn classify(endpoint: String, error: &hyper_util::client::legacy::Error) -> OperatorError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(failure) = error.downcast_ref::<ConnectFailure>() {
            return match failure {
                ConnectFailure::Unreachable(detail) => {
                    OperatorError::Unreachable { endpoint, detail: detail.clone() }
                }
                ConnectFailure::Tls(detail) => OperatorError::Tls { endpoint, detail: detail.clone() },
                ConnectFailure::Timeout => OperatorError::Timeout { endpoint, phase: "connecting" },
            };
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            return of_hyper(endpoint, error);
        }
        cause = error.source();
    }
    OperatorError::Unreachable { endpoint, detail: error.to_string() }
}

/// Sorts a failure of hyper, before or within a body.
pub(super) fn of_hyper(endpoint: String, error: &hyper::Error) -> OperatorError {
    if error.is_parse() {
        return OperatorError::BadResponse { endpoint, detail: error.to_string() };
    }
    OperatorError::Cut { endpoint }
}
