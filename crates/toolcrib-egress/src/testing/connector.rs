//! A [`Connector`] with a table of names, that leads everywhere to a stub server.
//!
//! Invariant: every look-up and every attempt to connect is written down before anything else happens.

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::net::TcpStream;

use super::TestError;
use super::fixture::{DnsAnswer, DnsScript};
use super::server::{Links, StubServer};
use crate::connector::{Connection, Connector};
use crate::error::ResolveError;
use crate::policy::JudgedAddress;

/// The only stand-in for the network: see the module [`crate::testing`].
pub struct TestConnector {
    stub: SocketAddr,
    links: Links,
    names: Mutex<HashMap<String, (DnsScript, usize)>>,
    routes: Mutex<HashMap<IpAddr, Route>>,
    own_addresses: Mutex<Vec<IpAddr>>,
    lookups: Mutex<Vec<String>>,
    attempts: Mutex<Vec<SocketAddr>>,
}

/// What happens to connections to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The stub server answers. The default.
    Stub,
    /// Nobody listens.
    Closed,
    /// Nothing comes back, ever.
    Filtered,
    /// The connection stands, but its peer is this address.
    Elsewhere(SocketAddr),
}

/// Aliases that are followed for one look-up.
const ALIASES: usize = 8;

impl TestConnector {
    /// Leads to `server`. No name resolves yet.
    #[must_use]
    pub fn new(server: &StubServer) -> Self {
        Self {
            stub: server.address(),
            links: server.links(),
            names: Mutex::default(),
            routes: Mutex::default(),
            own_addresses: Mutex::default(),
            lookups: Mutex::default(),
            attempts: Mutex::default(),
        }
    }

    /// Sets what a name resolves to, in the fixture language: `93.184.215.14|127.0.0.1`, `NXDOMAIN`.
    ///
    /// # Errors
    /// If the text is not understood.
    pub fn set_dns(&self, name: &str, script: &str) -> Result<(), TestError> {
        self.set_name(name, DnsScript::parse(script)?);
        Ok(())
    }

    /// Sets what a name resolves to; `*` is any name that is not set otherwise.
    pub fn set_name(&self, name: &str, script: DnsScript) {
        lock(&self.names).insert(canonical(name), (script, 0));
    }

    /// Sets what happens to connections to an address.
    pub fn set_route(&self, address: IpAddr, route: Route) {
        lock(&self.routes).insert(address, route);
    }

    /// Sets the addresses of "this machine".
    pub fn set_own_addresses(&self, addresses: Vec<IpAddr>) {
        *lock(&self.own_addresses) = addresses;
    }

    /// Every address that somebody tried to connect to, in order.
    #[must_use]
    pub fn attempts(&self) -> Vec<SocketAddr> {
        lock(&self.attempts).clone()
    }

    /// Every name that was looked up, exactly as it was asked for, in order.
    #[must_use]
    pub fn lookups(&self) -> Vec<String> {
        lock(&self.lookups).clone()
    }

    /// Forgets all look-ups and attempts so far.
    pub fn clear(&self) {
        lock(&self.lookups).clear();
        lock(&self.attempts).clear();
    }

    /// The next answer for a name.
    fn answer(&self, name: &str) -> DnsAnswer {
        let mut names = lock(&self.names);
        let name = canonical(name);
        let key = if names.contains_key(&name) { name.as_str() } else { "*" };
        let Some((script, used)) = names.get_mut(key) else { return DnsAnswer::NoSuchName };
        let answer = script.0.get(*used).or(script.0.last()).cloned();
        *used += 1;
        answer.unwrap_or(DnsAnswer::NoData)
    }
}

#[async_trait]
impl Connector for TestConnector {
    async fn resolve(&self, absolute_name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        lock(&self.lookups).push(absolute_name.to_owned());
        let mut name = absolute_name.to_owned();
        for _ in 0..ALIASES {
            match self.answer(&name) {
                DnsAnswer::Addresses(addresses) => return Ok(addresses),
                DnsAnswer::Alias(other) => name = other,
                DnsAnswer::NoSuchName => return Err(ResolveError::NoSuchName),
                DnsAnswer::NoData => return Err(ResolveError::NoAddress),
                DnsAnswer::Failure => return Err(ResolveError::Failed("the server failed".to_owned())),
                DnsAnswer::Silence => pending::<()>().await,
            }
        }
        Err(ResolveError::Failed("too many aliases".to_owned()))
    }

    async fn connect(&self, address: JudgedAddress) -> io::Result<Connection> {
        let asked = address.socket_address();
        lock(&self.attempts).push(asked);
        let route = lock(&self.routes).get(&asked.ip()).copied().unwrap_or(Route::Stub);
        let peer = match route {
            Route::Stub => asked,
            Route::Elsewhere(peer) => peer,
            Route::Closed => return Err(io::ErrorKind::ConnectionRefused.into()),
            Route::Filtered => pending().await,
        };
        let stream = TcpStream::connect(self.stub).await?;
        stream.set_nodelay(true)?;
        lock(&self.links).insert(stream.local_addr()?, asked);
        Ok(Connection { stream: Box::new(stream), peer })
    }

    fn own_addresses(&self) -> io::Result<Vec<IpAddr>> {
        Ok(lock(&self.own_addresses).clone())
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn canonical(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}
