//! The only seam to the network: one look-up, one connection, and the machine's own addresses.
//!
//! Invariant: a connector is never given a URL or a name to connect to, only a [`JudgedAddress`].

use std::io;
use std::net::{IpAddr, SocketAddr};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::ResolveError;
use crate::policy::JudgedAddress;

/// How a fetch resolves and connects. Implemented by the system connector, and by the test connector of
/// the feature `testing`.
#[async_trait]
pub trait Connector: Send + Sync + 'static {
    /// Looks up A and AAAA records of an absolute name (it ends with a dot). Called once per hop.
    ///
    /// # Errors
    /// [`ResolveError`] if there is no address at all.
    async fn resolve(&self, absolute_name: &str) -> Result<Vec<IpAddr>, ResolveError>;

    /// Connects to one judged address.
    ///
    /// # Errors
    /// The operating system's error.
    async fn connect(&self, address: JudgedAddress) -> io::Result<Connection>;

    /// The addresses of this machine's interfaces, read anew for every fetch.
    ///
    /// # Errors
    /// The operating system's error; the fetch is then refused.
    fn own_addresses(&self) -> io::Result<Vec<IpAddr>>;
}

/// An established connection.
pub struct Connection {
    /// The bytes.
    pub stream: Box<dyn Stream>,
    /// The peer as the operating system reports it.
    pub peer: SocketAddr,
}

/// What a connection's bytes flow through.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}
