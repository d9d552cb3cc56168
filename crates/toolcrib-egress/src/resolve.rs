//! The production [`Connector`]: hickory for names, tokio for connections.
//!
//! Invariant: only the absolute name that was asked for is looked up, with A and AAAA queries and nothing
//! else: no search list, no hosts file, no filter that would hide a bad address among good ones.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use tokio::net::TcpStream;

use crate::connector::{Connection, Connector};
use crate::error::ResolveError;
use crate::policy::JudgedAddress;

/// Resolves with the system's name servers, or with those that were set, and connects with TCP.
pub(crate) struct SystemConnector {
    name_servers: Vec<SocketAddr>,
    budget: Duration,
    resolver: Mutex<Option<Arc<TokioResolver>>>,
}

/// How long an answer may be remembered, whatever its own time to live says.
const REMEMBER_AT_MOST: Duration = Duration::from_mins(1);

/// Answers that are remembered.
const REMEMBERED_ANSWERS: u64 = 1024;

impl SystemConnector {
    /// `name_servers` replace the system's if there are any; `budget` is the time for one look-up.
    pub(crate) fn new(name_servers: Vec<SocketAddr>, budget: Duration) -> Self {
        Self { name_servers, budget, resolver: Mutex::new(None) }
    }

    /// The resolver; made at its first use, so that a machine without name servers can start.
    fn resolver(&self) -> Result<Arc<TokioResolver>, ResolveError> {
        let mut slot = self.resolver.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolver) = slot.as_ref() {
            return Ok(Arc::clone(resolver));
        }
        let name_servers = if self.name_servers.is_empty() {
            let (system, _) = hickory_resolver::system_conf::read_system_conf().map_err(failed)?;
            system.name_servers().to_vec()
        } else {
            self.name_servers.iter().map(|&address| name_server(address)).collect()
        };
        let config = ResolverConfig::from_parts(None, Vec::new(), name_servers);
        let resolver = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
            .with_options(self.options())
            .build()
            .map_err(failed)?;
        let resolver = Arc::new(resolver);
        *slot = Some(Arc::clone(&resolver));
        Ok(resolver)
    }

    /// Reads the system's name servers anew at the next look-up: the machine may have changed networks.
    fn forget(&self, failed: &Arc<TokioResolver>) {
        let mut slot = self.resolver.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|current| Arc::ptr_eq(current, failed)) {
            *slot = None;
        }
    }

    fn options(&self) -> ResolverOpts {
        let mut options = ResolverOpts::default();
        options.ndots = 0;
        options.use_hosts_file = ResolveHosts::Never;
        options.timeout = (self.budget / 2).max(Duration::from_millis(100));
        options.attempts = 1;
        options.cache_size = REMEMBERED_ANSWERS;
        options.positive_max_ttl = Some(REMEMBER_AT_MOST);
        options.negative_max_ttl = Some(REMEMBER_AT_MOST);
        options.allow_answers = Vec::new();
        options.deny_answers = Vec::new();
        options
    }
}

#[async_trait]
impl Connector for SystemConnector {
    async fn resolve(&self, absolute_name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let resolver = self.resolver()?;
        let mut name = Name::from_ascii(absolute_name).map_err(|_| ResolveError::NoSuchName)?;
        name.set_fqdn(true);
        let (v4, v6) =
            tokio::join!(query(&resolver, &name, RecordType::A), query(&resolver, &name, RecordType::AAAA));
        let answer = match (v4, v6) {
            (Ok(mut addresses), Ok(more)) => {
                addresses.extend(more);
                if addresses.is_empty() { Err(ResolveError::NoAddress) } else { Ok(addresses) }
            }
            (Ok(addresses), Err(_)) | (Err(_), Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        if matches!(answer, Err(ResolveError::Failed(_) | ResolveError::Timeout)) {
            self.forget(&resolver);
        }
        answer
    }

    async fn connect(&self, address: JudgedAddress) -> io::Result<Connection> {
        let stream = TcpStream::connect(address.socket_address()).await?;
        stream.set_nodelay(true)?;
        let peer = stream.peer_addr()?;
        Ok(Connection { stream: Box::new(stream), peer })
    }

    fn own_addresses(&self) -> io::Result<Vec<IpAddr>> {
        Ok(if_addrs::get_if_addrs()?.into_iter().map(|interface| interface.ip()).collect())
    }
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let (mut udp, mut tcp) = (ConnectionConfig::udp(), ConnectionConfig::tcp());
    udp.port = address.port();
    tcp.port = address.port();
    NameServerConfig::new(address.ip(), true, vec![udp, tcp])
}

async fn query(resolver: &TokioResolver, name: &Name, kind: RecordType) -> Result<Vec<IpAddr>, ResolveError> {
    let lookup = match resolver.lookup(name.clone(), kind).await {
        Ok(lookup) => lookup,
        Err(error) if error.is_nx_domain() => return Err(ResolveError::NoSuchName),
        Err(error) if error.is_no_records_found() => return Ok(Vec::new()),
        Err(NetError::Timeout) => return Err(ResolveError::Timeout),
        Err(error) => return Err(failed(error)),
    };
    let addresses = lookup.answers().iter().filter_map(|record| match &record.data {
        RData::A(address) => Some(IpAddr::V4(address.0)),
        RData::AAAA(address) => Some(IpAddr::V6(address.0)),
        _ => None,
    });
    Ok(addresses.collect())
}

fn failed(error: impl std::fmt::Display) -> ResolveError {
    ResolveError::Failed(error.to_string())
}
