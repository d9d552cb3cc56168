//! Listens and answers: bounded connections, slow clients cut off, a graceful end.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::assemble::Installation;
use crate::instance::{Announcement, Instance};

/// How long a client may take to send the head of a request, or stay silent between two.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// The largest head of a request, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// How long accepting waits after the system refused it (out of file descriptors, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server that listens but does not answer yet.
pub struct Server {
    installation: Installation,
    listener: TcpListener,
    address: SocketAddr,
    _announcement: Announcement,
}

/// The server could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be used.
    #[error(
        "listening on {address}: {cause}; choose another with --listen, for example --listen 127.0.0.1:0"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        cause: std::io::Error,
    },
    /// The address is not on loopback.
    #[error(
        "refusing to listen on {0}: the web page has no sign-in yet, so everyone who reaches it could use it; \
         listen on 127.0.0.1 and connect from elsewhere through an SSH tunnel: \
         ssh -L 8420:127.0.0.1:{port} HOST", port = .0.port()
    )]
    NotLoopback(SocketAddr),
    /// The data folder cannot be written.
    #[error("announcing the server in the data folder: {0}")]
    Announce(std::io::Error),
}

impl Server {
    /// Binds the configured address and announces it in the data folder.
    ///
    /// # Errors
    /// The address is taken, not ours, or not on loopback.
    pub async fn bind(installation: Installation, data: &Path) -> Result<Self, ServeError> {
        let wanted = installation.app.server.listen;
        if !wanted.ip().is_loopback() {
            return Err(ServeError::NotLoopback(wanted));
        }
        let refused = |cause| ServeError::Listen { address: wanted, cause };
        let listener = TcpListener::bind(wanted).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let instance = Instance {
            pid: std::process::id(),
            address: format!("http://{address}"),
            token: installation.local_token().to_owned(),
        };
        let described = format!("the server at http://{address} (process {})", instance.pid);
        installation.app.store.describe_holder(&described).map_err(ServeError::Announce)?;
        let announcement = instance.announce(data).map_err(ServeError::Announce)?;
        Ok(Self { installation, listener, address, _announcement: announcement })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The installation that it serves.
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Answers until `stop` is cancelled, then lets running answers end within the configured grace.
    pub async fn run(self, stop: CancellationToken) {
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(self.installation.app.server.max_connections));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, _)) => {
                    let connection = graceful.watch(self.connection(stream));
                    tokio::spawn(async move {
                        if let Err(error) = connection.await {
                            tracing::debug!(error = %error, "a connection ended badly");
                        }
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(error = %error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(self.listener);
        let grace = self.installation.app.server.grace();
        self.installation.shut_down().await;
        // Whoever still reads an answer that has ended gets a moment to read it.
        let _ = tokio::time::timeout(grace, graceful.shutdown()).await;
    }

    fn connection(
        &self,
        stream: TcpStream,
    ) -> hyper::server::conn::http1::Connection<TokioIo<TcpStream>, TowerToHyperService<axum::Router>> {
        // Events are small and must not wait for one another.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(self.installation.router());
        hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    }
}
